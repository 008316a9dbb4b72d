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

	"github.com/seed4492f2cd/partwise/internal/output"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// Assignment is a line of a grouping's AssignmentsFile.
type Assignment struct {
	// Line is where it stands, from 1.
	Line int
	// Sample is the sample's name, and Group its group, from 1, or 0 where it belongs to
	// none.
	Sample string
	Group  int
	// Name is the class that was told of samples in the group, or "".
	Name string
}

// ReadAssignments returns which sample is in which group in the folder of a grouping, and the
// data that were grouped, as a path or a name. The file may have been changed by hand:
// other columns than "file", "group" and "name" are not looked at.
func ReadAssignments(dir string) (found []Assignment, data string, err error) {
	command, data, err := output.Written(dir)
	if err != nil {
		return nil, "", err
	}
	if command != "cluster" {
		return nil, "", fmt.Errorf("%s holds results of partwise %s, and no groups", dir, command)
	}
	found, err = ReadAssignmentsFile(filepath.Join(dir, AssignmentsFile))
	return found, data, err
}

// ReadAssignmentsFile returns which sample is in which group in a file of the form of an
// AssignmentsFile.
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
