package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report"
	"github.com/seed4492f2cd/partwise/report/table"
)

func reportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "report DIR",
		Short:   "Make the tables, curves and the page of an experiment's results again",
		Long:    "Report makes the tables, curves, pictures and the page from the result log in a folder, of a finished experiment or of one that was stopped.",
		Example: "  partwise report results/demo",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			of, err := results.ReadSets(args[0])
			if err != nil {
				return err
			}
			if of != nil {
				return reportSets(cmd, args[0], of)
			}
			return reportOne(cmd, args[0])
		},
	}
	profileFlag(cmd)
	return cmd
}

// reportOne makes the report of an experiment on one set again.
func reportOne(cmd *cobra.Command, dir string) error {
	folder, err := results.Reopen(dir, report.ExperimentFiles...)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := writeReport(cmd, folder, nil); err != nil {
		return err
	}
	return folder.Close()
}

// writeReport writes the report of the results and prints its tables.
func writeReport(cmd *cobra.Command, folder *results.Folder, shown *pipeline.Illustrations) error {
	dir, out := folder.Dir(), cmd.OutOrStdout()
	e, err := publish(cmd, folder, shown, "the trials are kept, and partwise report "+quote(dir)+" draws again")
	if err != nil {
		return err
	}
	if err := printTables(out, e.Headlines()); err != nil {
		return err
	}
	tellNotes(cmd.ErrOrStderr(), e.TrialWarnings())
	_, err = plaintext.Fprintf(out, "%d of %d trials. Tables, curves and pictures are in %s; open %s.\n",
		len(e.Records), e.Trials, cmp.Or(dir, "."), filepath.Join(dir, "index.html"))
	return err
}

// publish writes the report of the results, with what was learned where it is at hand. left says what is
// left where the work is stopped.
func publish(cmd *cobra.Command, folder *results.Folder, shown *pipeline.Illustrations, left string) (*report.Experiment, error) {
	return draw(cmd, "drawing", left, func(count func(done, total int)) (*report.Experiment, error) {
		return report.Publish(cmd.Context(), folder, report.Sources{Shown: shown, Warn: tell(cmd.ErrOrStderr()), Progress: count})
	})
}

func printTables(out io.Writer, tables []*table.Document) error {
	for _, t := range tables {
		if err := table.Text(out, t, textOptions(out)); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	return nil
}

// tell returns what prints a warning.
func tell(stderr io.Writer) func(string) {
	return func(text string) { plaintext.Fprintf(stderr, "partwise: %s\n", text) }
}

// textOptions say how tables are printed to out.
func textOptions(out io.Writer) table.Options {
	return table.Options{Colour: isTerminal(out) && os.Getenv("NO_COLOR") == "", Wide: isWide(out), Width: width(out)}
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
