package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// Assignment is a line of a grouping's AssignmentsFile.
type Assignment struct {
	Line   int    // from 1
	Sample string // its name
	Group  int    // from 1, or 0 for none
	Name   string // the given class of the group, or ""
}

// ReadAssignments returns the groups of samples in the folder of a grouping, and the path or name of the data.
// The file may have been edited by hand: other columns than "file", "group" and "name" are ignored.
func ReadAssignments(dir string) (found []Assignment, data string, err error) {
	if data, err = groupedData(dir); err != nil {
		return nil, "", err
	}
	found, err = ReadAssignmentsFile(filepath.Join(dir, AssignmentsFile))
	return found, data, err
}

// ReadAssignmentsFile returns the groups of samples in a file of the format of AssignmentsFile.
func ReadAssignmentsFile(path string) ([]Assignment, error) {
	text, err := output.ReadFile(path)
	if err != nil {
		return nil, err
	}
	found, err := decodeAssignments(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

func decodeAssignments(text []byte) ([]Assignment, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	header, err := r.Read()
	if err != nil {
		return nil, errors.New(`line 1: want the names of columns, "file" and "group" among them`)
	}
	file, group, name := slices.Index(header, "file"), slices.Index(header, "group"), slices.Index(header, "name")
	for _, c := range []struct {
		name string
		at   int
	}{{"file", file}, {"group", group}} {
		if c.at < 0 {
			return nil, fmt.Errorf("line 1: there is no column %q", c.name)
		}
	}
	var found []Assignment
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err // with its line
		}
		line, _ := r.FieldPos(0)
		a := Assignment{Line: line, Sample: spreadsheet.Text(record[file])}
		if a.Group, err = strconv.Atoi(record[group]); err != nil || a.Group < 0 {
			return nil, fmt.Errorf("line %d: group %q; want a number from 1, or 0 for none of them", line, record[group])
		}
		if name >= 0 {
			a.Name = spreadsheet.Text(record[name])
		}
		found = append(found, a)
	}
	if len(found) == 0 {
		return nil, errors.New("no sample is listed")
	}
	return found, nil
}
