// Package results keeps the results of an experiment in a folder, and reads them again: the log of its
// trials, its summary, and the saved models with their samples and visual words. A [Folder] is locked by
// one process; it is the [pipeline.Sink] of a run, which continues from its content.
package results

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Folder is the folder of an experiment's results, locked by this process.
type Folder struct {
	*output.Folder
	pages []string
}

// Files returns the names of what Run writes, folders with a slash at their ends.
func Files() []string { return []string{LogFile, SummaryFile, SamplesFile, ModelDir + "/"} }

// Open locks the folder dir for the results of the experiment, and creates it if needed. pages are the
// names that Publish will write, folders with a slash at their ends. It refuses a folder of another process
// or experiment, or with a foreign or changed file in the place of its own, and leaves it untouched.
//
// Experiments that differ only in methods, numbers of classes, ranks, repeats and the name share a folder,
// and their trials.
func Open(dir string, e *spec.Experiment, pages ...string) (*Folder, error) {
	if _, err := os.Lstat(filepath.Join(dir, SetsFile)); err == nil {
		return nil, fmt.Errorf("%s has results of an experiment on several sets; choose another name or folder", dir)
	}
	if s, err := readSummary(dir); err == nil {
		if err := s.CheckSame(e); err != nil {
			return nil, fmt.Errorf("%s %w", dir, err)
		}
	}
	return open(dir, append(Files(), pages...), pages)
}

// Reopen opens the folder dir of existing results, to write pages about them.
func Reopen(dir string, pages ...string) (*Folder, error) {
	if _, err := ReadSummary(dir); err != nil {
		return nil, err
	}
	return open(dir, pages, pages)
}

func open(dir string, names, pages []string) (*Folder, error) {
	folder, err := output.Open(dir, output.Spec{Command: "run", Names: names})
	if err != nil {
		return nil, err
	}
	return &Folder{folder, pages}, nil
}

// Publish replaces the pages by the files that write writes into a folder, once all are complete. Other
// pages are removed, except those that write returns.
func (f *Folder) Publish(write func(dir string) (keep []string, err error)) error {
	stage, err := f.Stage(f.pages...)
	if err != nil {
		return err
	}
	defer stage.Discard()
	keep, err := write(stage.Dir())
	if err != nil {
		return err
	}
	stage.Keep(keep...)
	return stage.Publish()
}

// Notes returns a warning of the lines of the log that cannot be read.
func (f *Folder) Notes() (notes []string, err error) {
	_, unread, err := ReadLog(f.Dir())
	if err != nil {
		return nil, err
	}
	if len(unread) > 0 {
		notes = append(notes, fmt.Sprintf("%s has lines that are damaged or from another version of partwise, %d in total, starting at line %d; their trials run again",
			filepath.Join(f.Dir(), LogFile), len(unread), unread[0]))
	}
	return notes, nil
}
