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

// noneOfThese is the name of group 0, the pictures without a group.
const noneOfThese = "none of these"

func assignCommand() *cobra.Command {
	var out string
	var reject float64
	var force bool
	e := &spec.Experiment{}
	cmd := newCommand("assign", func(cmd *cobra.Command, args []string) error {
		if !(reject >= 0 && reject <= 1) {
			return usageError{fmt.Errorf("--reject %v: expected a fraction from 0 to 1", reject)}
		}
		m, _, err := readModel(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if m.Groups == nil {
			return fmt.Errorf("%s: the model has no groups; use partwise apply", args[0])
		}
		if err := checkNewFiles(force, out, skippedList(out)); err != nil {
			return err
		}
		in, err := prepareNew(cmd, m, e, args[1])
		if err != nil {
			return err
		}
		defer in.Close()
		found, err := m.Assign(cmd.Context(), in.Inputs, reject)
		if err != nil {
			return interruptedError(cmd.Context(), err, "grouping")
		}
		said := cmd.OutOrStdout()
		if text := assignedText(in.Inputs, m, found); out == "" {
			if err := printLines(said, text); err != nil {
				return err
			}
			said = cmd.ErrOrStderr()
		} else if err := writeFile(out, force, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
		if err := in.listSkipped(out, force); err != nil {
			return err
		}
		return printAssigned(said, found, m, out)
	})
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "", "output CSV file (default: standard output)")
	f.Float64Var(&reject, "reject", models.DefaultReject, "reject photos farther than this fraction of a group")
	newSamplesFlags(cmd, e, &force)
	return cmd
}

func newSamplesFlags(cmd *cobra.Command, e *spec.Experiment, force *bool) {
	f := cmd.Flags()
	f.BoolVar(force, "force", false, "replace an existing file")
	strictFlag(cmd)
	dataFlags(cmd, &e.Data)
	prepareFlags(cmd)
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

func prepareNew(cmd *cobra.Command, m *models.Model, e *spec.Experiment, data string) (*inputs, error) {
	e.Data.Set, e.Data.OneImage, e.Features = data, true, m.Features
	return prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) error { return m.Check(cmd.Context(), set) })
}

// assignedText returns the list of groups as CSV, in the format of a grouping's list.
func assignedText(in *input.Inputs, m *models.Model, found []models.Assigned) []byte {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write([]string{"file", "group", "name", "confidence"}) // a buffer does not fail
	for i, a := range found {
		group, name, confidence := a.Group+1, m.Groups.Names[a.Group], a.Confidence
		if a.None {
			group, name, confidence = 0, noneOfThese, 0
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
	var out string
	var force bool
	e := &spec.Experiment{}
	cmd := newCommand("apply", func(cmd *cobra.Command, args []string) error {
		if err := vectorfile.CanWrite(out); err != nil {
			return usageError{err}
		}
		m, file, err := readModel(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if m.Result == nil {
			return fmt.Errorf("%s: the model has no basis vectors; use partwise assign", file)
		}
		if err := checkNewFiles(force, out, skippedList(out)); err != nil {
			return err
		}
		in, err := prepareNew(cmd, m, e, args[1])
		if err != nil {
			return err
		}
		defer in.Close()
		v, err := m.Represent(cmd.Context(), in.Inputs)
		if err != nil {
			return interruptedError(cmd.Context(), err, "representing")
		}
		err = in.writeWithSkipped(cmd, out, force, func(ctx context.Context) error { return writeSet(ctx, out, force, in.setOf(v)) })
		if err != nil {
			return err
		}
		n, k := v.Dims()
		var text strings.Builder
		plaintext.Fprintf(&text, "%d samples × %d coefficients are in %s.\n", n, k, out)
		if m.Result.Basis != nil {
			if err := printMisfit(cmd.Context(), &text, m.Result.Model, in, v.(*mat.Dense)); err != nil {
				return err
			}
		}
		_, err = io.WriteString(cmd.OutOrStdout(), text.String())
		return err
	})
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "", "output file: .npz, .mat or .csv")
	_ = cmd.MarkFlagRequired("out")
	addSettings(cmd, &e.Data, "labels")
	vectorFlags(cmd, &e.Data)
	newSamplesFlags(cmd, e, &force)
	return cmd
}

func printMisfit(ctx context.Context, w io.Writer, model factor.Model, in *inputs, v *mat.Dense) error {
	share, err := factor.Misfit(ctx, model, in.X, v)
	if err == nil {
		_, err = fmt.Fprintf(w, "The relative error ‖X − V·Uᵀ‖/‖X‖ is %.4g.\n", math.Sqrt(share))
	}
	return err
}
