package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report"
)

// runSets runs an experiment on several sets, one after the other, each in a folder of its own
// below out. All of them are looked at before the first image is read. Trials that fail keep
// neither the other trials nor the other sets from being run.
func runSets(cmd *cobra.Command, e *pipeline.Experiment, out string, workers int) error {
	ctx := cmd.Context()
	names, experiments := e.SetNames(), e.Each()
	for i, one := range experiments {
		set, err := one.Open(ctx)
		if err == nil {
			err = one.CheckSet(set)
			set.Close()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
	}
	if err := filesIn(ctx).writes(written{"out", out, report.SetsFiles}); err != nil {
		return err
	}
	top, err := results.OpenSets(out, report.SetsFiles...)
	if err != nil {
		return err
	}
	defer top.Close()
	folders := make([]*results.Folder, len(names))
	for i, one := range experiments {
		if folders[i], err = openResults(cmd, one, filepath.Join(out, names[i])); err != nil {
			return err
		}
		defer folders[i].Close()
	}
	if err := top.WriteSets(&results.Sets{Name: e.Name, Command: e.Command, Sets: names, Significance: e.Significance}); err != nil {
		return err
	}
	var failed error
	for i, one := range experiments {
		if _, err := plaintext.Fprintf(cmd.OutOrStdout(), "Set %d of %d: %s\n\n", i+1, len(names), names[i]); err != nil {
			return err
		}
		err := runExperiment(cmd, one, folders[i], workers)
		var some *pipeline.TrialsError
		switch {
		case errors.As(err, &some):
			failed = cmp.Or(failed, fmt.Errorf("%s: %w", names[i], err))
		case err != nil:
			return err
		}
		if err := folders[i].Close(); err != nil {
			return err
		}
	}
	if err := writeSetsReport(cmd, top); err != nil {
		return err
	}
	return errors.Join(failed, top.Close())
}

// writeSetsReport writes the page over several sets, and prints its tables.
func writeSetsReport(cmd *cobra.Command, folder *results.Folder) error {
	out, dir := cmd.OutOrStdout(), folder.Dir()
	s, err := report.PublishSets(cmd.Context(), folder, report.Sources{Warn: tell(cmd.ErrOrStderr())})
	if err != nil {
		return stopped(cmd.Context(), err, "drawing", "the trials are kept, and partwise report "+quote(dir)+" draws again")
	}
	if err := printTables(out, s.Headlines()); err != nil {
		return err
	}
	_, err = plaintext.Fprintf(out, "%d sets. What they say together is in %s; open %s.\n", len(s.Sets), cmp.Or(dir, "."), filepath.Join(dir, "index.html"))
	return err
}

// reportSets makes the reports of an experiment on several sets again.
func reportSets(cmd *cobra.Command, dir string, of *results.Sets) error {
	top, err := results.OpenSets(dir, report.SetsFiles...)
	if err != nil {
		return err
	}
	defer top.Close()
	for _, name := range of.Sets {
		if err := reportOne(cmd, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := writeSetsReport(cmd, top); err != nil {
		return err
	}
	return top.Close()
}
