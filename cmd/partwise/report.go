package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report"
)

func reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "report DIR",
		Short:   "Make the tables, curves and the page of an experiment's results again",
		Long:    "Report makes the tables, curves, pictures and the page from the result log in a folder, of a finished experiment or of one that was stopped.",
		Example: "  partwise report results/demo",
		Args:    usage(cobra.ExactArgs(1)),
		RunE:    func(cmd *cobra.Command, args []string) error { return writeReport(cmd, args[0]) },
	}
}

// writeReport writes the report of the results in dir and prints its tables.
func writeReport(cmd *cobra.Command, dir string) error {
	s, err := pipeline.ReadSummary(dir)
	if err != nil {
		return err
	}
	records, err := s.Records(dir)
	if err != nil {
		return err
	}
	e := report.Experiment{Name: s.Name, Command: s.Command, Settings: s.Settings, Methods: s.Methods, Records: records, Trials: len(s.Trials)}
	if s.Height > 0 {
		for i, m := range s.LoadModels(dir) {
			if m != nil {
				e.Bases = append(e.Bases, report.Basis{Method: s.Methods[i], Vectors: m.Vectors(), Height: s.Height, Width: s.Width, Channels: s.Channels})
			}
		}
	}
	if err := report.WriteExperiment(dir, e); err != nil {
		return err
	}

	out := cmd.OutOrStdout()
	opt := report.TextOptions{Colour: isTerminal(out) && os.Getenv("NO_COLOR") == ""}
	if f, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			opt.Width = width
		}
	}
	for _, score := range []string{"accuracy", "AC", "NMI"} {
		t := report.NewTable(records, score, s.Methods)
		if len(t.Rows) == 0 {
			continue
		}
		t.Name = s.Name
		if err := t.Text(out, opt); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	page := filepath.Join(dir, "index.html")
	_, err = fmt.Fprintf(out, "%d of %d trials. Tables, curves and pictures are in %s; open %s.\n", len(records), len(s.Trials), cmp.Or(dir, "."), page)
	return err
}
