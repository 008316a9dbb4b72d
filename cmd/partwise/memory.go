package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/memory"
)

// memoryFlag adds the flag of how much memory a command takes.
func memoryFlag(cmd *cobra.Command) {
	cmd.Flags().String("memory", "", "most memory to take, as in 4GB or 50% (default half of what there is)")
}

// programText is about how much of the program itself lies in memory beside what
// the garbage collector knows of.
const programText = 24 << 20

// From largeFeatures bytes of features on garbage is collected when it is garbagePercent of what is in
// use, and not as much again: the collector passes over numbers, so that this costs next to nothing
// where most memory is theirs. Of small ones, with the pictures that they are made of, it would cost a tenth
// of the time.
const (
	largeFeatures  = 128 << 20
	garbagePercent = 30
)

// collectEarlier keeps the garbage beside large features small, unless GOGC says how much there may be.
func collectEarlier(x mat.Matrix) {
	features, ok := x.(*mat.Dense)
	if !ok || os.Getenv("GOGC") != "" {
		return
	}
	if n, m := features.Dims(); 8*int64(n)*int64(m) >= largeFeatures {
		debug.SetGCPercent(garbagePercent)
	}
}

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
