package main

import (
	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/timing"
)

// timesFlag adds the flag of whether the page shows where the time of the command went.
// The command has its RunE by then.
func timesFlag(cmd *cobra.Command) {
	shown := cmd.Flags().Bool("times", false, "show on the page where the time of the run went")
	work := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *shown {
			cmd.SetContext(timing.NewContext(cmd.Context()))
		}
		return work(cmd, args)
	}
}
