package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
	"github.com/seed4492f2cd/partwise/report/table"
)

func runCommand() *cobra.Command {
	var out, root string
	var workers uint
	e := &spec.Experiment{}
	cmd := newCommand("run", func(cmd *cobra.Command, args []string) error {
		completeExperiment(cmd, e, args)
		e.Data.Root, e.Data.Labelled = root, true
		e.Command, e.Program = commandLine(cmd, args), releaseVersion(buildInfo())
		if out == "" {
			out = outFor(e.Data.Set, e.Name)
		}
		for _, one := range e.Each() {
			checkOut(one.Data.Set, out)
		}
		if len(e.Sets) > 1 {
			return runSets(cmd, e, e.SetNames(), e.Each(), out, workers)
		}
		folder := openResults(cmd, e, out)
		return cmp.Or(runExperiment(cmd, e, folder, "", workers), folder.Close())
	})
	f := cmd.Flags()
	addSettings(cmd, e)
	f.Lookup("method").Usage = "method and settings, such as ccf,init=nmf; repeat for each method"
	f.StringVar(&out, "out", "", "results folder (default results/NAME)")
	f.String("shard", "", "run part 3/64 of the draws (from 0/64), for partwise join")
	rootFlag(f, &root)
	workersFlag(f, &workers)
	prepareFlags(cmd)
	timesFlag(cmd)
	return cmd
}

func joinCommand() *cobra.Command {
	var out string
	cmd := newCommand("join", func(cmd *cobra.Command, args []string) error {
		for _, from := range args {
			checkOut(from, out)
		}
		folder := guard.Must(results.Join(out, args, report.ExperimentFiles...))
		return cmp.Or(writeReport(cmd, folder, "", nil), folder.Close())
	})
	cmd.Flags().StringVarP(&out, "out", "o", "", "results folder of all trials")
	_ = cmd.MarkFlagRequired("out")
	return cmd
}

// completeExperiment reads an experiment file, overrides its settings by flags, and checks the result.
func completeExperiment(cmd *cobra.Command, e *spec.Experiment, args []string) {
	if len(args) == 1 {
		*e = *guard.Must(spec.Load(args[0]))
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if v, ok := f.Value.(*settingFlag); ok {
				checkUse(v.apply())
			}
		})
	}
	if e.Name == "" && e.Data.Set != "" {
		e.Name = strings.ToValidUTF8(strings.TrimLeft(nameOf(e.Data.Set), "."), "_")
	}
	for i, one := range e.Each() {
		err := one.Check()
		if len(e.Sets) > 1 {
			err = guard.Wrap(err, "data: set %d", i+1)
		}
		if len(args) == 1 {
			err = guard.Wrap(err, "%s", args[0])
		}
		checkUse(err)
	}
}

func openResults(cmd *cobra.Command, e *spec.Experiment, out string) *results.Folder {
	checkResults(cmd, e, out, append(results.Files(), report.ExperimentFiles...))
	return guard.Must(results.Open(out, e, report.ExperimentFiles...))
}

// runExperiment runs an experiment on the set called name, or on its only set.
func runExperiment(cmd *cobra.Command, e *spec.Experiment, folder *results.Folder, name string, workers uint) (err error) {
	defer guard.Catch(&err)
	ctx, out := cmd.Context(), folder.Dir()
	in := prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) error { return pipeline.CheckSet(ctx, e, set) })
	defer in.Close()
	plan := guard.Must(pipeline.NewPlan(ctx, e, in.Inputs))
	printNotes(cmd, guard.Must(folder.Notes()))
	shard := shardOf(cmd)
	trials := &stages{w: cmd.ErrOrStderr()}
	records, err := folder.Run(ctx, plan, pipeline.RunOptions{Workers: int(workers), Shard: shard, Progress: trials.show})
	trials.end()
	_, some := errors.AsType[*pipeline.TrialsError](err)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("stopped: %d of %d trials are in %s; run the same command again to resume", len(records), plan.Len(), out)
	case some && len(records) > 0:
		return cmp.Or(writeReport(cmd, folder, name, nil), err)
	case err != nil && len(records) > 0:
		return fmt.Errorf("%w (%d of %d trials are saved in %s)", err, len(records), plan.Len(), out)
	case err != nil:
		return err
	case shard.Of > 0:
		return say(cmd, "%d of %d trials are in %s.\n", len(records), plan.Len(), out)
	}
	models, _ := results.Models(out, plan.Summary()) // the report lists unreadable models
	return writeReport(cmd, folder, name, guard.Must(plan.Illustrate(ctx, models)))
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
		guard.Check(guard.Wrap(err, "%s", names[i]))
	}
	filesIn(cmd.Context()).addWritten(written{label: "--out", path: out, names: report.SetsFiles})
	top := guard.Must(results.OpenSets(out, report.SetsFiles...))
	defer top.Close()
	folders := make([]*results.Folder, len(names))
	for i, one := range experiments {
		folders[i] = openResults(cmd, one, filepath.Join(out, names[i]))
		defer folders[i].Close()
	}
	guard.Check(top.WriteSets(&results.Sets{Name: e.Name, Command: e.Command, Sets: names, Significance: e.Significance}))
	var failed error
	for i, one := range experiments {
		guard.Check(say(cmd, "Set %d of %d: %s\n\n", i+1, len(names), names[i]))
		err := runExperiment(cmd, one, folders[i], names[i], workers)
		if _, some := errors.AsType[*pipeline.TrialsError](err); some {
			failed, err = cmp.Or(failed, fmt.Errorf("%s: %w", names[i], err)), nil
		}
		guard.Check(cmp.Or(err, folders[i].Close()))
	}
	return cmp.Or(writeSetsReport(cmd, top), errors.Join(failed, top.Close()))
}

func drawsCommand() *cobra.Command {
	var out, root, format string
	e := &spec.Experiment{}
	cmd := newCommand("draws", func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(pipeline.DrawFormats, format) {
			return unknown("format", format, pipeline.DrawFormats)
		}
		completeExperiment(cmd, e, args)
		e.Data.Root, e.Data.Labelled = root, true
		for i, one := range e.Each() {
			to := out
			if len(e.Sets) > 1 {
				to = filepath.Join(out, e.SetNames()[i])
			}
			checkOut(one.Data.Set, to)
			guard.Check(writeDraws(cmd, one, to, format))
		}
		return nil
	})
	f := cmd.Flags()
	addSettings(cmd, e, "task", "data", "features", "classes", "repeats", "labels", "links", "split", "train", "test", "cluster", "seed")
	f.StringVarP(&out, "out", "o", "", "folder for the draws")
	_ = cmd.MarkFlagRequired("out")
	f.StringVar(&format, "format", pipeline.DrawFormats[0], "format of the files: "+strings.Join(pipeline.DrawFormats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", completeWords(pipeline.DrawFormats...))
	rootFlag(f, &root)
	prepareFlags(cmd)
	return cmd
}

func writeDraws(cmd *cobra.Command, e *spec.Experiment, out, format string) (err error) {
	e.Methods = spec.Methods{{Name: spec.KMeans}} // draws do not depend on methods, whose results may not exist yet
	if e.Task == spec.Classification {
		e.Methods[0].Name = spec.Original
	}
	var folder *output.Folder
	var names []string
	defer func() {
		if folder != nil {
			err = cmp.Or(err, folder.Close())
		}
	}()
	in := prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) (err error) {
		if err = pipeline.CheckSet(cmd.Context(), e, set); err == nil {
			names = append(pipeline.DrawFiles(e, set, format), output.Files(out)...)
			folder, err = output.Open(out, output.Spec{Command: "draws", Data: e.Data.Set, Names: names})
		}
		return err
	})
	defer in.Close()
	if in.IsWeighted() {
		e.Methods[0].Name = "semi-nmf" // for missing values
	}
	plan := guard.Must(pipeline.NewPlan(cmd.Context(), e, in.Inputs))
	stage := guard.Must(folder.Stage(names...))
	defer stage.Discard()
	count := withProgress(cmd, "writing draws", func(show input.Progress) (int, error) {
		return plan.WriteDraws(cmd.Context(), stage.Dir(), format, show)
	})
	guard.Check(stage.Publish())
	d := documentOf(cmd)
	d.Out, d.Draws = out, d.Draws+count
	return say(cmd, "%d draws are in %s.\n", count, out)
}

func reportCommand() *cobra.Command {
	cmd := newCommand("report", func(cmd *cobra.Command, args []string) error {
		of := guard.Must(results.ReadSets(args[0]))
		if of == nil {
			return reportOne(cmd, args[0], "")
		}
		top := guard.Must(results.OpenSets(args[0], report.SetsFiles...))
		defer top.Close()
		for _, name := range of.Sets {
			guard.Check(reportOne(cmd, filepath.Join(args[0], name), name))
		}
		return cmp.Or(writeSetsReport(cmd, top), top.Close())
	})
	profileFlag(cmd.Flags())
	return cmd
}

func reportOne(cmd *cobra.Command, dir, name string) error {
	folder := guard.Must(results.Reopen(dir, report.ExperimentFiles...))
	return cmp.Or(writeReport(cmd, folder, name, nil), folder.Close())
}

func writeReport(cmd *cobra.Command, folder *results.Folder, name string, shown *models.Illustrations) (err error) {
	defer guard.Catch(&err)
	e, dir := publish(cmd, folder, shown), folder.Dir()
	documentOf(cmd).setTrials(name, dir, e)
	printTables(cmd.OutOrStdout(), e.Headlines())
	printNotes(cmd, e.TrialWarnings())
	return say(cmd, "%d of %d trials finished.\nTables and curves: %s\n", len(e.Records), len(e.Trials), filepath.Join(dir, "index.html"))
}

func publish(cmd *cobra.Command, folder *results.Folder, shown *models.Illustrations) *report.Experiment {
	return withDrawing(cmd, func(to report.Sources) (*report.Experiment, error) {
		to.Shown = shown
		return report.Publish(cmd.Context(), folder, to)
	})
}

func printTables(out io.Writer, tables []*table.Document) {
	for _, t := range tables {
		guard.Check(table.Text(out, t, textOptions(out)))
		if s, ok := eval.FindScore(t.Grids[0].Score); ok {
			fmt.Fprint(out, columns.Hanging("", s.Name+": "+s.Help, columns.Width(out)))
		}
		fmt.Fprintln(out)
	}
}

func textOptions(out io.Writer) table.Options {
	return table.Options{Colour: columns.IsTerminal(out) && os.Getenv("NO_COLOR") == "", Wide: columns.IsWide(out), Width: columns.Width(out)}
}

func writeSetsReport(cmd *cobra.Command, folder *results.Folder) (err error) {
	defer guard.Catch(&err)
	s, err := report.PublishSets(cmd.Context(), folder, report.Sources{Warn: warner(cmd)})
	guard.Check(interruptedError(cmd.Context(), err, "drawing"))
	printTables(cmd.OutOrStdout(), s.Headlines())
	documentOf(cmd).Out = folder.Dir()
	return say(cmd, "%d sets compared.\nTables and curves: %s\n", len(s.Sets), filepath.Join(folder.Dir(), "index.html"))
}

func compareCommand() *cobra.Command {
	var format string
	e := &spec.Experiment{}
	names := lists.Map(table.Formats, func(f table.Format) string { return strings.ToLower(f.Name) })
	cmd := newCommand("compare", func(cmd *cobra.Command, args []string) error {
		at := slices.Index(names, strings.ToLower(format))
		if at < 0 {
			return unknown("format", format, names)
		}
		c := compare(e.Significance, args[0], args[1])
		documentOf(cmd).Comparison = c
		return table.Formats[at].Write(cmd.OutOrStdout(), c.Document(), textOptions(cmd.OutOrStdout()))
	})
	cmd.Flags().StringVar(&format, "format", names[0], "output format: "+strings.Join(names, ", "))
	addSettings(cmd, e, "significance")
	cmd.RegisterFlagCompletionFunc("format", completeWords(names...))
	return cmd
}

func compare(by significance.Rule, dirs ...string) *table.Comparison {
	var summaries [2]*pipeline.Summary
	var compared [2]table.Compared
	for i, dir := range dirs {
		s := guard.Must(results.ReadSummary(dir))
		summaries[i] = s
		compared[i] = table.Compared{Name: dir, Methods: s.Methods, Records: guard.Must(results.Records(dir, s))}
	}
	differences, err := summaries[0].Compare(summaries[1])
	guard.Check(guard.Wrap(err, "%s and %s cannot be compared", dirs[0], dirs[1]))
	tests := table.TestsOf(summaries[0])
	tests.Rule = by
	c, err := table.NewComparison(compared[0], compared[1], tests)
	guard.Check(guard.Wrap(err, "%s and %s cannot be compared", dirs[0], dirs[1]))
	c.Differences = differences
	return c
}
