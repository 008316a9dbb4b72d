package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/bytesize"
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

func skippedList(out string) string {
	if out == "" || isStdout(out) {
		return ""
	}
	return out + ".skipped.csv"
}

func writeSet(ctx context.Context, out string, force bool, set *datasets.Set) error {
	write := datasets.WriteNew
	switch {
	case isStdout(out):
		write = invocationIn(ctx).writeSet
	case force:
		write = datasets.Write
	}
	return existsError(write(ctx, out, set))
}

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
	set, err := openPart(cmd, e)
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

func cacheCommand() *cobra.Command {
	var dir string
	cmd := newCommand("cache", func(cmd *cobra.Command, _ []string) error {
		_, u, err := openCache(dir)
		if err != nil {
			return err
		}
		documentOf(cmd).Cache = &u
		facts := [][2]any{{"folder", plaintext.Line(u.Dir)}, {"entries", u.Entries}, {"size", bytesize.Format(u.Size)}, {"limit", bytesize.Format(u.Limit)}}
		if !u.Oldest.IsZero() {
			facts = append(facts, [2]any{"oldest", "last used on " + u.Oldest.Format(time.DateOnly)})
		}
		return printFacts(cmd.OutOrStdout(), 0, facts)
	})
	cmd.PersistentFlags().StringVar(&dir, "cache", "", "cache folder (default $PARTWISE_CACHE, then the user cache)")
	cmd.AddCommand(newCommand("cache clear", func(cmd *cobra.Command, _ []string) error {
		store, u, err := openCache(dir)
		if err == nil {
			err = store.Clear()
		}
		if err != nil {
			return err
		}
		documentOf(cmd).Cache = &u
		return printFacts(cmd.OutOrStdout(), 0, [][2]any{{"folder", plaintext.Line(u.Dir)}, {"removed", u.Entries}, {"freed", bytesize.Format(u.Size)}})
	}))
	return cmd
}

// openCache opens the cache in the folder dir, or the default one if dir is "".
func openCache(dir string) (store *cache.Store, u cache.Usage, err error) {
	if dir == "" {
		if dir, err = cache.Default(); err != nil {
			return nil, u, err
		}
	}
	if store, err = cache.Open(dir); err == nil {
		u, err = store.Usage()
	}
	return store, u, err
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
	folder, remove := cacheFolder(cmd), func() {}
	if folder == "" {
		if folder, err = os.MkdirTemp("", "partwise-"); err != nil {
			return nil, remove, err
		}
		remove = func() { os.RemoveAll(folder) }
	}
	if store, err = cache.Open(folder); err != nil {
		return nil, remove, err
	}
	store.Failed = func(err error) { warner(cmd)(err.Error() + "; continuing without the cache") }
	size, err := cacheSize(cmd)
	if size > 0 {
		store.SetLimit(size)
	}
	return store, remove, err
}

// cacheSize returns the size limit in the flag, 0 for none.
func cacheSize(cmd *cobra.Command) (int64, error) {
	text, err := cmd.Flags().GetString("cache-size")
	if err != nil || text == "" {
		return 0, err
	}
	size, err := bytesize.Parse(text)
	if err != nil {
		return 0, usageError{fmt.Errorf("--cache-size: %w", err)}
	}
	return size, nil
}

// use is what a command does with the file or folder in a flag.
type use int

const (
	noFile use = iota // no file
	reads             // reads a file, a folder or a known set
	writes            // writes a file
	fills             // writes to a folder, but never replaces the user's files
)

// flagUse holds the use of each text flag, except settings without files. A test fails for a missing flag.
var flagUse = map[string]use{
	"labels": reads, "links": reads, "mask": reads, "pictures": reads, "set": reads, "start": reads, "text": reads, "truth": reads, "weights": reads,
	"csv": writes, "doc": writes, "profile": writes, "trace": writes, "words": writes,
	"cache": fills, "data": fills, "dir": fills, "to": fills,
	"by": noFile, "cache-size": noFile, "format": noFile, "from": noFile, "join": noFile, "kinds": noFile, "memory": noFile, "mirror": noFile, "not-same": noFile, "run": noFile, "shard": noFile, "solver": noFile,
}

func useOf(cmd *cobra.Command, f *pflag.Flag) (of use, known bool) {
	if f.Name == "out" {
		if slices.Contains([]string{"cluster", "draws", "join", "pass", "reproduce", "run"}, cmd.Name()) {
			return fills, true
		}
		return writes, true
	}
	of, known = flagUse[f.Name]
	_, isSetting := f.Value.(*settingFlag)
	return of, known || isSetting
}

type filesKey struct{}

func filesIn(ctx context.Context) *usedfiles.Files {
	if f, ok := ctx.Value(filesKey{}).(*usedfiles.Files); ok {
		return f
	}
	return &usedfiles.Files{}
}

// checkFiles records the files in the arguments and flags of a command. It returns an error if an output would replace
// an input or another output.
func checkFiles(cmd *cobra.Command, args []string) (err error) {
	of := &usedfiles.Files{}
	cmd.SetContext(context.WithValue(cmd.Context(), filesKey{}, of))
	_ = of.Reads(args...) // cannot conflict: nothing is written yet
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if use, _ := useOf(cmd, f); use == reads {
			_ = of.Reads(f.Value.String())
		}
	})
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if use, _ := useOf(cmd, f); use == writes && err == nil && f.Value.String() != "" && !isStdout(f.Value.String()) {
			err = of.Writes(usedfiles.Written{Label: "--" + f.Name, Path: f.Value.String()})
			if f.Name == "out" && err == nil && cmd.Flags().Lookup("strict") != nil {
				of.List = skippedList(f.Value.String())
				err = of.Writes(usedfiles.Written{Label: "--" + f.Name, Path: of.List})
			}
		}
	})
	return err
}

func readsExperiment(f *usedfiles.Files, e *spec.Experiment) error {
	if at, err := catalogue.Find(e.Data.Set, e.Data.Root, e.Data.From); err == nil {
		if err := f.Reads(at); err != nil {
			return err
		}
	}
	return f.Reads(e.Files()...)
}

// checkNewFiles returns an error, before any work, for files that cannot be written, or that exist and must not be
// replaced.
func checkNewFiles(force bool, paths ...string) error {
	for _, path := range paths {
		if path == "" || isStdout(path) {
			continue
		}
		if err := cmp.Or(existsError(output.CheckFile(path, force)), atomicfile.RemoveStale(filepath.Dir(path))); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file, which must not exist unless force is set.
func writeFile(path string, force bool, write func(io.Writer) error) error {
	file := atomicfile.CreateFunc
	if force {
		file = atomicfile.WriteFunc
	}
	return existsError(file(path, write))
}

// writeBoth writes a file, if it has a name, and then another. If one fails, the other is unchanged.
func writeBoth(path string, force bool, write func(io.Writer) error, other func() error) error {
	if path == "" {
		return other()
	}
	return writeFile(path, force, func(w io.Writer) error {
		if err := write(w); err != nil {
			return err
		}
		return other()
	})
}

// existsError adds the flag that replaces files to the error of an existing file.
func existsError(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists; --force replaces it", at.Path)
	}
	return err
}

// nameOf returns the name of the results of a known set or a path.
func nameOf(set string) string {
	abs, _ := filepath.Abs(strings.TrimPrefix(set, catalogue.SetPrefix)) // "" without a working folder, which fails later
	if strings.Contains(filepath.Base(abs), "*") {                       // a pattern of shards
		abs = filepath.Dir(abs)
	}
	return filepath.Base(abs)
}

// outFor returns the default folder of results: results/NAME, or a folder beside the data if that is inside the data.
func outFor(data, name string) string {
	out := filepath.Join("results", name)
	if inside, err := output.Inside(data, out); err != nil || !inside {
		return out
	}
	folder, err := output.Resolve(data)
	if err != nil {
		return out
	}
	beside := filepath.Join(filepath.Dir(folder), out)
	if here, err := output.Resolve("."); err == nil {
		if below, err := filepath.Rel(here, beside); err == nil {
			return below
		}
	}
	return beside
}

// fromAnywhere returns the name of data for storing in results. Paths such as .. become absolute, because sort looks
// for the pictures from other folders too.
func fromAnywhere(data string) string {
	if filepath.IsLocal(data) && filepath.Clean(data) != "." || strings.HasPrefix(data, catalogue.SetPrefix) {
		return data
	}
	if abs, err := filepath.Abs(data); err == nil {
		return abs
	}
	return data
}

// checkOut refuses results in a folder of the data, because the next run would read them as images.
func checkOut(data, out string) error {
	inside, err := output.Inside(data, out)
	if err == nil && inside {
		err = fmt.Errorf("the results folder %s is inside the data folder; choose another, such as --out %s", out, quote(outFor(data, filepath.Base(out))))
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}
