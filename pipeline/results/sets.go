package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/files/output"
)

// SetsFile is the name of the file in the folder of an experiment on several sets that says which
// they are. The results of each are in a folder of its own below, as those of an experiment on
// one.
const SetsFile = "sets.json"

// Sets says what the folder of an experiment on several sets holds.
type Sets struct {
	Name string `json:"name"`
	// Command is the command line that runs it again.
	Command string `json:"command"`
	// Sets are the names of the sets, which are those of their folders.
	Sets         []string          `json:"sets"`
	Significance significance.Rule `json:"significance,omitzero"`
}

// check reports parts that are missing or cannot be.
func (s *Sets) check() error {
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

// OpenSets opens the folder dir for an experiment on several sets, as Open does for one; the
// folders of the sets are opened by Open.
func OpenSets(dir string, pages ...string) (*Folder, error) {
	if _, err := os.Lstat(filepath.Join(dir, SummaryFile)); err == nil {
		return nil, fmt.Errorf("%s holds the results of an experiment on one set: give this one a name or a folder of its own", dir)
	}
	return open(dir, append([]string{SetsFile}, pages...), pages)
}

// WriteSets writes what the folder holds.
func (f *Folder) WriteSets(s *Sets) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return f.folder.Write(SetsFile, append(text, '\n'))
}

// ReadSets reads what the folder of an experiment on several sets holds; nil where it is none.
func ReadSets(dir string) (*Sets, error) {
	path := filepath.Join(dir, SetsFile)
	text, err := output.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &Sets{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err = dec.Decode(s); err == nil {
		err = s.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
