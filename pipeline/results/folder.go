// Package results stores the results of an experiment in a folder, and reads them: the log of trials, the summary, and
// the saved models with their samples and visual words. One process locks a [Folder]. It is the [pipeline.Sink] of a
// run, which continues from its content.
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

// Files returns the names of the files and folders that Run writes; folders end with a slash.
func Files() []string { return []string{LogFile, SummaryFile, SamplesFile, ModelDir + "/"} }

// Open locks the folder dir for the results of the experiment, and creates it if needed. pages are the names that
// Publish will write; folders end with a slash. Open refuses a folder that another process has locked or that holds
// another experiment, or that has a foreign or changed file under one of its names. It leaves such a folder unchanged.
//
// Experiments that differ only in methods, numbers of classes, ranks, repeats or the name can share a folder and its
// trials.
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

// Publish replaces all pages by the files that write puts into dir, once all are complete. Pages that write did not
// write are removed, except the names that it returns in keep.
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

// Notes returns a warning if the log has unreadable lines.
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
