package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

func drawsCommand() *cobra.Command {
	var out, root, format string
	e := &spec.Experiment{}
	cmd := &cobra.Command{
		Use:   "draws FILE",
		Short: "Write the draws of an experiment for other programs",
		Long: `Write the samples, features, labels and links of each draw of an experiment to a file, for methods
in Python or MATLAB. An entry of methods such as {name: theirs, results: theirs/*.npz} scores
their results. Flags override keys of the file, as in partwise run.`,
		Example: `  partwise draws docs/experiments/demo.yaml --repeats 2 --out draws`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(pipeline.DrawFormats, format) {
				return unknown("format", format, pipeline.DrawFormats)
			}
			if err := completeExperiment(cmd, e, args); err != nil {
				return err
			}
			e.Data.Root, e.Data.Labelled = root, true
			for i, one := range e.Each() {
				to := out
				if len(e.Sets) > 1 {
					to = filepath.Join(out, e.SetNames()[i])
				}
				if err := cmp.Or(checkOut(one.Data.Set, to), writeDraws(cmd, one, to, format)); err != nil {
					return err
				}
			}
			return nil
		},
	}
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

// writeDraws replaces the draws in a folder by the draws of an experiment on one set.
func writeDraws(cmd *cobra.Command, e *spec.Experiment, out, format string) (err error) {
	e.Methods = spec.Methods{{Name: spec.KMeans}} // draws do not depend on methods, whose results may not exist yet
	if e.Task == spec.Classification {
		e.Methods[0].Name = spec.Original
	}
	var folder *output.Folder
	var names []string
	in, err := prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) (err error) {
		if err = pipeline.CheckSet(cmd.Context(), e, set); err == nil {
			names = append(pipeline.DrawFiles(e, set, format), output.Files(out)...)
			folder, err = output.Open(out, output.Spec{Command: "draws", Data: e.Data.Set, Names: names})
		}
		return err
	})
	if folder != nil {
		defer func() { err = cmp.Or(err, folder.Close()) }()
	}
	if err != nil {
		return err
	}
	defer in.Close()
	if in.IsWeighted() {
		return fmt.Errorf("%s: draws cannot hold missing values or weights", in.Set.Name)
	}
	plan, err := pipeline.NewPlan(cmd.Context(), e, in.Inputs)
	if err != nil {
		return err
	}
	stage, err := folder.Stage(names...)
	if err != nil {
		return err
	}
	defer stage.Discard()
	count, err := withProgress(cmd, "writing draws", func(show input.Progress) (int, error) {
		return plan.WriteDraws(cmd.Context(), stage.Dir(), format, show)
	})
	if err := cmp.Or(err, stage.Publish()); err != nil {
		return err
	}
	return say(cmd, "%d draws are in %s.\n", count, out)
}
