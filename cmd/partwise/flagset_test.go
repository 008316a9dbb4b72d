package main

import (
	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// setKey sets a key of an experiment as the flag does.
func setKey(e *pipeline.Experiment, flag string, values ...string) error {
	cmd := &cobra.Command{}
	addSettings(cmd, e)
	for _, v := range values {
		if err := cmd.Flags().Lookup(flag).Value.Set(v); err != nil {
			return err
		}
	}
	return nil
}

func setMethods(e *pipeline.Experiment, methods []string) error {
	return setKey(e, "method", methods...)
}
