package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/passes"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// shardFile is the annotation of commands that write a file for a shard of the samples: the extension of its name.
const shardFile = "shard"

// shardFlag adds the flag for one shard of the samples, which the command writes to a file.
func shardFlag(cmd *cobra.Command, extension string) {
	cmd.Flags().String("shard", "", "write part 3/64 of the samples (from 0/64) into the folder --out")
	cmd.Annotations = map[string]string{shardFile: extension}
}

// shardOf returns the shard in the flag, Of = 0 for none.
func shardOf(cmd *cobra.Command) (s vectorfile.Shard, err error) {
	f := cmd.Flags().Lookup("shard")
	if f == nil || !f.Changed {
		return s, nil
	}
	if s, err = vectorfile.ParseShard(f.Value.String()); err != nil {
		err = usageError{fmt.Errorf("--shard: %w", err)}
	}
	return s, err
}

// nameShard replaces the folder in --out by the shard's file in it, before the files of the command are checked.
func nameShard(cmd *cobra.Command) error {
	s, err := shardOf(cmd)
	extension := cmd.Annotations[shardFile]
	if s.Of == 0 || extension == "" || err != nil {
		return err
	}
	out := cmd.Flags().Lookup("out")
	dir, file := out.Value.String(), s.File("rows", extension)
	if dir == "" || slices.Contains([]string{".npz", ".csv", ".mat"}, filepath.Ext(dir)) {
		return usageError{fmt.Errorf("--out %q: expected a folder, in which --shard %s writes %s", dir, s, file)}
	}
	return out.Value.Set(filepath.Join(dir, file))
}

// openPart opens the data, or the shard of it in the flag. Of data in as many shards it opens only the shard's file.
func openPart(cmd *cobra.Command, e *spec.Experiment) (*datasets.Set, error) {
	of, err := shardOf(cmd)
	if err != nil {
		return nil, err
	}
	if cmd.Annotations[shardFile] == "" { // its shards are parts of the draws
		of = vectorfile.Shard{}
	}
	if of.Of > 0 {
		if paths, err := vectorfile.Shards(e.Data.Set); err == nil && len(paths) == of.Of {
			of, e.Data.Set = vectorfile.Shard{}, paths[of.Index]
		}
	}
	set, err := input.Open(cmd.Context(), e)
	if err != nil || of.Of == 0 {
		return set, err
	}
	e.Features = e.Features.Resolve(set) // by all images
	return set.Shard(of)
}

var errShardDone = errors.New("the shard is already there")

// checkNewOut is checkNewFiles for the files of --out, except a shard, which checkShard checks.
func checkNewOut(cmd *cobra.Command, force bool, out string, more ...string) error {
	if cmd.Flags().Changed("shard") {
		out = ""
	}
	return checkNewFiles(force, append(more, out, skippedList(out))...)
}

// checkShard compares the set with the shard in the file out, if any. It returns errShardDone for a shard of the same set
// and settings, and sets replace for a torn one.
func checkShard(cmd *cobra.Command, e *spec.Experiment, set *datasets.Set, out string, replace *bool, model []byte) error {
	if of, err := shardOf(cmd); of.Of == 0 {
		return err
	}
	if f := e.Features.Resolve(set); model == nil && f.LearnsFromSamples() {
		return usageError{fmt.Errorf("--shard: %s learns from all samples; give words={from:FILE} of partwise vocab, and the scale of joined features", f)}
	}
	settings, err := json.Marshal(e.Features.Document())
	if err != nil {
		return err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %x %s %d %t\n", settings, model, set.Settings, e.Seed, set.Single)
	for _, path := range e.Files()[1:] {
		if sum, err := output.Sum(path); path != "" && err == nil {
			fmt.Fprintln(h, sum)
		}
	}
	for i, name := range set.Names {
		size := int64(0)
		if info, err := os.Stat(set.File(i)); err == nil {
			size = info.Size()
		}
		fmt.Fprintf(h, "%q %d %d\n", name, set.Labels[i], size)
	}
	if set.Vectors != nil {
		matrix.WriteRows(h, set.Vectors, matrix.AllRows(set.Vectors))
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	identity := fmt.Sprintf("%x", h.Sum(nil))
	set.Lists = []vectorfile.List{{Name: "shard", Words: []string{identity}}}
	switch before, err := identityOf(cmd.Context(), out); {
	case before == identity:
		return errShardDone
	case err != nil && cmd.Context().Err() == nil:
		*replace = *replace || isTorn(out)
	}
	return checkNewFiles(*replace, out, skippedList(out))
}

// identityOf returns the identity of a shard, which an .npz file contains. Other files have it in a file beside them, with
// their digest.
func identityOf(ctx context.Context, out string) (string, error) {
	if filepath.Ext(out) != ".npz" {
		text, err := output.ReadFile(besideShard(out))
		sum, sumErr := output.Sum(out)
		if identity, ok := strings.CutSuffix(string(text), " "+sum+"\n"); ok {
			return identity, nil
		}
		return "", cmp.Or(err, sumErr)
	}
	variables, err := vectorfile.Variables(ctx, out)
	for _, v := range variables {
		if v.Name == "shard" && len(v.Text) == 1 {
			return v.Text[0], nil
		}
	}
	return "", err
}

func besideShard(out string) string {
	return filepath.Join(filepath.Dir(out), ".partwise-"+filepath.Base(out))
}

// writeIdentity writes the identity of a shard beside its file, if the command has --shard.
func writeIdentity(cmd *cobra.Command, out string, set *datasets.Set) error {
	if !cmd.Flags().Changed("shard") {
		return nil
	}
	sum, err := output.Sum(out)
	if err != nil {
		return err
	}
	return atomicfile.Write(besideShard(out), []byte(set.Lists[0].Words[0]+" "+sum+"\n"))
}

// isTorn reports whether an unreadable file begins as a shard does. Any other file is not of partwise.
func isTorn(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "PK\x03\x04"
}

// doneShard replaces errShardDone by a message.
func doneShard(cmd *cobra.Command, out string, err error) error {
	if errors.Is(err, errShardDone) {
		return say(cmd, "%s is already there.\n", out)
	}
	return err
}

func vocabCommand() *cobra.Command {
	var words int
	e := &spec.Experiment{}
	describe := func(cmd *cobra.Command, args []string) error {
		of, err := shardOf(cmd)
		switch {
		case err != nil:
			return err
		case of.Of == 0:
			return usageError{errors.New("expected --shard, to write descriptors of images, or --passes, to learn words from them")}
		case !e.Features.OfWords():
			return usageError{errors.New("--shard needs the features of the words, such as --features sift=dense,words=1000")}
		}
		out, replace := cmd.Flags().Lookup("out").Value.String(), cmd.Flags().Lookup("force").Value.String() == "true"
		// A classification learns the words of each draw, so the images are only described.
		e.Data.Set, e.Task = args[0], spec.Classification
		in, err := prepare(cmd, e, input.PrepareOptions{}, func(set *datasets.Set) error {
			e.Features.Words.From = "-" // nothing is learned
			defer func() { e.Features.Words.From = "" }()
			return checkShard(cmd, e, set, out, &replace, nil)
		})
		if err != nil {
			return doneShard(cmd, out, err)
		}
		defer in.Close()
		vectors, dim, err := in.Bag.Sample(cmd.Context(), in.Rows, e.Seed)
		if err != nil {
			return err
		}
		n := len(vectors) / max(dim, 1)
		set := in.setOf(vectorfile.NewBytes(n, dim, vectors))
		set.Classes, set.Names, set.Labels = nil, make([]string, n), make([]int, n)
		for i := range n {
			set.Names[i], set.Labels[i] = fmt.Sprintf("descriptor %d of shard %s", i+1, of), -1
		}
		err = in.writeWithSkipped(cmd, out, replace, func(ctx context.Context) error { return writeSet(ctx, out, replace, set) })
		if err != nil {
			return err
		}
		return say(cmd, "%d descriptors of %d images are in %s.\n", n, len(in.Rows), out)
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
	return withPasses(cmd, func(*cobra.Command, *spec.Experiment) (spec.Method, passes.Run, error) {
		if words < 1 {
			return spec.Method{}, passes.Run{}, fmt.Errorf("--count %d: expected 1 or more", words)
		}
		return spec.Method{Name: spec.KMeans}, passes.Run{Rank: words, Words: true}, nil
	})
}
