package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
)

func featuresCommand() *cobra.Command {
	var out, words string
	var force bool
	e := &pipeline.Experiment{Features: pipeline.Features{Auto: true}}
	cmd := &cobra.Command{
		Use:   "features DATA",
		Short: "Write the features of pictures to a file",
		Long: `Features writes the features of the pictures of a folder, or of the samples of a file or
known set, with their classes, to a file that NumPy (.npz), MATLAB (.mat), a spreadsheet
(.csv) and partwise read. The default features are those of cluster.

Visual words are learned from all of the pictures, or are those of a file that
--words wrote, as in --features 'sift=dense,words={from: words.npz}'.`,
		Example: `  partwise features photos --out photos.npz
  partwise features photos --features sift=dense,words=20,grid=4x4 --out photos.mat
  partwise features photos --features hog --out photos.csv
  partwise features photos --features sift,power=0.5+colour,grid=2x2 --out joined.npz`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e.Data.Set = args[0]
			switch {
			case e.Data.Labels != "" && e.Data.Truth != "":
				return usageError{errors.New("--labels and --truth both say the classes that are written: give one of them")}
			case words != "" && !e.Features.OfWords():
				return usageError{errors.New("--words is for features that are visual words (--features sift=dense,words=200)")}
			}
			if err := vectorfile.CanWrite(out); err != nil {
				return usageError{err}
			}
			if err := checkNewFiles(force, out, words, skippedList(out)); err != nil {
				return err
			}
			return writeFeatures(cmd, e, out, words, force)
		},
	}
	f := cmd.Flags()
	addSettings(cmd, e, "features", "seed")
	addDefault(cmd, "features", "that of cluster: a network's for photographs, the colours of smaller pictures")
	f.StringVarP(&out, "out", "o", "", "the file, whose name ends in .npz, .mat or .csv")
	_ = cmd.MarkFlagRequired("out")
	f.StringVar(&words, "words", "", "write the visual words to this .npz file too")
	f.BoolVar(&force, "force", false, "replace files that are there already")
	dataFlags(cmd, &e.Data)
	labelsFlag(cmd, &e.Data)
	strictFlag(cmd)
	prepareFlags(cmd)
	return cmd
}

func writeFeatures(cmd *cobra.Command, e *pipeline.Experiment, out, words string, force bool) error {
	in, err := prepare(cmd, e, pipeline.PrepareOptions{}, func(*datasets.Set) error { return nil })
	if err != nil {
		return err
	}
	defer in.Close()
	n, m := in.Dims()
	set := in.setOf(in.X)
	for _, s := range in.Scales {
		set.Features = append(set.Features, vectorfile.Columns{Name: s.Name, Count: s.Columns, Scale: s.Factor})
	}
	if in.Channels == 1 {
		set.Height, set.Width = in.Height, in.Width
	}
	// Where one of the files cannot be written the other stays as it was.
	err = in.written(cmd, out, force, func(ctx context.Context) error {
		if words == "" {
			return writeSet(ctx, out, force, set)
		}
		return writeFile(words, force, func(w io.Writer) error {
			if err := in.Vocabulary.Save(w); err != nil {
				return err
			}
			return writeSet(ctx, out, force, set)
		})
	})
	if err != nil {
		return err
	}
	_, err = plaintext.Fprintf(cmd.OutOrStdout(), "%d samples of %d features are in %s: %s.\n", n, m, out, in.FeaturesText())
	return err
}
