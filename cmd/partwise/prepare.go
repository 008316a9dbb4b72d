package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/progress"
	"github.com/seed4492f2cd/partwise/internal/usedfiles"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report"
)

// prepareFlags adds the flags of where descriptors, words and histograms are kept, of
// how much memory is taken, and of a profile.
func prepareFlags(cmd *cobra.Command) {
	memoryFlag(cmd)
	profileFlag(cmd)
	cmd.Flags().String("cache", "", "folder where what is made of photographs is kept (default $PARTWISE_CACHE, then the user's cache)")
	cmd.Flags().String("cache-size", "", "most that is kept there, as in 20GB (default $PARTWISE_CACHE_SIZE, then 10GB)")
	cmd.Flags().Bool("no-cache", false, "keep nothing of what is made of photographs for the next time")
}

// checkResults refuses a folder of results in which files of these names would replace what the experiment reads, or
// the cache.
func checkResults(cmd *cobra.Command, e *pipeline.Experiment, out string, names []string) error {
	of := filesIn(cmd.Context())
	if err := readsExperiment(of, e); err != nil {
		return err
	}
	if err := of.Writes(usedfiles.Written{Label: "--out", Path: out, Names: names}); err != nil {
		return err
	}
	if slices.Contains(names, report.SkippedFile) {
		of.List = filepath.Join(out, report.SkippedFile)
	}
	folder, err := cacheFolder(cmd)
	if folder == "" || err != nil {
		return err
	}
	for _, name := range names {
		name, isFolder := strings.CutSuffix(name, "/")
		if !isFolder {
			continue
		}
		inside, err := output.Inside(filepath.Join(out, name), folder)
		switch {
		case err != nil:
			return usageError{err}
		case inside:
			return usageError{fmt.Errorf("the cache %s would be among results, in %s; say with --cache where else", folder, filepath.Join(out, name))}
		}
	}
	return nil
}

// inputs are what a command works on, with the folder of their cache.
type inputs struct {
	*pipeline.Inputs
	// folder is the cache, "" for none, and temporary one of this process alone.
	folder, temporary string
}

// Close gives back what the inputs take of memory and disk.
func (in *inputs) Close() {
	if in.Inputs != nil {
		in.Inputs.Close()
	}
	if in.temporary != "" {
		os.RemoveAll(in.temporary)
	}
}

// kept says what is left of the inputs when the work on them is stopped.
func (in *inputs) kept() string { return keptFeatures(in.folder, in.Features.Cached()) }

// pictures looks for copies and sharpness among the pictures.
func (in *inputs) pictures(cmd *cobra.Command) (*pipeline.Pictures, error) {
	return work(cmd, "comparing pictures", in.kept(), func(show pipeline.Progress) (*pipeline.Pictures, error) {
		return in.Pictures(cmd.Context(), show)
	})
}

// openCache opens the cache that the flags say, and where they say none a temporary
// one, since descriptors are read more than once.
func (in *inputs) openCache(size int64) (store *cache.Store, err error) {
	folder := in.folder
	if folder == "" {
		if folder, err = os.MkdirTemp("", "partwise-"); err != nil {
			return nil, err
		}
		in.temporary = folder
	}
	if store, err = cache.Open(folder); err == nil && size > 0 {
		store.SetLimit(size)
	}
	return store, err
}

// strictFlag adds the flag of commands that skip what cannot be used.
func strictFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("strict", false, "end at the first file that cannot be used, in place of skipping and listing it")
}

// skippedList returns the path of the list of skipped files, beside an output.
func skippedList(out string) string {
	if out == "" {
		return "" // standard output
	}
	return out + ".skipped.csv"
}

// setOf returns the samples with other vectors.
func (in *inputs) setOf(x mat.Matrix) *datasets.Set {
	set := &datasets.Set{Name: in.Set.Name, Classes: in.Set.Classes, Labels: in.Labels(), Vectors: x}
	for _, row := range in.Rows {
		set.Names = append(set.Names, in.Set.Names[row])
	}
	return set
}

// writeSet writes a set, whose file must not be there without force.
func writeSet(ctx context.Context, out string, force bool, set *datasets.Set) error {
	write := datasets.WriteNew
	if force {
		write = datasets.Write
	}
	return isThere(write(ctx, out, set))
}

// written writes an output, and the list of skipped files beside it.
func (in *inputs) written(cmd *cobra.Command, out string, force bool, write func(context.Context) error) error {
	ctx := cmd.Context()
	if err := write(ctx); err != nil {
		return stopped(ctx, err, "writing "+out, "the file is as it was, "+in.kept())
	}
	return in.listSkipped(out, force)
}

// listSkipped writes the list of skipped files beside the output. Without any it writes none, but replaces an
// earlier one.
func (in *inputs) listSkipped(out string, force bool) error {
	bad, list := in.Bad(), skippedList(out)
	if _, err := os.Lstat(list); list == "" || len(bad) == 0 && err != nil {
		return nil
	}
	return writeFile(list, force, func(w io.Writer) error { return datasets.WriteBadFiles(w, bad) })
}

// prepare makes the features that a command works on, shows how far it is, and tells what should be known of the
// data. The set is checked before an image is read, and options may be changed then.
func prepare(cmd *cobra.Command, e *pipeline.Experiment, check func(*datasets.Set) error, options ...func(*pipeline.PrepareOptions)) (_ *inputs, err error) {
	in := &inputs{}
	if in.folder, err = cacheFolder(cmd); err != nil {
		return nil, err
	}
	size, err := cacheSize(cmd)
	if err != nil {
		return nil, err
	}
	if err := readsExperiment(filesIn(cmd.Context()), e); err != nil {
		return nil, err
	}
	strict := cmd.Flags().Lookup("strict")
	if strict != nil {
		e.Features.SkipBad = strict.Value.String() == "false"
	}
	bars := &progress.Stages{W: cmd.ErrOrStderr()}
	defer bars.End()
	bars.Begin("looking at the data")
	err = func() error {
		set, err := pipeline.Open(cmd.Context(), e)
		if err != nil {
			return err
		}
		if strict != nil && set.Files == nil && !strict.Changed {
			e.Features.SkipBad = false // a file of vectors is whole or wrong
		}
		if err = filesIn(cmd.Context()).ReadsSet(set, e.Data.Set); err == nil {
			err = check(set)
		}
		if err != nil {
			set.Close()
			return err
		}
		bars.End()
		if note := pipeline.SubfoldersNote(set); note != "" && slices.Contains([]string{"apply", "cluster", "features"}, cmd.Name()) {
			plaintext.Fprintf(cmd.OutOrStdout(), "%s\n", note) // of the commands that use classes, but for experiments, which need them
		}
		tellNotes(cmd.ErrOrStderr(), pipeline.SetNotes(e, set))
		opt := pipeline.PrepareOptions{InBlocks: e.Data.OnDisk, Progress: bars.Show, CacheFailed: func(err error) {
			plaintext.Fprintf(cmd.ErrOrStderr(), "partwise: %v; the work goes on without keeping more\n", err)
		}}
		for _, change := range options {
			change(&opt)
		}
		if e.Features = e.Features.Resolve(set); e.Features.Cached() || opt.Pictures && set.Files != nil && !opt.InBlocks {
			if opt.Cache, err = in.openCache(size); err != nil {
				set.Close()
				return err
			}
		}
		in.Inputs, err = pipeline.PrepareSet(cmd.Context(), e, set, opt)
		return err
	}()
	if err != nil {
		in.Close()
		var bad *features.BadSampleError
		if errors.As(err, &bad) {
			how := "an experiment skips no file: take it out of the folder"
			if strict != nil {
				how = "--strict=false skips what cannot be used"
			}
			err = fmt.Errorf("%w (%s)", err, how)
		}
		doing := bars.What()
		return nil, stopped(cmd.Context(), err, cmp.Or(doing, "looking at the data"), keptFeatures(in.folder, doing != "" && e.Features.Cached()))
	}
	tellNotes(cmd.ErrOrStderr(), in.SkippedNotes(filesIn(cmd.Context()).List))
	collectEarlier(in.X)
	return in, nil
}
