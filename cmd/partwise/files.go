package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/usedfiles"
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
	"labels": reads, "links": reads, "pictures": reads, "set": reads, "start": reads, "text": reads, "truth": reads, "weights": reads,
	"csv": writes, "doc": writes, "profile": writes, "trace": writes, "words": writes,
	"cache": fills, "data": fills, "dir": fills, "to": fills,
	"by": noFile, "cache-size": noFile, "format": noFile, "from": noFile, "kinds": noFile, "memory": noFile, "mirror": noFile, "not-same": noFile, "solver": noFile,
}

func useOf(cmd *cobra.Command, f *pflag.Flag) (of use, known bool) {
	if f.Name == "out" {
		if slices.Contains([]string{"cluster", "draws", "reproduce", "run"}, cmd.Name()) {
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
		if use, _ := useOf(cmd, f); use == writes && err == nil {
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
		if path == "" {
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
