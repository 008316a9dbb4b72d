package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/usedfiles"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
)

func runCommand() *cobra.Command {
	var out, root string
	var workers uint
	e := &spec.Experiment{}
	cmd := &cobra.Command{
		Use:   "run [FILE]",
		Short: "Run an experiment that compares methods",
		Long: `Run an experiment from a YAML file, from flags, or from both: flags override keys of the file.
Finished trials are logged, and the same command resumes a stopped experiment.`,
		Example: `  partwise run docs/experiments/demo.yaml
  partwise run docs/experiments/demo.yaml --repeats 2 --name quick
  partwise run --set generated --classes 2,5 --labels 20% \
      --method kmeans --method nmf --method ccf,init=nmf,iterations=300 --name mine`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := completeExperiment(cmd, e, args); err != nil {
				return err
			}
			e.Data.Root, e.Data.Labelled = root, true
			e.Command, e.Program = commandLine(cmd, args), releaseVersion(buildInfo())
			if out == "" {
				out = outFor(e.Data.Set, e.Name)
			}
			for _, one := range e.Each() {
				if err := checkOut(one.Data.Set, out); err != nil {
					return err
				}
			}
			if len(e.Sets) > 1 {
				return runSets(cmd, e, e.SetNames(), e.Each(), out, workers)
			}
			folder, err := openResults(cmd, e, out)
			if err != nil {
				return err
			}
			return cmp.Or(runExperiment(cmd, e, folder, workers), folder.Close())
		},
	}
	f := cmd.Flags()
	addSettings(cmd, e)
	f.Lookup("method").Usage = "method and settings, such as ccf,init=nmf; repeat for each method"
	f.StringVar(&out, "out", "", "results folder (default results/NAME)")
	rootFlag(f, &root)
	workersFlag(f, &workers)
	prepareFlags(cmd)
	timesFlag(cmd)
	return cmd
}

// completeExperiment reads an experiment file, overrides its settings by flags, and checks the result.
func completeExperiment(cmd *cobra.Command, e *spec.Experiment, args []string) (err error) {
	if len(args) == 1 {
		of, err := spec.Load(args[0])
		if err != nil {
			return err
		}
		*e = *of
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if v, ok := f.Value.(*settingFlag); ok {
				err = cmp.Or(err, v.apply())
			}
		})
		if err != nil {
			return usageError{err}
		}
	}
	if e.Name == "" && e.Data.Set != "" {
		name, err := nameOf(e.Data.Set)
		if err != nil {
			return err
		}
		e.Name = strings.ToValidUTF8(strings.TrimLeft(name, "."), "_")
	}
	for i, one := range e.Each() {
		if err := one.Check(); err != nil {
			if len(e.Sets) > 1 {
				err = fmt.Errorf("data: set %d: %w", i+1, err)
			}
			if len(args) == 1 {
				err = fmt.Errorf("%s: %w", args[0], err)
			}
			return usageError{err}
		}
	}
	return nil
}

func openResults(cmd *cobra.Command, e *spec.Experiment, out string) (*results.Folder, error) {
	if err := checkResults(cmd, e, out, append(results.Files(), report.ExperimentFiles...)); err != nil {
		return nil, err
	}
	return results.Open(out, e, report.ExperimentFiles...)
}

// runExperiment runs an experiment on one set in its folder, and writes the report.
func runExperiment(cmd *cobra.Command, e *spec.Experiment, folder *results.Folder, workers uint) error {
	ctx, out := cmd.Context(), folder.Dir()
	in, err := prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) error { return pipeline.CheckSet(cmd.Context(), e, set) })
	if err != nil {
		return err
	}
	defer in.Close()
	plan, err := pipeline.NewPlan(ctx, e, in.Inputs)
	var notes []string
	if err == nil {
		notes, err = folder.Notes()
	}
	if err != nil {
		return err
	}
	printNotes(cmd, notes)
	trials := &stages{w: cmd.ErrOrStderr()}
	records, err := folder.Run(ctx, plan, pipeline.RunOptions{Workers: int(workers), Progress: trials.show})
	trials.end()
	var some *pipeline.TrialsError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("stopped: %d of %d trials are in %s; run the same command again to resume", len(records), plan.Len(), out)
	case errors.As(err, &some) && len(records) > 0:
		return cmp.Or(writeReport(cmd, folder, nil), err)
	case err != nil && len(records) > 0:
		return fmt.Errorf("%w (%d of %d trials are saved in %s)", err, len(records), plan.Len(), out)
	case err != nil:
		return err
	}
	models, _ := results.Models(out, plan.Summary()) // the report lists unreadable models
	shown, err := plan.Illustrate(ctx, models)
	if err != nil {
		return err
	}
	return writeReport(cmd, folder, shown)
}

// runSets runs the experiments of e on several sets, one after the other, each in its own folder below out. It checks all
// sets before it reads the first image. Failed trials do not stop other trials or sets.
func runSets(cmd *cobra.Command, e *spec.Experiment, names []string, experiments []*spec.Experiment, out string, workers uint) error {
	for i, one := range experiments {
		set, err := input.Open(cmd.Context(), one)
		if err == nil {
			err = pipeline.CheckSet(cmd.Context(), one, set)
			set.Close()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
	}
	if err := filesIn(cmd.Context()).Writes(usedfiles.Written{Label: "--out", Path: out, Names: report.SetsFiles}); err != nil {
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
		if err := say(cmd, "Set %d of %d: %s\n\n", i+1, len(names), names[i]); err != nil {
			return err
		}
		err := runExperiment(cmd, one, folders[i], workers)
		var some *pipeline.TrialsError
		if errors.As(err, &some) {
			failed, err = cmp.Or(failed, fmt.Errorf("%s: %w", names[i], err)), nil
		}
		if err = cmp.Or(err, folders[i].Close()); err != nil {
			return err
		}
	}
	return cmp.Or(writeSetsReport(cmd, top), errors.Join(failed, top.Close()))
}
