package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// fitFlags are the flags of fit beside the experiment.
type fitFlags struct {
	solver, links, start, trace, out string

	iterations uint
	force      bool
}

func fitCommand() *cobra.Command {
	var o fitFlags
	e := &spec.Experiment{}
	cmd := &cobra.Command{
		Use:   "fit DATA",
		Short: "Factorise pictures or vectors, and save the factors",
		Long: `Fit factorises the pictures of a folder, or the samples of a file (.npy, .npz, .csv, .mat,
IDX) or known set, by one method, and writes the basis, the coefficients, and all that it
takes to represent other samples by them, to a file that NumPy reads (docs/reference/model-files.md).

Vectors are taken as they are, and pictures as 32×32 greys of unit length, unless --features
says otherwise.

--start gives initial factors: an .npz file with the arrays basis (features × rank),
coefficients (samples × rank) or weights (samples × rank, of a concept factorisation), all or
some of them, such as a file that fit wrote. --trace writes the objective after each iteration.`,
		Example: `  partwise fit generated --method nmf --rank 10 --out nmf.npz
  partwise fit generated --method nmf --start nmf.npz --trace trace.csv --out longer.npz
  partwise fit photos --method cnmf --labels labels.csv --rank 8 --out cnmf.npz`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e.Data.Set = args[0]
			f, err := o.newFit(cmd, e)
			if err != nil {
				return usageError{err}
			}
			if err := checkNewFiles(o.force, o.out, o.trace, skippedList(o.out)); err != nil {
				return err
			}
			if o.start != "" {
				if err := o.readStart(f); err != nil {
					return err
				}
			}
			if err := f.Check(nil, true); err != nil {
				return usageError{err}
			}
			return o.run(cmd, e, f)
		},
	}
	f := cmd.Flags()
	addSettings(cmd, e, "methods", "rank", "features", "seed")
	f.Lookup("method").Usage = "the method, with its settings as in gnmf,lambda=10 (default nmf); see partwise methods"
	f.Lookup("rank").Usage = "number of basis vectors, or auto, as in auto or among=2..60,by=stability (default that of the factors of --start)"
	addDefault(cmd, "features", "vectors as they are, pictures as 32×32 greys of unit length")
	solverFlag(f, &o.solver)
	f.UintVar(&o.iterations, "iterations", 0, "how many iterations (default 200 at most)")
	f.StringVar(&o.start, "start", "", ".npz file of initial factors")
	f.StringVar(&o.trace, "trace", "", "write iteration, seconds and objective to this CSV file")
	f.StringVarP(&o.out, "out", "o", "", "the .npz file of the factors")
	_ = cmd.MarkFlagRequired("out")
	f.BoolVar(&o.force, "force", false, "replace files that are there already")
	strictFlag(cmd)
	addSettings(cmd, &e.Data, "labels")
	linksFlag(f, &o.links)
	dataFlags(cmd, &e.Data)
	prepareFlags(cmd)
	return cmd
}

func (o *fitFlags) newFit(cmd *cobra.Command, e *spec.Experiment) (*grouping.Fit, error) {
	if strings.ToLower(filepath.Ext(o.out)) != ".npz" {
		return nil, fmt.Errorf("--out %s: factors are written to a file whose name ends in .npz", o.out)
	}
	rank, flag := 0, cmd.Flags().Lookup("rank").Value // 0 uses the rank of the initial factors
	switch {
	case len(e.Rank) == 0:
	case len(e.Rank) > 1 || !e.Rank[0].Fixed && e.Rank[0].Auto == nil:
		return nil, fmt.Errorf("--rank %s: want one number, 1 or more, or auto", flag)
	case e.Rank[0].Fixed:
		rank = e.Rank[0].Plus
	case o.start != "":
		return nil, fmt.Errorf("--rank %s: the rank is that of the factors of --start", flag)
	default:
		rank = max(1, e.Rank[0].Auto.Among.From) // the smallest candidate
	}
	method, err := oneMethod(cmd, grouping.DefaultMethod(false).Name, o.solver, int(o.iterations))
	if err != nil {
		return nil, err
	}
	return &grouping.Fit{Method: method, Rank: rank, UseLabels: e.Data.Labels != "", Seed: e.Seed}, nil
}

func (o *fitFlags) readStart(f *grouping.Fit) error {
	text, err := output.ReadFile(o.start)
	if err != nil {
		return err
	}
	start, k, err := grouping.ReadStart(bytes.NewReader(text), int64(len(text)))
	switch {
	case err != nil:
		return fmt.Errorf("--start %s: %w", o.start, err)
	case f.Rank != 0 && f.Rank != k:
		return fmt.Errorf("--start %s: the factors are of rank %d, and --rank is %d", o.start, k, f.Rank)
	}
	f.Start, f.Rank = start, k
	return nil
}

func (o *fitFlags) run(cmd *cobra.Command, e *spec.Experiment, f *grouping.Fit) error {
	ctx := cmd.Context()
	in, err := prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) (err error) {
		if !cmd.Flags().Changed("features") && set.Files == nil {
			e.Features.Normalise = features.NormNone
		}
		if f.Links, err = readLinks(ctx, set, o.links); err != nil {
			return err
		}
		return startError(o.start, f.Check(set, e.Features.SkipBad))
	})
	if err != nil {
		return err
	}
	defer in.Close()
	if len(e.Rank) == 1 && e.Rank[0].Auto != nil {
		c, err := autoRank(cmd, *e.Rank[0].Auto, in, f.Seed)
		if err != nil {
			return err
		}
		f.Rank = c.Rank
	}
	var seconds []float64
	begin := time.Now()
	f.OnIteration = func(int, float64) { seconds = append(seconds, time.Since(begin).Seconds()) }
	res, err := withProgress(cmd, "factorising", func(show input.Progress) (*factor.Result, error) {
		res, err := f.Find(ctx, in.Inputs, show)
		return res, startError(o.start, err)
	})
	if err != nil {
		return err
	}
	if note := record.UnconvergedFit(f.Method.Label(), res); note != "" {
		warner(cmd)(note)
	}
	m, err := models.NewModel(ctx, in.Inputs, f.Method.String(), res)
	if err != nil {
		return err
	}
	m.Program = releaseVersion(buildInfo())
	err = in.writeWithSkipped(cmd, o.out, o.force, func(ctx context.Context) error {
		trace := func(w io.Writer) error { return traceTo(w, res, seconds) }
		save := func(w io.Writer) error { return m.Save(atomicfile.UntilDone(ctx, w)) }
		return writeBoth(o.trace, o.force, trace, func() error { return writeFile(o.out, o.force, save) })
	})
	if err != nil {
		return err
	}
	return printFit(cmd, in, f, res, o.out)
}

// startError adds the file of initial factors to their error.
func startError(start string, err error) error {
	if err == nil || start == "" {
		return err
	}
	return fmt.Errorf("%w (initial factors of %s)", err, start)
}

func traceTo(w io.Writer, res *factor.Result, seconds []float64) error {
	var text bytes.Buffer
	text.WriteString("iteration,seconds,objective\n")
	for i, objective := range res.Objective {
		at := 0.0
		if i > 0 && i <= len(seconds) {
			at = seconds[i-1]
		}
		fmt.Fprintf(&text, "%d,%.6f,%s\n", i, at, strconv.FormatFloat(objective, 'g', -1, 64))
	}
	_, err := text.WriteTo(w)
	return err
}

func printFit(cmd *cobra.Command, in *inputs, f *grouping.Fit, res *factor.Result, out string) error {
	n, m := in.Dims()
	var text strings.Builder
	fmt.Fprintf(&text, "%d samples of %d features, %s of rank %d", n, m, f.Method.Label(), f.Rank)
	if len(res.Objective) > 0 {
		fmt.Fprintf(&text, ": %d iterations, objective %.6g", res.Iterations(), res.Objective[len(res.Objective)-1])
	}
	text.WriteString(".\n")
	if res.Model != nil && res.Basis != nil {
		if err := printMisfit(cmd.Context(), &text, res.Model, in, res.Coefficients); err != nil {
			return err
		}
	}
	plaintext.Fprintf(&text, "The factors are in %s: %s.\n", out, in.FeaturesText())
	_, err := io.WriteString(cmd.OutOrStdout(), text.String())
	return err
}

func featuresCommand() *cobra.Command {
	var out, words string
	var force bool
	e := &spec.Experiment{Features: spec.Features{Auto: true}}
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
			in, err := prepare(cmd, e, input.PrepareOptions{}, func(*datasets.Set) error { return nil })
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
			err = in.writeWithSkipped(cmd, out, force, func(ctx context.Context) error {
				save := func(w io.Writer) error { return in.Vocabulary.Save(w) }
				return writeBoth(words, force, save, func() error { return writeSet(ctx, out, force, set) })
			})
			if err != nil {
				return err
			}
			return say(cmd, "%d samples of %d features are in %s: %s.\n", n, m, out, in.FeaturesText())
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
	addSettings(cmd, &e.Data, "labels")
	strictFlag(cmd)
	prepareFlags(cmd)
	return cmd
}
