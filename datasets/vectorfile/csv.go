package vectorfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// Bounds on a line of a CSV file of vectors. A number takes up to 25 bytes.
const (
	mostVectorLine    = 32 << 20
	mostVectorColumns = 1 << 20
)

// readCSV reads a text file, plain or gzipped, with a sample a line and its numbers divided by commas,
// semicolons or tabs. The first line may name the columns. Then the column that the options name, or else
// "label", "class" or "target", holds the classes, "" for an unknown one. A first column "name", or of words,
// holds the samples' names.
func readCSV(in *input) (*Content, error) {
	text, _, _, err := in.unpacked()
	if err != nil {
		return nil, err
	}
	head, _ := text.Peek(1 << 16)
	line, _, _ := strings.Cut(string(head), "\n")
	comma := slices.MaxFunc([]rune{',', ';', '\t'}, func(a, b rune) int {
		return strings.Count(line, string(a)) - strings.Count(line, string(b))
	})
	table := spreadsheet.NewTable(text, comma, mostVectorLine, mostVectorColumns)
	t := csvTable{in: in, label: -1, name: -1}
	for {
		record, err := table.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		isHeader := false
		if t.width == 0 {
			isHeader, err = t.begin(record)
		}
		if err == nil && !isHeader {
			err = t.add(record)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", table.Line, err)
		}
	}
	if len(t.data) == 0 {
		return nil, errors.New("no line holds numbers")
	}
	s, err := in.content(mat.NewDense(t.rows, len(t.data)/t.rows, t.data), t.words)
	if err == nil {
		s.nameSamples(t.names)
	}
	return s, err
}

// csvTable gathers what the lines of a CSV file hold.
type csvTable struct {
	in           *input
	header       []string
	width        int // columns of the first line
	label, name  int // columns, or -1
	rows         int
	data         []float64
	names, words []string
}

// begin looks at the first line, and tells whether it names the columns.
func (t *csvTable) begin(record []string) (isHeader bool, err error) {
	t.width = len(record)
	labels := t.in.opt.Labels
	if namesColumns(record, labels) {
		for _, cell := range record {
			t.header = append(t.header, strings.Clone(cell))
		}
		if t.label, err = findLabels(t.header, labels); t.label != 0 && isNameColumn(record[0]) {
			t.name = 0
		}
		return true, err
	}
	if _, err := strconv.ParseFloat(record[0], 64); err != nil && t.width > 1 {
		t.name = 0
	}
	if labels != "" && labels != "-" {
		return false, fmt.Errorf("no names of columns, so none is called %q", labels)
	}
	return false, nil
}

// add adds a line of a sample.
func (t *csvTable) add(record []string) error {
	if len(record) != t.width {
		return fmt.Errorf("%d columns, want %d as in the first line", len(record), t.width)
	}
	need := 24 * len(record) // lists are copied as they grow
	for j, cell := range record {
		if j == t.label || j == t.name {
			need += 48 + len(cell)
		}
	}
	if err := t.in.take(int64(need), "the table up to it"); err != nil {
		return err
	}
	t.rows++
	for j, cell := range record {
		switch j {
		case t.label:
			t.words = append(t.words, strings.Clone(spreadsheet.Text(cell)))
			continue
		case t.name:
			t.names = append(t.names, strings.Clone(spreadsheet.Text(cell)))
			continue
		}
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			column := strconv.Itoa(j + 1)
			if t.header != nil {
				column += " (" + t.header[j] + ")"
			}
			return fmt.Errorf("column %s: %s is not a finite number", column, spreadsheet.Quote(cell))
		}
		t.data = append(t.data, v)
	}
	return nil
}

// nameColumn is the name of the column of the samples' names that Write makes.
const nameColumn = "name"

// isNameColumn tells whether the first column is that of the samples' names by its own.
func isNameColumn(header string) bool {
	header = strings.ToLower(header)
	return slices.Contains(naming.Headers, header) && !slices.Contains([]string{"id", "row", "sample"}, header)
}

// labelColumns are the names of the column of the labels.
var labelColumns = []string{"label", "class", "target"}

// namesColumns tells whether a first line holds no numbers, or the name of the column of names or labels.
func namesColumns(record []string, labelColumn string) bool {
	isName := func(cell string) bool {
		return cell != "" && cell == labelColumn || slices.Contains(labelColumns, strings.ToLower(cell))
	}
	isNumber := func(cell string) bool {
		_, err := strconv.ParseFloat(cell, 64)
		return err == nil
	}
	return isNameColumn(record[0]) || slices.ContainsFunc(record, isName) || !slices.ContainsFunc(record, isNumber)
}

// findLabels returns the column of the labels, or -1 where there is none.
func findLabels(header []string, labelColumn string) (int, error) {
	names := labelColumns
	if labelColumn != "" {
		names = []string{labelColumn}
	}
	for _, name := range names {
		if j := slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) }); j >= 0 {
			return j, nil
		}
	}
	if labelColumn != "" && labelColumn != "-" {
		return -1, fmt.Errorf("no column is called %q; the columns are %s", labelColumn, naming.Short(header))
	}
	return -1, nil
}
