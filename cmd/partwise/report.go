package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report"
)

func reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "report DIR",
		Short:   "Make the tables, curves and the page of an experiment's results again",
		Long:    "Report makes the tables, curves, pictures and the page from the result log in a folder, of a finished experiment or of one that was stopped.",
		Example: "  partwise report results/demo",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := results.Reopen(args[0], report.ExperimentFiles...)
			if err != nil {
				return err
			}
			defer folder.Close()
			if err := writeReport(cmd, folder, nil); err != nil {
				return err
			}
			return folder.Close()
		},
	}
}

// writeReport writes the report of the results, with what was learned of visual
// words where this is at hand, and prints its tables.
func writeReport(cmd *cobra.Command, folder *results.Folder, shown *pipeline.Illustrations) error {
	dir := folder.Dir()
	s, err := results.ReadSummary(dir)
	if err != nil {
		return err
	}
	records, err := results.Records(dir, s)
	if err != nil {
		return err
	}
	e := report.Experiment{
		Name: s.Name, Command: s.Command, Settings: s.Settings, Methods: s.Methods, Sweeps: s.Sweeps,
		Classes: s.Classes, Records: records, Trials: len(s.Trials), Warnings: s.Warnings,
	}
	warn := func(text string) {
		e.Warnings = append(e.Warnings, text)
		plaintext.Fprintf(cmd.ErrOrStderr(), "partwise: %s\n", text)
	}
	if mixed := pipeline.MixedBuilds(records); mixed != "" {
		warn(mixed)
	}
	if s.Height > 0 {
		for i, m := range results.Models(dir, s) {
			if m == nil || m.Vectors() == nil {
				continue
			}
			if rows, _ := m.Vectors().Dims(); rows != s.Height*s.Width*max(s.Channels, 1) {
				warn(fmt.Sprintf("the parts of %s are not shown: the basis vectors of %s have %d values, and the images %d×%d pixels in %d channel(s)",
					s.Methods[i], filepath.Join(dir, results.ModelDir, s.Models[i]), rows, s.Height, s.Width, max(s.Channels, 1)))
			} else {
				e.Bases = append(e.Bases, report.Basis{Method: s.Methods[i], Vectors: m.Vectors(), Height: s.Height, Width: s.Width, Channels: s.Channels})
			}
		}
	}
	classes := make([]int, len(s.Samples))
	for i, sample := range s.Samples {
		classes[i] = sample.Class
	}
	for i, v := range results.Coefficients(dir, s) {
		if v != nil {
			e.Coefficients = append(e.Coefficients, report.Coefficients{Method: s.Methods[i], Values: v, Classes: classes})
		}
	}
	drawing := newBar(cmd.ErrOrStderr(), "drawing")
	e.Patches, e.Words = illustrate(cmd.Context(), shown, cmd.ErrOrStderr(), drawing)
	err = folder.Publish(func(staging string) (keep []string, err error) {
		if shown == nil {
			if keep, err = report.CopyPhotographs(staging, dir); err != nil {
				return nil, err
			}
		}
		return keep, report.WriteExperiment(cmd.Context(), staging, e)
	})
	drawing.end()
	if err != nil {
		return stopped(cmd.Context(), err, "drawing", "the trials are kept, and partwise report "+quote(dir)+" draws again")
	}

	out := cmd.OutOrStdout()
	opt := textOptions(out)
	for _, score := range []string{"accuracy", "AC", "NMI"} {
		t := report.NewTable(records, score, s.Methods)
		if len(t.Rows) == 0 {
			continue
		}
		var table interface {
			Text(io.Writer, report.TextOptions) error
		} = t
		t.Name = s.Name
		if best := report.NewBest(records, score, s.Methods, s.Sweeps); best != nil {
			best.Table.Name = s.Name
			table = best
		}
		if err := table.Text(out, opt); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	page := filepath.Join(dir, "index.html")
	_, err = plaintext.Fprintf(out, "%d of %d trials. Tables, curves and pictures are in %s; open %s.\n", len(records), len(s.Trials), cmp.Or(dir, "."), page)
	return err
}

// textOptions say how tables are printed to out.
func textOptions(out io.Writer) report.TextOptions {
	opt := report.TextOptions{Colour: isTerminal(out) && os.Getenv("NO_COLOR") == "", Wide: isWide(out)}
	if f, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			opt.Width = width
		}
	}
	return opt
}
