package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
	"github.com/seed4492f2cd/partwise/report/table"
)

func reportCommand() *cobra.Command {
	cmd := newCommand("report", func(cmd *cobra.Command, args []string) error {
		of, err := results.ReadSets(args[0])
		switch {
		case err != nil:
			return err
		case of == nil:
			return reportOne(cmd, args[0])
		}
		top, err := results.OpenSets(args[0], report.SetsFiles...)
		if err != nil {
			return err
		}
		defer top.Close()
		for _, name := range of.Sets {
			if err := reportOne(cmd, filepath.Join(args[0], name)); err != nil {
				return err
			}
		}
		return cmp.Or(writeSetsReport(cmd, top), top.Close())
	})
	profileFlag(cmd)
	return cmd
}

func reportOne(cmd *cobra.Command, dir string) error {
	folder, err := results.Reopen(dir, report.ExperimentFiles...)
	if err != nil {
		return err
	}
	return cmp.Or(writeReport(cmd, folder, nil), folder.Close())
}

func writeReport(cmd *cobra.Command, folder *results.Folder, shown *models.Illustrations) error {
	e, err := publish(cmd, folder, shown)
	if err == nil {
		err = printTables(cmd.OutOrStdout(), e.Headlines())
	}
	if err != nil {
		return err
	}
	dir := folder.Dir()
	printNotes(cmd, e.TrialWarnings())
	return say(cmd, "%d of %d trials finished.\nTables and curves: %s\n",
		len(e.Records), len(e.Trials), filepath.Join(dir, "index.html"))
}

func publish(cmd *cobra.Command, folder *results.Folder, shown *models.Illustrations) (*report.Experiment, error) {
	return withDrawing(cmd, func(to report.Sources) (*report.Experiment, error) {
		to.Shown = shown
		return report.Publish(cmd.Context(), folder, to)
	})
}

func printTables(out io.Writer, tables []*table.Document) error {
	for _, t := range tables {
		if err := table.Text(out, t, textOptions(out)); err != nil {
			return err
		}
		if s, ok := eval.FindScore(t.Grids[0].Score); ok {
			fmt.Fprint(out, columns.Hanging("", s.Name+": "+s.Help, columns.Width(out)))
		}
		fmt.Fprintln(out)
	}
	return nil
}

func textOptions(out io.Writer) table.Options {
	return table.Options{Colour: columns.IsTerminal(out) && os.Getenv("NO_COLOR") == "", Wide: columns.IsWide(out), Width: columns.Width(out)}
}

func writeSetsReport(cmd *cobra.Command, folder *results.Folder) error {
	s, err := report.PublishSets(cmd.Context(), folder, report.Sources{Warn: warner(cmd)})
	if err != nil {
		return interruptedError(cmd.Context(), err, "drawing")
	}
	if err := printTables(cmd.OutOrStdout(), s.Headlines()); err != nil {
		return err
	}
	dir := folder.Dir()
	return say(cmd, "%d sets compared.\nTables and curves: %s\n", len(s.Sets), filepath.Join(dir, "index.html"))
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
		c, err := compare(e.Significance, args[0], args[1])
		if err != nil {
			return err
		}
		return table.Formats[at].Write(cmd.OutOrStdout(), c.Document(), textOptions(cmd.OutOrStdout()))
	})
	cmd.Flags().StringVar(&format, "format", names[0], "output format: "+strings.Join(names, ", "))
	addSettings(cmd, e, "significance")
	cmd.RegisterFlagCompletionFunc("format", completeWords(names...))
	return cmd
}

func compare(by significance.Rule, dirs ...string) (*table.Comparison, error) {
	var summaries [2]*pipeline.Summary
	var compared [2]table.Compared
	for i, dir := range dirs {
		s, err := results.ReadSummary(dir)
		if err != nil {
			return nil, err
		}
		summaries[i], compared[i] = s, table.Compared{Name: dir, Methods: s.Methods}
		if compared[i].Records, err = results.Records(dir, s); err != nil {
			return nil, err
		}
	}
	differences, err := summaries[0].Compare(summaries[1])
	var c *table.Comparison
	if err == nil {
		tests := table.TestsOf(summaries[0])
		tests.Rule = by
		c, err = table.NewComparison(compared[0], compared[1], tests)
	}
	if err != nil {
		return nil, fmt.Errorf("%s and %s cannot be compared: %w", dirs[0], dirs[1], err)
	}
	c.Differences = differences
	return c, nil
}
