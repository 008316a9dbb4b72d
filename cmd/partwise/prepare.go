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
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/usedfiles"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
)

// prepareFlags adds the flags of commands that compute features. The command must have its RunE.
func prepareFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String("memory", "", "memory limit, such as 4GB or 50% (default: half of the memory)")
	f.String("cache", "", "cache folder (default $PARTWISE_CACHE, then the user cache)")
	f.String("cache-size", "", "cache limit, such as 20GB (default $PARTWISE_CACHE_SIZE or 10GB)")
	f.Bool("no-cache", false, "do not cache features")
	cmd.MarkFlagsMutuallyExclusive("cache", "no-cache")
	profileFlag(cmd)
}

// checkResults refuses a folder of results whose files would replace the experiment's input, or the cache.
func checkResults(cmd *cobra.Command, e *spec.Experiment, out string, names []string) error {
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
	folder := cacheFolder(cmd)
	for _, name := range names {
		name, isFolder := strings.CutSuffix(name, "/")
		if !isFolder || folder == "" {
			continue
		}
		inside, err := output.Inside(filepath.Join(out, name), folder)
		if err == nil && inside {
			err = fmt.Errorf("the cache %s is inside the results folder %s; choose another with --cache", folder, filepath.Join(out, name))
		}
		if err != nil {
			return usageError{err}
		}
	}
	return nil
}

type inputs struct {
	*input.Inputs
	removeCache func()
}

// Close releases the memory and the temporary cache of the inputs.
func (in *inputs) Close() {
	if in.Inputs != nil {
		in.Inputs.Close()
	}
	in.removeCache()
}

// pictures returns the findings about photos. The pairs of names in notSame are no copies.
func (in *inputs) pictures(cmd *cobra.Command, notSame [][2]string) (*input.Pictures, error) {
	found, err := withProgress(cmd, "comparing images", func(show input.Progress) (*input.Pictures, error) {
		return in.Pictures(cmd.Context(), show)
	})
	if found != nil {
		in.SeparateCopies(found, notSame)
	}
	return found, err
}

func strictFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("strict", false, "stop at the first unusable file instead of skipping it")
}

// skippedList returns the path of the list of skipped files for an output.
func skippedList(out string) string {
	if out == "" {
		return "" // standard output
	}
	return out + ".skipped.csv"
}

// setOf returns the samples with other vectors.
func (in *inputs) setOf(x mat.Matrix) *datasets.Set {
	return &datasets.Set{Name: in.Set.Name, Names: matrix.Take(in.Set.Names, in.Rows), Classes: in.Set.Classes, Labels: in.Labels(), Vectors: x}
}

func writeSet(ctx context.Context, out string, force bool, set *datasets.Set) error {
	write := datasets.WriteNew
	if force {
		write = datasets.Write
	}
	return existsError(write(ctx, out, set))
}

// writeWithSkipped writes an output, and the list of skipped files beside it.
func (in *inputs) writeWithSkipped(cmd *cobra.Command, out string, force bool, write func(context.Context) error) error {
	if err := write(cmd.Context()); err != nil {
		return interruptedError(cmd.Context(), err, "writing "+out)
	}
	return in.listSkipped(out, force)
}

// listSkipped writes the list of skipped files beside the output. If none was skipped, it only replaces an earlier
// list.
func (in *inputs) listSkipped(out string, force bool) error {
	bad, list := in.Bad(), skippedList(out)
	if _, err := os.Lstat(list); list == "" || len(bad) == 0 && err != nil {
		return nil
	}
	return writeFile(list, force, func(w io.Writer) error { return datasets.WriteBadFiles(w, bad) })
}

// prepare computes the features for a command, shows progress, and prints notes about the data. check is called before
// any image is read.
func prepare(cmd *cobra.Command, e *spec.Experiment, opt input.PrepareOptions, check func(*datasets.Set) error) (*inputs, error) {
	in := &inputs{removeCache: func() {}}
	if _, err := cacheSize(cmd); err != nil {
		return nil, err
	}
	if err := readsExperiment(filesIn(cmd.Context()), e); err != nil {
		return nil, err
	}
	bars := &stages{w: cmd.ErrOrStderr()}
	bars.begin("reading the data")
	set, err := openSet(cmd, e, check)
	if err == nil {
		bars.end()
		if note := input.SubfoldersNote(set); note != "" && slices.Contains([]string{"apply", "cluster", "features"}, cmd.Name()) {
			plaintext.Fprintf(cmd.OutOrStdout(), "%s\n", note) // for the commands that use classes, except experiments, which require them
		}
		printNotes(cmd, input.SetNotes(e, set))
		opt.InBlocks, opt.Progress = e.Data.OnDisk, bars.show
		opt.CacheFailed = func(err error) { warner(cmd)(err.Error() + "; continuing without the cache") }
		if e.Features = e.Features.Resolve(set); e.Features.Cached() || opt.Pictures && set.Files != nil && !opt.InBlocks {
			opt.Cache, in.removeCache, err = openStore(cmd)
		}
		if err == nil {
			in.Inputs, err = input.PrepareSet(cmd.Context(), e, set, opt)
		} else {
			set.Close()
		}
	}
	doing := cmp.Or(bars.what, "reading the data")
	bars.end()
	if err != nil {
		in.Close()
		var bad *features.BadSampleError
		if errors.As(err, &bad) {
			how := "experiments skip no files: remove it from the folder"
			if cmd.Flags().Lookup("strict") != nil {
				how = "--strict=false skips unusable files"
			}
			err = fmt.Errorf("%w (%s)", err, how)
		}
		return nil, interruptedError(cmd.Context(), err, doing)
	}
	printNotes(cmd, in.SkippedNotes(filesIn(cmd.Context()).List))
	return in, nil
}

func openSet(cmd *cobra.Command, e *spec.Experiment, check func(*datasets.Set) error) (*datasets.Set, error) {
	strict := cmd.Flags().Lookup("strict")
	if strict != nil {
		e.Features.SkipBad = strict.Value.String() == "false"
	}
	set, err := input.Open(cmd.Context(), e)
	if err != nil {
		return nil, err
	}
	if strict != nil && set.Files == nil && !strict.Changed {
		e.Features.SkipBad = false // a file of vectors is complete or wrong
	}
	if err = filesIn(cmd.Context()).ReadsSet(set, e.Data.Set); err == nil {
		err = check(set)
	}
	if err != nil {
		set.Close()
		return nil, err
	}
	return set, nil
}
