package results

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/vocab"
)

// Folder is the folder of an experiment's results, open for writing by this process
// alone.
type Folder struct {
	folder *output.Folder
	pages  []string
}

// Files returns the names of what Run writes, folders with a slash at their ends.
func Files() []string { return []string{LogFile, SummaryFile, SamplesFile, ModelDir + "/"} }

// Open opens the folder dir for the results of the experiment, and makes it if need
// be. pages are the names of what Publish will write there, folders with a slash at
// their ends. It is an error if another process has the folder, if it cannot be
// written, if it holds the results of another experiment, or if a file stands under a
// name that will be written which partwise did not write or which was changed since.
// The folder is not touched then.
//
// Two experiments are one as long as they differ only in methods, numbers of
// classes, ranks, repeats and the name, so that they may share trials.
func Open(dir string, e *pipeline.Experiment, pages ...string) (*Folder, error) {
	if _, err := os.Lstat(filepath.Join(dir, SetsFile)); err == nil {
		return nil, fmt.Errorf("%s holds the results of an experiment on several sets: give this one a name or a folder of its own", dir)
	}
	if s, err := readSummary(dir); err == nil {
		if err := s.CheckSame(e); err != nil {
			return nil, fmt.Errorf("%s %w", dir, err)
		}
	}
	return open(dir, append(Files(), pages...), pages)
}

// Reopen opens the folder dir of an experiment's results to write pages about them,
// as Open does. It is an error if there are no results.
func Reopen(dir string, pages ...string) (*Folder, error) {
	if _, err := ReadSummary(dir); err != nil {
		return nil, err
	}
	return open(dir, pages, pages)
}

func open(dir string, names, pages []string) (*Folder, error) {
	folder, err := output.Open(dir, output.Spec{Command: "run", Names: names, Adopt: recognise})
	if err != nil {
		return nil, err
	}
	return &Folder{folder, pages}, nil
}

// Dir returns the folder as it was given to Open.
func (f *Folder) Dir() string { return f.folder.Dir() }

// Close gives the folder to others. It removes the folder if Open made it and
// nothing was written.
func (f *Folder) Close() error { return f.folder.Close() }

// Write writes a file that is one of the pages given to Open, in one step.
func (f *Folder) Write(name string, text []byte) error { return f.folder.Write(name, text) }

// Publish replaces the pages by what write writes into a folder that it is given,
// and does so when all of it is there. What it does not write is removed, but
// for the names that it returns.
func (f *Folder) Publish(write func(dir string) (keep []string, err error)) error {
	stage, err := f.folder.Stage(f.pages...)
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

// Notes reports, a line each, the lines of the log that cannot be read.
func (f *Folder) Notes() (notes []string, err error) {
	_, unread, err := ReadLog(f.Dir())
	if err != nil {
		return nil, err
	}
	if len(unread) > 0 {
		notes = append(notes, fmt.Sprintf("lines of %s are damaged or of another version of partwise, %d in all, the first of them line %d; they are kept, and their trials run again",
			filepath.Join(f.Dir(), LogFile), len(unread), unread[0]))
	}
	return notes, nil
}

// modelName is the form of the names of saved models.
var modelName = regexp.MustCompile(`^.+-[0-9a-f]{16}\.npz$`)

// recognise returns the files of an experiment's folder that an earlier version
// wrote, which kept no list of them. A folder is taken up only if its log and its
// summary can be read to the last line; pages, which might be anybody's, are not.
func recognise(dir string) ([]string, error) {
	if _, err := ReadSummary(dir); err != nil {
		return nil, nil
	}
	records, damaged, err := ReadLog(dir)
	if err != nil || len(records) == 0 || len(damaged) > 0 {
		return nil, nil
	}
	names := []string{LogFile, SummaryFile}
	if _, err := os.Lstat(filepath.Join(dir, SamplesFile)); err == nil {
		names = append(names, SamplesFile) // which ReadSummary read
	}
	models, err := os.ReadDir(filepath.Join(dir, ModelDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range models {
		path := filepath.Join(dir, ModelDir, e.Name())
		if !e.Type().IsRegular() {
			continue
		}
		ours := false
		switch {
		case e.Name() == WordsFile:
			ours = isVocabulary(path)
		case modelName.MatchString(e.Name()):
			_, err := loadModel(path)
			ours = err == nil || errors.Is(err, factor.ErrNoModel)
		}
		if ours {
			names = append(names, ModelDir+"/"+e.Name())
		}
	}
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !info.Mode().IsRegular() {
			return nil, nil
		}
	}
	return names, nil
}

func isVocabulary(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	_, err = vocab.Load(context.Background(), f, info.Size())
	return err == nil
}
