package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/files/scratch"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/pipeline/shards"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
)

const outUsage = "output file: .npz, .mat or .csv; - for standard output"

type fitFlags struct {
	solver, start, trace, out string
	links                     spec.Links

	iterations uint
	batch      int
	force      bool
	seconds    []float64 // after each iteration
}

func fitCommand() *cobra.Command {
	return withPasses(factorCommand(newCommand("fit", nil), "output .npz file, or - for standard output", (*fitFlags).save), fitInPasses)
}

func imputeCommand() *cobra.Command {
	return factorCommand(newCommand("impute", nil), outUsage, (*fitFlags).impute)
}

// factorCommand completes a command that factorises DATA and saves a file with the result.
func factorCommand(cmd *cobra.Command, out string, save func(*fitFlags, *cobra.Command, *inputs, *grouping.Fit, *factor.Result) error) *cobra.Command {
	var o fitFlags
	e := &spec.Experiment{}
	cmd.RunE = catching(func(cmd *cobra.Command, args []string) error {
		e.Data.Set = args[0]
		f := o.newFit(cmd, e)
		guard.Check(checkNewFiles(o.force, o.out, o.trace, skippedList(o.out)))
		if o.start != "" {
			o.readStart(f)
		}
		checkUse(f.Check(nil, true))
		in := o.prepare(cmd, e, f)
		defer in.Close()
		if in.Blocks != nil {
			n, _ := in.Dims()
			store := guard.Must(scratch.Create(filepath.Dir(o.out), n, f.Rank))
			defer store.Close()
			f.Coefficients = store
		}
		return save(&o, cmd, in, f, o.fit(cmd, e, f, in))
	})
	f := cmd.Flags()
	addSettings(cmd, e, "methods", "rank", "seed")
	addSettings(cmd, e, "features")
	addDefault(cmd, "features", "32×32 grey")
	if cmd.Name() == "impute" {
		addSettings(cmd, &e.Data, "weights", "mask")
	} else {
		vectorFlags(cmd, &e.Data)
		f.IntVar(&o.batch, "batch", 0, "read batches of this many samples (nmf, nmf-kl, cnmf, cnmf-kl)")
	}
	f.Lookup("method").Usage = "method and settings, such as gnmf,lambda=10 (default nmf)"
	f.Lookup("rank").Usage = "number of basis vectors, or auto (default: rank of --start)"
	solverFlag(f, &o.solver)
	f.UintVar(&o.iterations, "iterations", 0, "number of iterations (default: at most 200)")
	f.StringVar(&o.start, "start", "", "initial factors: .npz file with basis, coefficients or weights")
	f.StringVar(&o.trace, "trace", "", "write the objective after each iteration to this CSV file")
	f.StringVarP(&o.out, "out", "o", "", out)
	_ = cmd.MarkFlagRequired("out")
	f.BoolVar(&o.force, "force", false, "replace existing files")
	strictFlag(cmd)
	addSettings(cmd, &e.Data, "labels")
	linksFlag(f, &o.links.File)
	dataFlags(cmd, &e.Data)
	prepareFlags(cmd)
	return cmd
}

func (o *fitFlags) newFit(cmd *cobra.Command, e *spec.Experiment) *grouping.Fit {
	if cmd.Name() == "impute" {
		e.Data.Missing, e.Features.Normalise = "nan", features.NormNone
		checkUse(vectorfile.CanWrite(o.out))
	} else if strings.ToLower(filepath.Ext(o.out)) != ".npz" {
		failUsage("--out %s: the name must end in .npz", o.out)
	}
	rank, flag := 0, cmd.Flags().Lookup("rank").Value // 0 uses the rank of the initial factors
	auto := len(e.Rank) > 0 && e.Rank[0].Auto != nil
	switch {
	case len(e.Rank) == 0:
	case len(e.Rank) > 1 || !e.Rank[0].Fixed && !auto:
		failUsage("--rank %s: expected one number (1 or more) or auto", flag)
	case e.Rank[0].Fixed:
		rank = e.Rank[0].Plus
	case o.start != "":
		failUsage("--rank %s: --start sets the rank; remove --rank", flag)
	default:
		rank = max(1, e.Rank[0].Auto.Among.From) // the smallest candidate
	}
	method := oneMethod(cmd, grouping.DefaultMethod(false).Name, o.solver, int(o.iterations))
	if e.Data.OnDisk = cmd.Flags().Changed("batch"); e.Data.OnDisk {
		checkUse(guard.Wrap((grouping.Groups{Method: method, Batch: o.batch}).CheckBatch(e.Features), "--batch"))
		failUsageIf(auto, "--rank auto needs all samples in memory: set a rank, or remove --batch")
	}
	if method.FixedBasis != "" && auto {
		checkUse(spec.ErrFixed)
	}
	failUsageIf(o.trace != "" && method.Restarts > 1, "--trace follows a single fit; remove restarts")
	return &grouping.Fit{Method: method, Rank: rank, UseLabels: e.Data.Labels != "", Seed: e.Seed, Batch: o.batch}
}

func (o *fitFlags) readStart(f *grouping.Fit) {
	text := guard.Must(output.ReadFile(o.start))
	start, k, err := grouping.ReadStart(bytes.NewReader(text), int64(len(text)))
	guard.Check(guard.Wrap(err, "--start %s", o.start))
	guard.FailIf(f.Rank != 0 && f.Rank != k, "--start %s: the factors have rank %d, but --rank is %d", o.start, k, f.Rank)
	f.Start, f.Rank = start, k
}

func (o *fitFlags) prepare(cmd *cobra.Command, e *spec.Experiment, f *grouping.Fit) *inputs {
	return prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) (err error) {
		if !cmd.Flags().Changed("features") && (set.Files == nil || set.Masks != nil) {
			e.Features.Normalise = features.NormNone
		}
		if f.Links, err = input.ReadLinks(cmd.Context(), o.links, set); err != nil {
			return err
		}
		if cmd.Name() == "impute" && !set.Missing && set.Masks == nil && (set.Weights == nil || mat.Min(set.Weights) > 0) {
			return fmt.Errorf("%s has no missing values", set.Name)
		}
		return startError(o.start, f.Check(set, e.Features.SkipBad))
	})
}

func (o *fitFlags) fit(cmd *cobra.Command, e *spec.Experiment, f *grouping.Fit, in *inputs) *factor.Result {
	if len(e.Rank) == 1 && e.Rank[0].Auto != nil {
		c, _ := chooseRank(cmd, in, func(show input.Progress) (*spec.RankChoice, error) {
			return grouping.ChooseRank(cmd.Context(), *e.Rank[0].Auto, in.Inputs, f.Seed, show)
		})
		f.Rank = c.Rank
	}
	begin := time.Now()
	f.OnIteration = func(int, float64) { o.seconds = append(o.seconds, time.Since(begin).Seconds()) }
	res := withProgress(cmd, "factorising", func(show input.Progress) (*factor.Result, error) {
		res, err := f.Find(cmd.Context(), in.Inputs, show)
		return res, startError(o.start, err)
	})
	if note := record.UnconvergedFit(f.Method.Label(), res); note != "" && in.Blocks == nil {
		warner(cmd)(note)
	}
	return res
}

// write writes the trace, and the output by save.
func (o *fitFlags) write(cmd *cobra.Command, in *inputs, res *factor.Result, save func(ctx context.Context) error) {
	in.writeWithSkipped(cmd, o.out, o.force, func(ctx context.Context) error {
		trace := func(w io.Writer) error { return traceTo(w, res, o.seconds) }
		return writeBoth(o.trace, o.force, trace, func() error { return save(ctx) })
	})
}

func (o *fitFlags) save(cmd *cobra.Command, in *inputs, f *grouping.Fit, res *factor.Result) error {
	m := guard.Must(models.NewModel(cmd.Context(), in.Inputs, f.Method.String(), res))
	m.Program = releaseVersion(buildInfo())
	o.write(cmd, in, res, func(ctx context.Context) error {
		save := func(w io.Writer) error { return m.Save(atomicfile.UntilDone(ctx, w)) }
		if isStdout(o.out) {
			return save(invocationIn(ctx).stdout)
		}
		return writeFile(o.out, o.force, save)
	})
	return printFit(cmd, in, f, res, o.out)
}

func (o *fitFlags) impute(cmd *cobra.Command, in *inputs, f *grouping.Fit, res *factor.Result) error {
	x := in.X.(*factor.Weighted)
	set := shards.SetOf(in.Inputs, guard.Must(factor.Impute(cmd.Context(), res.Model, x, res.Coefficients)))
	if set.Height, set.Width = in.Set.Height, in.Set.Width; in.Channels == 1 {
		set.Height, set.Width = in.Height, in.Width
	}
	o.write(cmd, in, res, func(ctx context.Context) error { return writeSet(ctx, o.out, o.force, set) })
	n, m := x.Dims()
	missing := 0
	for i := range n {
		for j := range m {
			if x.Missing(i, j) {
				missing++
			}
		}
	}
	d := documentOf(cmd)
	d.Out, d.Samples, d.Features, d.Missing, d.Method = o.out, n, m, &missing, f.Method.String()
	d.setFit(f.Rank, res)
	return say(cmd, "%d of %d values were missing; %s of rank %d filled them in: %s.\n", missing, n*m, f.Method.Label(), f.Rank, nameOfOut(o.out))
}

// startError adds the file of initial factors to their error.
func startError(start string, err error) error {
	if err == nil || start == "" {
		return err
	}
	return fmt.Errorf("%w (initial factors of %s)", err, start)
}

func traceTo(w io.Writer, res *factor.Result, seconds []float64) error {
	lines := bufio.NewWriter(w)
	lines.WriteString("iteration,seconds,objective\n")
	seconds = append([]float64{0}, seconds...)
	for i, objective := range res.Objective {
		fmt.Fprintf(lines, "%d,%.6f,%s\n", i, seconds[min(i, len(seconds)-1)], strconv.FormatFloat(objective, 'g', -1, 64))
	}
	return lines.Flush()
}

func printFit(cmd *cobra.Command, in *inputs, f *grouping.Fit, res *factor.Result, out string) error {
	n, m := in.Dims()
	d := documentOf(cmd)
	d.Out, d.Samples, d.Features, d.Method = out, n, m, f.Method.String()
	d.setFit(f.Rank, res)
	var text strings.Builder
	fmt.Fprintf(&text, "%d samples of %d features, %s of rank %d", n, m, f.Method.Label(), f.Rank)
	if len(res.Objective) > 0 {
		fmt.Fprintf(&text, ": %d iterations, objective %.6g", res.Iterations(), res.Objective[len(res.Objective)-1])
	}
	text.WriteString(".\n")
	if res.Basis != nil && res.Coefficients != nil {
		printMisfit(cmd, &text, res.Model, in, res.Coefficients)
	}
	plaintext.Fprintf(&text, "The factors are in %s: %s.\n", nameOfOut(out), in.FeaturesText())
	_, err := io.WriteString(cmd.OutOrStdout(), text.String())
	return err
}

func featuresCommand() *cobra.Command {
	var out, words string
	var force, single bool
	e := &spec.Experiment{Features: spec.Features{Auto: true}}
	cmd := newCommand("features", func(cmd *cobra.Command, args []string) error {
		e.Data.Set = args[0]
		failUsageIf(e.Data.Labels != "" && e.Data.Truth != "",
			"--labels and --truth both name the classes to write; use one of them")
		failUsageIf(words != "" && !e.Features.OfWords(),
			"--words needs visual words, such as --features sift=dense,words=200")
		checkUse(vectorfile.CanWrite(out))
		guard.Check(checkNewOut(cmd, force, out, words))
		in := prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) error {
			set.Single = single
			return checkShard(cmd, e, set, out, &force, nil)
		})
		defer in.Close()
		n, m := in.Dims()
		set := guard.Must(shards.Features(in.Inputs))
		in.writeWithSkipped(cmd, out, force, func(ctx context.Context) error {
			save := func(w io.Writer) error { return in.Vocabulary.Save(w) }
			return writeBoth(words, force, save, func() error { return writeSet(ctx, out, force, set) })
		})
		d := documentOf(cmd)
		d.Out, d.Samples, d.Features = out, n, m
		return say(cmd, "%d samples of %d features are in %s: %s.\n", n, m, nameOfOut(out), in.FeaturesText())
	})
	f := cmd.Flags()
	addSettings(cmd, e, "features", "seed")
	addDefault(cmd, "features", "as in cluster")
	f.StringVarP(&out, "out", "o", "", outUsage)
	_ = cmd.MarkFlagRequired("out")
	f.BoolVar(&single, "float32", false, "write values in single precision (.npz only)")
	shardFlag(cmd, ".npz")
	f.StringVar(&words, "words", "", "also write the visual words to this .npz file")
	f.BoolVar(&force, "force", false, "replace existing files")
	dataFlags(cmd, &e.Data)
	addSettings(cmd, &e.Data, "labels")
	strictFlag(cmd)
	prepareFlags(cmd)
	return cmd
}

// newSamples holds the flags of commands that apply a saved model to new samples and write a file.
type newSamples struct {
	spec.Experiment
	out   string
	force bool
}

// command returns the command with texts under a name in help.md. Its shards have files with this extension. check tests
// the flags and the model of a file.
func (o *newSamples) command(name, usage, extension string, check func(m *models.Model, file string),
	do func(*cobra.Command, *models.Model, *inputs) error) *cobra.Command {
	cmd := newCommand(name, func(cmd *cobra.Command, args []string) error {
		m, file := readModel(cmd.Context(), args[0])
		sum := guard.Must(output.Sum(file))
		check(m, file)
		if f := cmd.Flags().Lookup("reject"); f != nil {
			sum += f.Value.String()
		}
		guard.Check(checkNewOut(cmd, o.force, o.out))
		o.Data.Set, o.Data.OneImage, o.Features = args[1], true, m.Features
		in := prepare(cmd, &o.Experiment, input.PrepareOptions{}, func(set *datasets.Set) error {
			return cmp.Or(m.Check(cmd.Context(), set), checkShard(cmd, &o.Experiment, set, o.out, &o.force, []byte(sum)))
		})
		defer in.Close()
		return do(cmd, m, in)
	})
	shardFlag(cmd, extension)
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
	cmd := o.command("assign", "output CSV file (default: standard output)", ".csv", func(m *models.Model, file string) {
		failUsageIf(!(reject >= 0 && reject <= 1), "--reject %v: expected a fraction from 0 to 1", reject)
		guard.FailIf(m.Groups == nil, "%s: the model has no groups; use partwise apply", file)
	}, func(cmd *cobra.Command, m *models.Model, in *inputs) error {
		found, err := m.Assign(cmd.Context(), in.Inputs, reject)
		guard.Check(interruptedError(cmd.Context(), err, "grouping"))
		all := documentOf(cmd)
		all.Out, all.Samples, all.Assignments = o.out, len(found), m.List(in.Inputs, found)
		said, text := cmd.OutOrStdout(), models.AssignmentsCSV(all.Assignments)
		if o.out == "" {
			said, err = cmd.ErrOrStderr(), printLines(said, text)
		} else {
			if cmd.Flags().Changed("shard") {
				guard.Check(shards.WriteIdentity(o.out, in.Set, text))
			}
			err = writeFile(o.out, o.force, func(w io.Writer) error { _, err := w.Write(text); return err })
		}
		guard.Check(err)
		in.listSkipped(o.out, o.force)
		return printAssigned(cmd, said, found, m)
	})
	vectorFlags(cmd, &o.Data)
	cmd.Flags().Float64Var(&reject, "reject", models.DefaultReject, "reject photos farther than this fraction of a group")
	return cmd
}

// readModel reads a model from a file or from a folder of results, and returns its path.
func readModel(ctx context.Context, path string) (m *models.Model, file string) {
	file = path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		command, _, err := output.Written(path)
		guard.Check(err)
		if command != "cluster" {
			guard.Fail("%s holds results of partwise %s, which have no groups; use partwise apply with a file in %s", path, command, filepath.Join(path, results.ModelDir))
		}
		file = filepath.Join(path, report.ModelFile)
	}
	text := guard.Must(output.ReadFile(file))
	m, err := models.ReadModel(ctx, bytes.NewReader(text), int64(len(text)))
	guard.Check(guard.Wrap(err, "%s", file))
	return m, file
}

func printAssigned(cmd *cobra.Command, w io.Writer, found []models.Assigned, m *models.Model) error {
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
	d := documentOf(cmd)
	for g, n := range size {
		d.Groups = append(d.Groups, group{n, m.Groups.Names[g]})
	}
	if d.Out != "" {
		plaintext.Fprintf(&text, "Groups as a table: %s\n", d.Out)
	}
	_, err := w.Write(text.Bytes())
	return err
}

func applyCommand() *cobra.Command {
	var o newSamples
	cmd := o.command("apply", outUsage, ".npz", func(m *models.Model, file string) {
		checkUse(vectorfile.CanWrite(o.out))
		guard.FailIf(m.Result == nil, "%s: the model has no basis vectors; use partwise assign", file)
	}, func(cmd *cobra.Command, m *models.Model, in *inputs) error {
		v, err := m.Represent(cmd.Context(), in.Inputs)
		guard.Check(interruptedError(cmd.Context(), err, "representing"))
		in.writeWithSkipped(cmd, o.out, o.force, func(ctx context.Context) error {
			return writeSet(ctx, o.out, o.force, shards.SetOf(in.Inputs, v))
		})
		n, k := v.Dims()
		d := documentOf(cmd)
		d.Out, d.Samples, d.Features, d.Method = o.out, n, k, m.Method
		var text strings.Builder
		plaintext.Fprintf(&text, "%d samples × %d coefficients are in %s.\n", n, k, nameOfOut(o.out))
		if m.Result.Basis != nil {
			printMisfit(cmd, &text, m.Result.Model, in, v.(*mat.Dense))
		}
		_, err = io.WriteString(cmd.OutOrStdout(), text.String())
		return err
	})
	_ = cmd.MarkFlagRequired("out")
	addSettings(cmd, &o.Data, "labels")
	vectorFlags(cmd, &o.Data)
	return cmd
}

func printMisfit(cmd *cobra.Command, w io.Writer, model factor.Model, in *inputs, v *mat.Dense) {
	d := documentOf(cmd)
	d.RelativeError = new(math.Sqrt(guard.Must(factor.Misfit(cmd.Context(), model, in.X, v))))
	fmt.Fprintf(w, "The relative error ‖X − V·Uᵀ‖/‖X‖ is %.4g.\n", *d.RelativeError)
}
