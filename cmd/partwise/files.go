package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/internal/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/output"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// use is what a command does with the file or folder that a flag names.
type use int

const (
	names  use = iota // no file
	reads             // a file, a folder or a known set that is read
	writes            // a file that is written
	fills             // a folder in which no file of the user's is ever replaced
)

// flagUse holds what every flag of text names, in all commands. A flag that is not here fails a test.
var flagUse = map[string]use{
	"labels": reads, "links": reads, "pictures": reads, "set": reads, "start": reads, "truth": reads,

	"doc": writes, "profile": writes, "trace": writes, "words": writes,

	"cache": fills, "data": fills, "dir": fills, "to": fills,

	"cache-size": names, "classes": names, "classifier": names, "cluster": names, "features": names, "format": names, "from": names,
	"k": names, "memory": names, "method": names, "mirror": names, "name": names, "neighbours": names, "pattern": names, "rank": names,
	"repeats": names, "scores": names, "seed": names, "significance": names, "solver": names, "split": names, "task": names,
	"test": names, "train": names,
}

// useOf returns what a flag of a command names.
func useOf(cmd *cobra.Command, f *pflag.Flag) (use, bool) {
	if f.Name != "out" {
		of, known := flagUse[f.Name]
		return of, known
	}
	switch cmd.Name() {
	case "cluster", "reproduce", "run":
		return fills, true
	}
	return writes, true
}

// usedFiles are what a command reads and writes. What is read is never replaced.
type usedFiles struct {
	read    []string
	written []written
	list    string // the list of skipped files, "" where none is written
}

// written is a file that is written, or a folder of results in which the files and folders of these names are.
type written struct {
	flag, path string
	names      []string // nil for a file
}

type filesKey struct{}

// filesIn returns the files of the command of a context.
func filesIn(ctx context.Context) *usedFiles {
	if f, ok := ctx.Value(filesKey{}).(*usedFiles); ok {
		return f
	}
	return &usedFiles{}
}

// checkFiles notes which files the arguments and flags of a command name, and returns an error if one
// that is written would replace one that is read, or is written twice.
func checkFiles(cmd *cobra.Command, args []string) (err error) {
	of := &usedFiles{}
	cmd.SetContext(context.WithValue(cmd.Context(), filesKey{}, of))
	_ = of.reads(args...) // nothing is written yet
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if use, _ := useOf(cmd, f); use == reads {
			_ = of.reads(f.Value.String())
		}
	})
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if use, _ := useOf(cmd, f); use == writes && err == nil {
			err = of.writes(written{flag: f.Name, path: f.Value.String()})
			if f.Name == "out" && err == nil && cmd.Flags().Lookup("strict") != nil {
				of.list = skippedList(f.Value.String())
				err = of.writes(written{flag: f.Name, path: of.list})
			}
		}
	})
	return err
}

// reads notes files, folders and known sets that are read.
func (f *usedFiles) reads(paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			if at, err := catalogue.Find(path, "", ""); err == nil && at != "" {
				path = at
			}
		}
		f.read = append(f.read, path)
		for _, w := range f.written {
			if err := w.check(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// readsSet notes the files of a set that was opened by a name or path, and their folders, which may lie behind links.
func (f *usedFiles) readsSet(set *datasets.Set, path string) error {
	if err := f.reads(set.Beside...); err != nil {
		return err
	}
	there := slices.DeleteFunc(slices.Clone(f.written), func(w written) bool {
		_, err := os.Lstat(w.path)
		return err != nil
	})
	if len(there) == 0 {
		return nil
	}
	folders := map[string]bool{}
	for i := range set.Names {
		file := set.File(i)
		folder := filepath.Dir(file)
		if set.Files != nil && !folders[folder] && !sameFile(file, path) {
			folders[folder] = true
			for _, w := range there {
				if err := w.check(folder); err != nil {
					return err
				}
			}
		}
		info, err := os.Lstat(file)
		isLink := err == nil && info.Mode()&fs.ModeSymlink != 0
		for _, w := range there {
			if w.names == nil && sameFile(w.path, file) {
				return w.replaces(file)
			}
			if w.names != nil && isLink {
				if err := w.check(file); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// writes notes a file, or a folder of results, that is written.
func (f *usedFiles) writes(w written) error {
	for _, other := range f.written {
		a, errA := output.Resolve(w.path)
		b, errB := output.Resolve(other.path)
		if w.names == nil && other.names == nil && errA == nil && errB == nil && a == b {
			return usageError{fmt.Errorf("--%s and --%s both name %s", other.flag, w.flag, w.path)}
		}
	}
	f.written = append(f.written, w)
	for _, path := range f.read {
		if err := w.check(path); err != nil {
			return err
		}
	}
	if w.names != nil {
		return f.reads(w.path) // to go on from there
	}
	return nil
}

// check returns an error if a file or folder that is read, or a file in that folder, would be replaced.
func (w written) check(read string) error {
	for _, name := range w.names {
		at := filepath.Join(w.path, filepath.FromSlash(name))
		if inside, err := output.Inside(at, read); err == nil && inside {
			return usageError{fmt.Errorf("%s is read, and --%s %s would replace it in %s; name another folder", read, w.flag, w.path, at)}
		}
	}
	if there, err := os.Lstat(w.path); w.names != nil || err != nil || there.IsDir() {
		return nil
	}
	if sameFile(w.path, read) {
		return w.replaces(read)
	}
	if info, err := os.Stat(read); err != nil || !info.IsDir() {
		return nil
	}
	for _, path := range []string{w.path, filepath.Dir(w.path)} { // which may be a link
		if inside, err := output.Inside(read, path); err == nil && inside {
			return usageError{fmt.Errorf("%s is read, and --%s %s would replace a file in it; name another", read, w.flag, w.path)}
		}
	}
	return nil
}

func (w written) replaces(read string) error {
	return usageError{fmt.Errorf("%s is read, and --%s %s would replace it; name another file", read, w.flag, w.path)}
}

// readsExperiment notes what an experiment reads.
func (f *usedFiles) readsExperiment(e *pipeline.Experiment) error {
	if at, err := catalogue.Find(e.Data.Set, e.Data.Root, e.Data.From); err == nil {
		if err := f.reads(at); err != nil {
			return err
		}
	}
	return f.reads(e.Files()...)
}

// checkNewFiles finds before any work that files cannot be written, or are there already and not to be
// replaced.
func checkNewFiles(force bool, paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		if err := isThere(output.CheckFile(path, force)); err != nil {
			return err
		}
		if err := atomicfile.RemoveStale(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return nil
}

// sameFile tells whether two paths lead to one file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
