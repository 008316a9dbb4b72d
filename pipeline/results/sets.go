package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
)

// SetsFile is the name of the file that lists the sets of an experiment on several sets. The results of
// each are in a folder of its own below.
const SetsFile = "sets.json"

// Sets describes the folder of an experiment on several sets.
type Sets struct {
	Name string `json:"name"`
	// Command is the command line that runs it again.
	Command string `json:"command"`
	// Sets are the names of the sets and of their folders.
	Sets         []string          `json:"sets"`
	Significance significance.Rule `json:"significance,omitzero"`
}

// Check returns an error for missing or invalid parts.
func (s *Sets) Check() error {
	if s.Name == "" || len(s.Sets) < 2 {
		return errors.New("not the list of the sets of an experiment")
	}
	seen := map[string]bool{}
	for _, name := range s.Sets {
		if filename.Safe(name) != name || seen[name] {
			return fmt.Errorf("%q names no folder of a set", name)
		}
		seen[name] = true
	}
	return nil
}

// OpenSets opens the folder dir for an experiment on several sets, as Open does for one. Open opens the
// folders of the sets.
func OpenSets(dir string, pages ...string) (*Folder, error) {
	if _, err := os.Lstat(filepath.Join(dir, SummaryFile)); err == nil {
		return nil, fmt.Errorf("%s holds the results of an experiment on one set: give this one a name or a folder of its own", dir)
	}
	return open(dir, append([]string{SetsFile}, pages...), pages)
}

// WriteSets writes the SetsFile.
func (f *Folder) WriteSets(s *Sets) error { return writeJSON(f.Folder, SetsFile, s) }

// ReadSets reads the SetsFile of a folder; nil if there is none.
func ReadSets(dir string) (*Sets, error) {
	s := &Sets{}
	err := readJSON(filepath.Join(dir, SetsFile), s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}
