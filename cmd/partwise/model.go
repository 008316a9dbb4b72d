package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
)

// newSamples holds the flags of commands that apply a saved model to new samples and write a file.
type newSamples struct {
	spec.Experiment
	out   string
	force bool
}

// command returns the command with texts under a name in help.md. check tests the flags and the model of a file.
func (o *newSamples) command(name, usage string, check func(m *models.Model, file string) error, do func(*cobra.Command, *models.Model, *inputs) error) *cobra.Command {
	cmd := newCommand(name, func(cmd *cobra.Command, args []string) error {
		m, file, err := readModel(cmd.Context(), args[0])
		if err == nil {
			err = check(m, file)
		}
		if err == nil {
			err = checkNewFiles(o.force, o.out, skippedList(o.out))
		}
		if err != nil {
			return err
		}
		o.Data.Set, o.Data.OneImage, o.Features = args[1], true, m.Features
		in, err := prepare(cmd, &o.Experiment, input.PrepareOptions{}, func(set *datasets.Set) error { return m.Check(cmd.Context(), set) })
		if err != nil {
			return err
		}
		defer in.Close()
		return do(cmd, m, in)
	})
	cmd.Flags().StringVarP(&o.out, "out", "o", "", usage)
	cmd.Flags().BoolVar(&o.force, "force", false, "replace an existing file")
	strictFlag(cmd)
	dataFlags(cmd, &o.Data)
	prepareFlags(cmd)
	return cmd
}

func assignCommand() *cobra.Command {
	var o newSamples
	var reject float64
	cmd := o.command("assign", "output CSV file (default: standard output)", func(m *models.Model, file string) error {
		switch {
		case !(reject >= 0 && reject <= 1):
			return usageError{fmt.Errorf("--reject %v: expected a fraction from 0 to 1", reject)}
		case m.Groups == nil:
			return fmt.Errorf("%s: the model has no groups; use partwise apply", file)
		}
		return nil
	}, func(cmd *cobra.Command, m *models.Model, in *inputs) error {
		found, err := m.Assign(cmd.Context(), in.Inputs, reject)
		if err != nil {
			return interruptedError(cmd.Context(), err, "grouping")
		}
		said, text := cmd.OutOrStdout(), assignedText(in.Inputs, m, found)
		if o.out == "" {
			said, err = cmd.ErrOrStderr(), printLines(said, text)
		} else {
			err = writeFile(o.out, o.force, func(w io.Writer) error { _, err := w.Write(text); return err })
		}
		if err == nil {
			err = in.listSkipped(o.out, o.force)
		}
		if err != nil {
			return err
		}
		return printAssigned(said, found, m, o.out)
	})
	cmd.Flags().Float64Var(&reject, "reject", models.DefaultReject, "reject photos farther than this fraction of a group")
	return cmd
}

// readModel reads a model from a file or from a folder of results, and returns its path.
func readModel(ctx context.Context, path string) (m *models.Model, file string, err error) {
	file = path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		command, _, err := output.Written(path)
		if err != nil {
			return nil, "", err
		}
		if command != "cluster" {
			return nil, "", fmt.Errorf("%s holds results of partwise %s, which have no groups; use partwise apply with a file in %s", path, command, filepath.Join(path, results.ModelDir))
		}
		file = filepath.Join(path, report.ModelFile)
	}
	text, err := output.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	if m, err = models.ReadModel(ctx, bytes.NewReader(text), int64(len(text))); err != nil {
		return nil, "", fmt.Errorf("%s: %w", file, err)
	}
	return m, file, nil
}

// assignedText returns the list of groups as CSV, in the format of a grouping's list.
func assignedText(in *input.Inputs, m *models.Model, found []models.Assigned) []byte {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write([]string{"file", "group", "name", "confidence"}) // a buffer does not fail
	for i, a := range found {
		group, name, confidence := a.Group+1, m.Groups.Names[a.Group], a.Confidence
		if a.None {
			group, name, confidence = 0, "none of these", 0
		}
		_ = w.Write([]string{
			spreadsheet.Cell(in.Set.Names[in.Rows[i]]), strconv.Itoa(group), spreadsheet.Cell(name), strconv.FormatFloat(confidence, 'f', 2, 64),
		})
	}
	w.Flush()
	return text.Bytes()
}

func printAssigned(w io.Writer, found []models.Assigned, m *models.Model, out string) error {
	size := make([]int, len(m.Groups.Centres.Sizes))
	none, known := 0, 0
	for _, a := range found {
		if a.Known {
			known++
		}
		if a.None {
			none++
			continue
		}
		size[a.Group]++
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s in %s:", phrase.Count(len(found), "sample", "samples"), phrase.Count(len(size), "group", "groups"))
	for _, n := range size {
		fmt.Fprintf(&text, " %d", n)
	}
	fmt.Fprintf(&text, "; %d in no group", none)
	if known > 0 {
		fmt.Fprintf(&text, "; %d were clustered before and keep their group", known)
	}
	text.WriteString(".\n")
	if out != "" {
		plaintext.Fprintf(&text, "Groups as a table: %s\n", out)
	}
	_, err := w.Write(text.Bytes())
	return err
}

func applyCommand() *cobra.Command {
	var o newSamples
	cmd := o.command("apply", "output file: .npz, .mat or .csv", func(m *models.Model, file string) error {
		if err := vectorfile.CanWrite(o.out); err != nil {
			return usageError{err}
		}
		if m.Result == nil {
			return fmt.Errorf("%s: the model has no basis vectors; use partwise assign", file)
		}
		return nil
	}, func(cmd *cobra.Command, m *models.Model, in *inputs) error {
		v, err := m.Represent(cmd.Context(), in.Inputs)
		if err != nil {
			return interruptedError(cmd.Context(), err, "representing")
		}
		err = in.writeWithSkipped(cmd, o.out, o.force, func(ctx context.Context) error { return writeSet(ctx, o.out, o.force, in.setOf(v)) })
		if err != nil {
			return err
		}
		n, k := v.Dims()
		var text strings.Builder
		plaintext.Fprintf(&text, "%d samples × %d coefficients are in %s.\n", n, k, o.out)
		if m.Result.Basis != nil {
			err = printMisfit(cmd.Context(), &text, m.Result.Model, in, v.(*mat.Dense))
		}
		if err != nil {
			return err
		}
		_, err = io.WriteString(cmd.OutOrStdout(), text.String())
		return err
	})
	_ = cmd.MarkFlagRequired("out")
	addSettings(cmd, &o.Data, "labels")
	vectorFlags(cmd, &o.Data)
	return cmd
}

func printMisfit(ctx context.Context, w io.Writer, model factor.Model, in *inputs, v *mat.Dense) error {
	share, err := factor.Misfit(ctx, model, in.X, v)
	if err == nil {
		_, err = fmt.Fprintf(w, "The relative error ‖X − V·Uᵀ‖/‖X‖ is %.4g.\n", math.Sqrt(share))
	}
	return err
}
