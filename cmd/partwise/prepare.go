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
	"time"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/bytesize"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
)

// prepareFlags adds the flags of commands that compute features.
func prepareFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String("memory", "", "memory limit, such as 4GB or 50% (default: half of the memory)")
	f.String("cache", "", "cache folder (default $PARTWISE_CACHE, then the user cache)")
	f.String("cache-size", "", "cache limit, such as 20GB (default $PARTWISE_CACHE_SIZE or 10GB)")
	f.Bool("no-cache", false, "do not cache features")
	cmd.MarkFlagsMutuallyExclusive("cache", "no-cache")
	profileFlag(f)
}

// checkResults refuses a folder of results whose files would replace the experiment's input, or the cache.
func checkResults(cmd *cobra.Command, e *spec.Experiment, out string, names []string) {
	of := filesIn(cmd.Context())
	of.addExperiment(e)
	of.addWritten(written{label: "--out", path: out, names: names})
	if slices.Contains(names, report.SkippedFile) {
		of.list = filepath.Join(out, report.SkippedFile)
	}
	folder := cacheFolder(cmd)
	for _, name := range names {
		name, isFolder := strings.CutSuffix(name, "/")
		if !isFolder || folder == "" {
			continue
		}
		refuseInside(filepath.Join(out, name), folder, "the cache %s is inside the results folder %s; choose another with --cache", folder, filepath.Join(out, name))
	}
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
func (in *inputs) pictures(cmd *cobra.Command, notSame [][2]string) *input.Pictures {
	found := withProgress(cmd, "comparing images", func(show input.Progress) (*input.Pictures, error) {
		return in.Pictures(cmd.Context(), show)
	})
	if found != nil {
		in.SeparateCopies(found, notSame)
	}
	return found
}

func strictFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("strict", false, "stop at the first unusable file instead of skipping it")
}

func skippedList(out string) string {
	if out == "" || isStdout(out) {
		return ""
	}
	return out + ".skipped.csv"
}

func writeSet(ctx context.Context, out string, force bool, set *datasets.Set) error {
	write := vectorfile.WriteNew
	switch {
	case isStdout(out):
		write = invocationIn(ctx).writeVectors
	case force:
		write = vectorfile.Write
	}
	return existsError(write(ctx, out, set.Content()))
}

func (in *inputs) writeWithSkipped(cmd *cobra.Command, out string, force bool, write func(context.Context) error) {
	guard.Check(interruptedError(cmd.Context(), write(cmd.Context()), "writing "+out))
	in.listSkipped(out, force)
}

// listSkipped writes the list of skipped files beside the output. If none was skipped, it only replaces an earlier
// list.
func (in *inputs) listSkipped(out string, force bool) {
	bad, list := in.Bad(), skippedList(out)
	if _, err := os.Lstat(list); list != "" && (len(bad) > 0 || err == nil) {
		guard.Check(writeFile(list, force, func(w io.Writer) error { return datasets.WriteBadFiles(w, bad) }))
	}
}

// prepare computes the features for a command, shows progress, and prints notes about the data. check is called before
// any image is read.
func prepare(cmd *cobra.Command, e *spec.Experiment, opt input.PrepareOptions, check func(*datasets.Set) error) *inputs {
	in := &inputs{removeCache: func() {}}
	cacheSize(cmd) // refuses a wrong value before any work
	filesIn(cmd.Context()).addExperiment(e)
	bars := &stages{w: cmd.ErrOrStderr()}
	bars.begin("reading the data")
	set, err := openSet(cmd, e, check)
	if err == nil {
		bars.end()
		if note := input.SubfoldersNote(set); note != "" && slices.Contains([]string{"apply", "cluster", "features"}, cmd.Name()) {
			documentOf(cmd).Warnings = append(documentOf(cmd).Warnings, note)
			plaintext.Fprintf(cmd.OutOrStdout(), "%s\n", note) // for the commands that use classes, except experiments, which require them
		}
		printNotes(cmd, input.SetNotes(e, set))
		opt.InBlocks, opt.Progress = e.Data.OnDisk, bars.show
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
		if _, ok := errors.AsType[*features.BadSampleError](err); ok {
			how := "experiments skip no files: remove it from the folder"
			if cmd.Flags().Lookup("strict") != nil {
				how = "--strict=false skips unusable files"
			}
			err = fmt.Errorf("%w (%s)", err, how)
		}
		guard.Check(interruptedError(cmd.Context(), err, doing))
	}
	printNotes(cmd, in.SkippedNotes(filesIn(cmd.Context()).list))
	return in
}

func openSet(cmd *cobra.Command, e *spec.Experiment, check func(*datasets.Set) error) (*datasets.Set, error) {
	strict := cmd.Flags().Lookup("strict")
	if strict != nil {
		e.Features.SkipBad = strict.Value.String() == "false"
	}
	set, err := openPart(cmd, e)
	if err != nil {
		return nil, err
	}
	if strict != nil && set.Files == nil && !strict.Changed {
		e.Features.SkipBad = false // a file of vectors is complete or wrong
	}
	err = guard.Try(func() {
		filesIn(cmd.Context()).addReadSet(set, e.Data.Set)
		guard.Check(check(set))
	})
	if err != nil {
		set.Close()
	}
	return set, err
}

func cacheCommand() *cobra.Command {
	var dir string
	cmd := newCommand("cache", func(cmd *cobra.Command, _ []string) error {
		_, u := openCache(dir)
		documentOf(cmd).Cache = &u
		facts := [][2]any{{"folder", plaintext.Line(u.Dir)}, {"entries", u.Entries}, {"size", bytesize.Format(u.Size)}, {"limit", bytesize.Format(u.Limit)}}
		if !u.Oldest.IsZero() {
			facts = append(facts, [2]any{"oldest", "last used on " + u.Oldest.Format(time.DateOnly)})
		}
		return printFacts(cmd.OutOrStdout(), 0, facts)
	})
	cmd.PersistentFlags().StringVar(&dir, "cache", "", "cache folder (default $PARTWISE_CACHE, then the user cache)")
	cmd.AddCommand(newCommand("cache clear", func(cmd *cobra.Command, _ []string) error {
		store, u := openCache(dir)
		guard.Check(store.Clear())
		documentOf(cmd).Cache = &u
		return printFacts(cmd.OutOrStdout(), 0, [][2]any{{"folder", plaintext.Line(u.Dir)}, {"removed", u.Entries}, {"freed", bytesize.Format(u.Size)}})
	}))
	return cmd
}

// openCache opens the cache in the folder dir, or the default one if dir is "".
func openCache(dir string) (*cache.Store, cache.Usage) {
	if dir == "" {
		dir = guard.Must(cache.Default())
	}
	store := guard.Must(cache.Open(dir))
	return store, guard.Must(store.Usage())
}

// cacheFolder returns the folder in the flags, "" for none.
func cacheFolder(cmd *cobra.Command) string {
	folder, _ := cmd.Flags().GetString("cache") // "" for a command without the flags
	if without, err := cmd.Flags().GetBool("no-cache"); folder != "" || without || err != nil {
		return folder
	}
	folder, err := cache.Default()
	if err != nil || os.MkdirAll(folder, 0o777) != nil {
		return "" // no folder is available
	}
	return folder
}

// openStore opens the cache of the flags, or a temporary one, because descriptors are read twice. remove deletes a
// temporary one.
func openStore(cmd *cobra.Command) (store *cache.Store, remove func(), err error) {
	defer guard.Catch(&err)
	folder, remove := cacheFolder(cmd), func() {}
	if folder == "" {
		folder = guard.Must(os.MkdirTemp("", "partwise-"))
		remove = func() { os.RemoveAll(folder) }
	}
	store = guard.Must(cache.Open(folder))
	store.Failed = func(err error) { warner(cmd)(err.Error() + "; continuing without the cache") }
	if size := cacheSize(cmd); size > 0 {
		store.SetLimit(size)
	}
	return store, remove, nil
}

// cacheSize returns the size limit in the flag, 0 for none.
func cacheSize(cmd *cobra.Command) (size int64) {
	text, _ := cmd.Flags().GetString("cache-size") // "" for a command without the flag
	if text != "" {
		var err error
		size, err = bytesize.Parse(text)
		checkUse(guard.Wrap(err, "--cache-size"))
	}
	return size
}
