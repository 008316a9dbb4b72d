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

// begin looks at the first line. It names the columns if it holds no numbers, or the name of that of names or
// labels.
func (t *csvTable) begin(record []string) (isHeader bool, err error) {
	t.width = len(record)
	first, given := strings.ToLower(record[0]), t.in.opt.Labels
	hasNames := slices.Contains(naming.Headers, first) && !slices.Contains([]string{"id", "row", "sample"}, first)
	isLabel := func(cell string) bool {
		return cell != "" && cell == given || slices.Contains(labelColumns, strings.ToLower(cell))
	}
	isNumber := func(cell string) bool {
		_, err := strconv.ParseFloat(cell, 64)
		return err == nil
	}
	if !hasNames && !slices.ContainsFunc(record, isLabel) && slices.ContainsFunc(record, isNumber) {
		if t.width > 1 && !isNumber(record[0]) {
			t.name = 0
		}
		if given != "" && given != "-" {
			err = fmt.Errorf("no names of columns, so none is called %q", given)
		}
		return false, err
	}
	for _, cell := range record {
		t.header = append(t.header, strings.Clone(cell))
	}
	names := labelColumns
	if given != "" {
		names = []string{given}
	}
	for i := 0; i < len(names) && t.label < 0; i++ {
		t.label = slices.IndexFunc(t.header, func(h string) bool { return strings.EqualFold(h, names[i]) })
	}
	if t.label != 0 && hasNames {
		t.name = 0
	}
	if t.label < 0 && given != "" && given != "-" {
		err = fmt.Errorf("no column is called %q; the columns are %s", given, naming.Short(t.header))
	}
	return true, err
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
		v, err := strconv.ParseFloat(cell, 64)
		switch {
		case j == t.label:
			t.words = append(t.words, strings.Clone(spreadsheet.Text(cell)))
		case j == t.name:
			t.names = append(t.names, strings.Clone(spreadsheet.Text(cell)))
		case err == nil && !math.IsNaN(v) && !math.IsInf(v, 0):
			t.data = append(t.data, v)
		default:
			column := strconv.Itoa(j + 1)
			if t.header != nil {
				column += " (" + t.header[j] + ")"
			}
			return fmt.Errorf("column %s: %s is not a finite number", column, spreadsheet.Quote(cell))
		}
	}
	return nil
}

const nameColumn = "name" // the name of the column of the samples' names that Write makes

// labelColumns are the names of the column of the labels.
var labelColumns = []string{"label", "class", "target"}
