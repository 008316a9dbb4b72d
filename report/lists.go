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
	"strings"

	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pictures"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// listColumn is a column of a CSV file with a line for each sample.
type listColumn struct {
	name string
	cell func(sample int) string
}

// writeList writes a CSV file with a line for each of n samples.
func (to folder) writeList(name string, n int, columns []listColumn) error {
	var text bytes.Buffer
	out := csv.NewWriter(&text)
	for i := -1; i < n; i++ {
		line := make([]string, len(columns))
		for j, c := range columns {
			if line[j] = c.name; i >= 0 {
				line[j] = c.cell(i)
			}
		}
		out.Write(line) // which cannot fail
	}
	out.Flush()
	return to.writeBytes(name, text.Bytes())
}

// assignments lists the group of each sample, from 1, its class and the given class of its group, if classes
// are known, and how well it fits its group.
func (c Clusters) assignments() []listColumn {
	class := func(l int) string {
		if l < 0 {
			return ""
		}
		return spreadsheet.Cell(c.Classes[l])
	}
	columns := []listColumn{
		{"file", func(i int) string { return spreadsheet.Cell(c.Names[i]) }},
		{"group", func(i int) string { return strconv.Itoa(c.Groups[i] + 1) }},
	}
	if c.Labels != nil {
		columns = append(columns, listColumn{"class", func(i int) string { return class(c.Labels[i]) }})
	}
	if c.GroupClasses != nil {
		columns = append(columns, listColumn{"name", func(i int) string { return class(c.GroupClasses[c.Groups[i]]) }})
	}
	if c.Memberships != nil {
		columns = append(columns, listColumn{"confidence", func(i int) string { return twoDecimals(c.Memberships[i].Confidence, true) }})
	}
	return columns
}

// pictures lists for each picture the original of its stack of copies, whether it is an exact or a near copy,
// the probability that it is an outlier, its sharpness and a remark.
func (c Clusters) pictures() []listColumn {
	p := c.Pictures
	ofCopy := func(i int, text string) string {
		if p.CopyOf[i] == i {
			return ""
		}
		return text
	}
	return []listColumn{
		{"file", func(i int) string { return spreadsheet.Cell(c.Names[i]) }},
		{"copy_of", func(i int) string { return ofCopy(i, spreadsheet.Cell(c.Names[p.CopyOf[i]])) }},
		{"copy", func(i int) string { return ofCopy(i, map[bool]string{true: "near", false: "exact"}[p.Near[i]]) }},
		{"outlier", func(i int) string { return twoDecimals(p.Outlier[i], p.Outlier[i] > 0) }},
		{"sharpness", func(i int) string {
			if p.Sharpness == nil {
				return ""
			}
			return twoDecimals(p.Sharpness[i], p.Sharpness[i] >= 0)
		}},
		{"remark", func(i int) string { return p.Remark[i] }},
	}
}

func twoDecimals(x float64, known bool) string {
	if !known {
		return ""
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// PicturesFound sums up what was found about pictures, as in "12 copies in 5 stacks, 3 blurred, 1 outlier",
// or "" for nothing.
func PicturesFound(p *pipeline.Pictures) string {
	if p == nil {
		return ""
	}
	copies, outliers, remarks, stacks := 0, 0, map[string]int{}, map[int]bool{}
	for i, first := range p.CopyOf {
		if first != i {
			copies++
			stacks[first] = true
		}
		if p.Outlier[i] > 0 {
			outliers++
		}
		remarks[p.Remark[i]]++
	}
	var parts []string
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, text)
		}
	}
	add(copies, phrase.Count(copies, "copy", "copies")+" in "+phrase.Count(len(stacks), "stack", "stacks"))
	for _, remark := range []string{pictures.Blurred, pictures.Blank} {
		add(remarks[remark], fmt.Sprintf("%d %s", remarks[remark], remark))
	}
	add(outliers, phrase.Count(outliers, "outlier", "outliers"))
	return strings.Join(parts, ", ")
}

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

func decodeAssignments(text []byte) (found []Assignment, err error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	header, err := r.Read()
	if err != nil {
		return nil, errors.New(`line 1: want the names of columns, "file" and "group" among them`)
	}
	for _, name := range []string{"file", "group"} {
		if !slices.Contains(header, name) {
			return nil, fmt.Errorf("line 1: there is no column %q", name)
		}
	}
	file, group, name := slices.Index(header, "file"), slices.Index(header, "group"), slices.Index(header, "name")
	for {
		record, err := r.Read()
		if err == io.EOF && len(found) > 0 {
			return found, nil
		} else if err == io.EOF {
			return nil, errors.New("no sample is listed")
		} else if err != nil {
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
}
