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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

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

func filesIn(ctx context.Context) *usedFiles { return &invocationIn(ctx).files }

// checkFiles records the files in the arguments and flags of a command. It refuses an output that would replace an input
// or another output.
func checkFiles(cmd *cobra.Command, args []string) {
	of := filesIn(cmd.Context())
	of.addRead(args...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if use, _ := useOf(cmd, f); use == reads {
			of.addRead(f.Value.String())
		}
	})
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if use, _ := useOf(cmd, f); use == writes && f.Value.String() != "" && !isStdout(f.Value.String()) {
			of.addWritten(written{label: "--" + f.Name, path: f.Value.String()})
			if f.Name == "out" && cmd.Flags().Lookup("strict") != nil {
				of.list = skippedList(f.Value.String())
				of.addWritten(written{label: "--" + f.Name, path: of.list})
			}
		}
	})
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
func checkOut(data, out string) {
	refuseInside(data, out, "the results folder %s is inside the data folder; choose another, such as --out %s", out, quote(outFor(data, filepath.Base(out))))
}

// refuseInside ends the command with a usage error if path is dir or inside it.
func refuseInside(dir, path, format string, args ...any) {
	inside, err := output.Inside(dir, path)
	if checkUse(err); inside {
		failUsage(format, args...)
	}
}

// usedFiles holds the files that a command reads and writes. A file that is read must not be replaced: a conflict is a
// usage error, by guard.Fail.
type usedFiles struct {
	list string // the list of skipped files, or "" if none is written

	read    []string
	written []written
}

// written is a file that is written, or a results folder with files and folders of the given names.
type written struct {
	label, path string   // name in messages, such as --out, and path
	names       []string // nil for a file
}

// addRead records files, folders and catalogued data sets that are read.
func (f *usedFiles) addRead(paths ...string) {
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
			w.checkAgainst(path)
		}
	}
}

// addExperiment records the files that an experiment reads.
func (f *usedFiles) addExperiment(e *spec.Experiment) {
	if at, err := catalogue.Find(e.Data.Set, e.Data.Root, e.Data.From); err == nil {
		f.addRead(at)
	}
	f.addRead(e.Files()...)
}

// addReadSet records the files of a data set that was opened by path, and their folders, including targets of links.
func (f *usedFiles) addReadSet(set *datasets.Set, path string) {
	f.addRead(set.Beside...)
	there := slices.DeleteFunc(slices.Clone(f.written), func(w written) bool { _, err := os.Lstat(w.path); return err != nil })
	folders := map[string]bool{}
	for i := range set.Names {
		file := set.File(i)
		folder := filepath.Dir(file)
		isFirst := set.Files != nil && !folders[folder] && !output.SameFile(file, path)
		folders[folder] = folders[folder] || isFirst
		info, err := os.Lstat(file)
		isLink := err == nil && info.Mode()&fs.ModeSymlink != 0
		for _, w := range there {
			if isFirst {
				w.checkAgainst(folder)
			}
			if isLink && w.names != nil || w.names == nil && output.SameFile(w.path, file) {
				w.checkAgainst(file)
			}
		}
	}
}

// addWritten records a file or a results folder that is written.
func (f *usedFiles) addWritten(w written) {
	for _, other := range f.written {
		a, errA := output.Resolve(w.path)
		b, errB := output.Resolve(other.path)
		failUsageIf(w.names == nil && other.names == nil && errA == nil && errB == nil && a == b,
			"%s and %s are both %s; choose different files", other.label, w.label, w.path)
	}
	f.written = append(f.written, w)
	for _, path := range f.read {
		w.checkAgainst(path)
	}
	if w.names != nil {
		f.addRead(w.path) // a command can resume from its results
	}
}

// existing returns the existing ones of the files, outside results folders, that the command writes.
func (f *usedFiles) existing() (paths []string) {
	for _, w := range f.written {
		if info, err := os.Stat(w.path); w.names == nil && err == nil && info.Mode().IsRegular() {
			paths = append(paths, w.path)
		}
	}
	return paths
}

// checkAgainst refuses a w that would replace the file or folder read, or a file in that folder.
func (w written) checkAgainst(read string) {
	for _, name := range w.names {
		at := filepath.Join(w.path, filepath.FromSlash(name))
		if inside, err := output.Inside(at, read); err == nil && inside {
			failUsage("the input %s would be replaced by %s %s, in %s; choose another folder", read, w.label, w.path, at)
		}
	}
	if there, err := os.Lstat(w.path); w.names != nil || err != nil || there.IsDir() {
		return
	}
	failUsageIf(output.SameFile(w.path, read),
		"the input %s would be replaced by %s %s; choose another file", read, w.label, w.path)
	if info, err := os.Stat(read); err != nil || !info.IsDir() {
		return
	}
	for _, path := range []string{w.path, filepath.Dir(w.path)} { // w.path may be a link
		if inside, err := output.Inside(read, path); err == nil && inside {
			failUsage("a file of the input %s would be replaced by %s %s; choose another file", read, w.label, w.path)
		}
	}
}
