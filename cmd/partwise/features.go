package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/pipeline"
)

func featuresCommand() *cobra.Command {
	var out, words, features string
	var seed uint64
	var force bool
	e := &pipeline.Experiment{}
	cmd := &cobra.Command{
		Use:   "features DATA",
		Short: "Write the features of pictures to a file",
		Long: `Features makes the features of the pictures of a folder, or of the samples of a
file or known set, and writes them with the classes, where these are known, to a
file that NumPy (.npz), MATLAB (.mat) or a spreadsheet (.csv) reads. Partwise
reads it too.

Without --features they are those that cluster takes: of photographs the features of the
built-in network, and where most pictures are smaller than 64 pixels the 32×32 colours.

A file that is there already is not replaced but with --force.

Visual words are learned from all of the pictures, or are those of a file that
--words wrote, as in --features 'sift=dense,words={from: words.npz}'.`,
		Example: `  partwise features photos --out photos.npz
  partwise features photos --features sift=dense,words=20,grid=4x4 --out photos.mat
  partwise features photos --features hog --out photos.csv
  partwise features photos --features sift,power=0.5+colour,grid=2x2 --out joined.npz`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e.Data.Set, e.Seed = args[0], seed
			e.Features.Auto = features == ""
			if features != "" {
				if err := setKey(e, "features", features); err != nil {
					return usageError{err}
				}
			}
			switch {
			case out == "":
				return usageError{errors.New("where to? say it with --out FILE.npz, FILE.mat or FILE.csv")}
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
	f.StringVar(&features, "features", "", "as in pixels=32,colour=true,normalise=l2,crop=square, hog, or sift=dense,words=200,grid=4x4, several with + between them as in sift,power=0.5+colour,grid=2x2 (default that of cluster: a network's for photographs, the colours of smaller pictures)")
	f.StringVarP(&out, "out", "o", "", "the file, whose name ends in .npz, .mat or .csv")
	f.StringVar(&words, "words", "", "write the visual words to this .npz file too")
	f.BoolVar(&force, "force", false, "replace files that are there already")
	f.Uint64Var(&seed, "seed", 0, "seed of all random choices")
	dataFlags(cmd, &e.Data)
	labelsFlag(f, &e.Data)
	strictFlag(cmd)
	prepareFlags(cmd)
	return cmd
}

// dataFlags adds the flags of how classes are found and where sets are.
func dataFlags(cmd *cobra.Command, d *pipeline.Data) {
	f := cmd.Flags()
	f.BoolVar(&d.Pool, "pool", false, "make every subfolder a class, and merge subfolders of the same name, such as train/Coast and test/Coast")
	f.StringVar(&d.From, "from", "", "raw or mat, for a known set that is here in both forms")
	f.StringVar(&d.Pattern, "pattern", "", "where the class is in file names, as in 'subject{class}.*' or '{class}{number}'")
	f.StringVar(&d.Truth, "truth", "", "CSV file of classes as that of --labels, which groups are compared with and no method is told")
	f.BoolVar(&d.NoClasses, "no-classes", false, "take no subfolder for a class: all are read through")
	f.StringVar(&d.Root, "data", "", "folder that holds the known sets (default $PARTWISE_DATA, then the user's cache)")
}

// labelsFlag adds the flag of the file of known classes.
func labelsFlag(f *pflag.FlagSet, d *pipeline.Data) {
	f.StringVar(&d.Labels, "labels", "", "CSV file of known classes, a file name and a class in each line")
}

// isThere says of an error that a file is there already what replaces it.
func isThere(err error) error {
	var at *fs.PathError
	if errors.Is(err, fs.ErrExist) && errors.As(err, &at) {
		return fmt.Errorf("%s is there already; --force replaces it", at.Path)
	}
	return err
}

func writeFeatures(cmd *cobra.Command, e *pipeline.Experiment, out, words string, force bool) error {
	in, err := prepare(cmd, e, func(*datasets.Set) error { return nil })
	if err != nil {
		return err
	}
	defer in.Close()
	n, m := in.Dims()
	set := &datasets.Set{Name: in.Set.Name, Classes: in.Set.Classes, Labels: in.Labels(), Names: make([]string, n), Vectors: in.X}
	for i, row := range in.Rows {
		set.Names[i] = in.Set.Names[row]
	}
	for _, s := range in.Scales {
		set.Features = append(set.Features, vectorfile.Columns{Name: s.Name, Count: s.Columns, Scale: s.Factor})
	}
	if in.Channels == 1 {
		set.Height, set.Width = in.Height, in.Width
	}
	file, write := atomicfile.CreateFunc, datasets.WriteNew
	if force {
		file, write = atomicfile.WriteFunc, datasets.Write
	}
	if words == "" {
		err = write(cmd.Context(), out, set)
	} else {
		// Where the features cannot be written the words stay as they were.
		err = file(words, func(w io.Writer) error {
			if err := in.Vocabulary.Save(w); err != nil {
				return err
			}
			return write(cmd.Context(), out, set)
		})
	}
	if err = isThere(err); err != nil {
		return stopped(cmd.Context(), err, "writing "+out, "the file is as it was, "+in.kept())
	}
	if err := in.listSkipped(out, force); err != nil {
		return err
	}
	_, err = plaintext.Fprintf(cmd.OutOrStdout(), "%d samples of %d features%s are in %s: %s.\n", n, m, filled(in.X), out, in.FeaturesText())
	return err
}

// filled says how much of a sparse matrix is not 0.
func filled(x mat.Matrix) string {
	s, ok := x.(*sparse.CSR)
	if !ok {
		return ""
	}
	n, m := s.Dims()
	return fmt.Sprintf(", %.1f %% of them not 0,", 100*float64(s.NNZ())/float64(n)/float64(m))
}
