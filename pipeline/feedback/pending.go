package feedback

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/internal/files/output"
)

// Pending returns the path of the GroupsFile in the folder of a store, where a session on the groups
// of this model has corrected them and they are in no results yet. Otherwise it is "", and
// unapplied tells that there are corrections of other groups.
func Pending(dir, model string) (groups string, unapplied bool, err error) {
	log := filepath.Join(dir, LogFile)
	text, err := output.ReadFile(log)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	var last entry
	line := 0
	for text := range bytes.Lines(text) {
		line++
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return "", false, fmt.Errorf("%s: line %d: %w", log, line, err)
		}
		if e.Do == opened || e.Do == finished {
			last = e
		}
	}
	there := func(name string) bool {
		_, err := output.ReadFile(filepath.Join(dir, name))
		return err == nil
	}
	if last.Model != model {
		return "", there(LabelsFile) || there(LinksFile), nil
	}
	if last.Do == opened && there(GroupsFile) {
		groups = filepath.Join(dir, GroupsFile)
	}
	return groups, false, nil
}
