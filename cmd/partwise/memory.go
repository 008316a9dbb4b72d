package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/memory"
)

// memoryFlag adds the flag of how much memory a command takes.
func memoryFlag(cmd *cobra.Command) {
	cmd.Flags().String("memory", "", "most memory to take, as in 4GB or 50% (default half of what there is)")
}

// programText is about how much of the program itself lies in memory beside what
// the garbage collector knows of.
const programText = 24 << 20

// limitMemory gives a command the memory budget that its flag says, or half of
// what there is. The garbage collector is told of it too, so that garbage does
// not fill what the budget leaves.
func limitMemory(cmd *cobra.Command) error {
	limit := memory.Available() / 2
	if f := cmd.Flags().Lookup("memory"); f != nil && f.Changed {
		var err error
		if limit, err = memory.Parse(f.Value.String()); err != nil {
			return usageError{fmt.Errorf("--memory: %w", err)}
		}
	}
	budget := memory.New(limit)
	debug.SetMemoryLimit(budget.Limit() - programText)
	cmd.SetContext(memory.NewContext(cmd.Context(), budget))
	return nil
}
