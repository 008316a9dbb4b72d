package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/passes"
	"github.com/seed4492f2cd/partwise/pipeline/shards"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// shardFile is the annotation of commands that write a file for a shard of the samples: the extension of its name.
const shardFile = "shard"

// shardFlag adds the flag for one shard of the samples, which the command writes to a file.
func shardFlag(cmd *cobra.Command, extension string) {
	cmd.Flags().String("shard", "", "write part 3/64 of the samples (from 0/64) into the folder --out")
	cmd.Annotations = map[string]string{shardFile: extension}
	work := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := work(cmd, args)
		if errors.Is(err, shards.ErrDone) {
			return say(cmd, "%s is already there.\n", cmd.Flags().Lookup("out").Value)
		}
		return err
	}
}

// shardOf returns the shard in the flag, Of = 0 for none. A wrong one is a usage error.
func shardOf(cmd *cobra.Command) (s vectorfile.Shard) {
	f := cmd.Flags().Lookup("shard")
	if f == nil || !f.Changed {
		return s
	}
	s, err := vectorfile.ParseShard(f.Value.String())
	checkUse(guard.Wrap(err, "--shard"))
	return s
}

// nameShard replaces the folder in --out by the shard's file in it, before the files of the command are checked.
func nameShard(cmd *cobra.Command) {
	s, extension := shardOf(cmd), cmd.Annotations[shardFile]
	if s.Of == 0 || extension == "" {
		return
	}
	out := cmd.Flags().Lookup("out")
	dir, file := out.Value.String(), s.File("rows", extension)
	failUsageIf(dir == "" || slices.Contains([]string{".npz", ".csv", ".mat"}, filepath.Ext(dir)),
		"--out %q: expected a folder, in which --shard %s writes %s", dir, s, file)
	guard.Check(out.Value.Set(filepath.Join(dir, file)))
}

// openPart opens the data, or the shard of it in the flag. Of data in as many shards it opens only the shard's file.
func openPart(cmd *cobra.Command, e *spec.Experiment) (*datasets.Set, error) {
	of := shardOf(cmd)
	if cmd.Annotations[shardFile] == "" { // its shards are parts of the draws
		of = vectorfile.Shard{}
	}
	return shards.Open(cmd.Context(), e, of)
}

// checkNewOut is checkNewFiles for the files of --out, except a shard, which checkShard checks.
func checkNewOut(cmd *cobra.Command, force bool, out string, more ...string) error {
	if cmd.Flags().Changed("shard") {
		out = ""
	}
	return checkNewFiles(force, append(more, out, skippedList(out))...)
}

// checkShard compares the set with the shard in the file out, if any. It returns shards.ErrDone for a shard of the same set
// and settings, and sets replace for a torn one.
func checkShard(cmd *cobra.Command, e *spec.Experiment, set *datasets.Set, out string, replace *bool, model []byte) error {
	if shardOf(cmd).Of == 0 {
		return nil
	}
	if model == nil {
		err := shards.CheckFeatures(e.Features.Resolve(set))
		failUsageIf(err != nil, "--%w", err)
	}
	torn, err := shards.Check(cmd.Context(), e, set, out, model)
	guard.Check(err)
	*replace = *replace || torn
	guard.Check(os.MkdirAll(filepath.Dir(out), 0o777))
	return checkNewFiles(*replace, out, skippedList(out))
}

func vocabCommand() *cobra.Command {
	var words int
	e := &spec.Experiment{}
	describe := func(cmd *cobra.Command, args []string) error {
		of := shardOf(cmd)
		failUsageIf(of.Of == 0, "expected --shard, to write descriptors of images, or --passes, to learn words from them")
		failUsageIf(!e.Features.OfWords(),
			"--shard needs the features of the words, such as --features sift=dense,words=1000")
		out, replace := cmd.Flags().Lookup("out").Value.String(), cmd.Flags().Lookup("force").Value.String() == "true"
		// A classification learns the words of each draw, so the images are only described.
		e.Data.Set, e.Task = args[0], spec.Classification
		in := prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) error {
			e.Features.Words.From = "-" // nothing is learned
			defer func() { e.Features.Words.From = "" }()
			return checkShard(cmd, e, set, out, &replace, nil)
		})
		defer in.Close()
		set := guard.Must(shards.Descriptors(cmd.Context(), in.Inputs, of, e.Seed))
		in.writeWithSkipped(cmd, out, replace, func(ctx context.Context) error { return writeSet(ctx, out, replace, set) })
		return say(cmd, "%d descriptors of %d images are in %s.\n", set.Len(), len(in.Rows), out)
	}
	cmd := newCommand("vocab", describe)
	f := cmd.Flags()
	f.IntVar(&words, "count", 1000, "number of visual words, with --passes")
	f.StringP("out", "o", "", "output .npz file of words, or with --shard the folder of descriptors")
	_ = cmd.MarkFlagRequired("out")
	f.Bool("force", false, "replace existing files")
	addSettings(cmd, e, "features", "seed")
	shardFlag(cmd, ".npz")
	strictFlag(cmd)
	dataFlags(cmd, &e.Data)
	prepareFlags(cmd)
	return withPasses(cmd, func(*cobra.Command, *spec.Experiment) (spec.Method, passes.Run) {
		failUsageIf(words < 1, "--count %d: expected 1 or more", words)
		return spec.Method{Name: spec.KMeans}, passes.Run{Rank: words, Words: true}
	})
}
