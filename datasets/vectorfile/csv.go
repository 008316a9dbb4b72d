package vectorfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/zipfile"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// CSV reads a set of vectors from a text file, plain or gzipped, with a sample
// a line and its numbers divided by commas, semicolons or tabs. The first line
// may name the columns. Then the column that opt.Labels names, or else one
// called "label", "class" or "target", holds the classes; an empty cell there
// is an unknown class. A first column called "name" holds the samples' names.
// All other cells must be finite numbers. The text is in UTF-8, a line has at most
// 32 MB and a million columns. An apostrophe before a class or a name that begins
// as a formula does, which Write puts there, is taken away.
func CSV(path string, opt Options) (*Content, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	room := opt.room()
	x, names, words, err := parseCSV(f, opt.Labels, room)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s, err := newVectorSet(path, x, words, opt, room)
	if err == nil {
		s.nameSamples(names)
	}
	return s, err
}

// Bounds on a line of a CSV file of vectors. A number takes up to 25 bytes.
const (
	mostVectorLine    = 32 << 20
	mostVectorColumns = 1 << 20
)

// delimiter returns the character that most often divides the first line.
func delimiter(text string) rune {
	line, _, _ := strings.Cut(text, "\n")
	best := ','
	for _, r := range ";\t" {
		if strings.Count(line, string(r)) > strings.Count(line, string(best)) {
			best = r
		}
	}
	return best
}

// parseCSV reads the matrix and, where there is a column for them, the names and
// the labels. The file may be gzipped.
func parseCSV(file io.Reader, labelColumn string, room *room) (x *mat.Dense, names, words []string, err error) {
	in, _, err := zipfile.Gunzip(room.reader(file))
	if err != nil {
		return nil, nil, nil, err
	}
	firstLine, _ := in.Peek(1 << 16)
	comma := delimiter(string(firstLine))
	r := spreadsheet.NewTable(in, comma, mostVectorLine, mostVectorColumns)
	var (
		width  = 0 // columns of the first line
		label  = -1
		name   = -1
		header []string
		data   []float64
	)
	// A list of words doubles as it grows.
	word := func(words []string, cell string) ([]string, error) {
		err := room.take(int64(len(cell))+48, "a list of words")
		return append(words, strings.Clone(spreadsheet.Text(cell))), err
	}
	for first := true; ; first = false {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, nil, err
		}
		line := r.Line
		if first {
			width = len(record)
			if isHeader(record, labelColumn) {
				for _, cell := range record {
					header = append(header, strings.Clone(cell))
				}
				if label, err = findLabels(header, labelColumn); err != nil {
					return nil, nil, nil, fmt.Errorf("line %d: %w", line, err)
				}
				if label != 0 && isNameColumn(header[0]) {
					name = 0
				}
				continue
			}
			if _, err := strconv.ParseFloat(strings.TrimSpace(record[0]), 64); err != nil && width > 1 {
				name = 0
			}
			if labelColumn != "" && labelColumn != "-" {
				return nil, nil, nil, fmt.Errorf("line %d: no names of columns, so none is called %q", line, labelColumn)
			}
		}
		if len(record) != width {
			return nil, nil, nil, fmt.Errorf("line %d: %d columns, want %d as in the first line", line, len(record), width)
		}
		for j, cell := range record {
			if j == label || j == name {
				list := &names
				if j == label {
					list = &words
				}
				if *list, err = word(*list, cell); err != nil {
					return nil, nil, nil, fmt.Errorf("line %d: %w", line, err)
				}
				continue
			}
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, nil, nil, fmt.Errorf("line %d, column %s: %s is no number to work with", line, columnName(header, j), spreadsheet.Quote(cell))
			}
			if len(data) == cap(data) {
				more := max(2*cap(data), 1024)
				if err := room.numbers(int64(more), fmt.Sprintf("line %d: the table up to it", line)); err != nil {
					return nil, nil, nil, err
				}
				room.give(8 * int64(cap(data)))
				data = append(make([]float64, 0, more), data...)
			}
			data = append(data, v)
		}
	}
	if label >= 0 {
		width--
	}
	if name >= 0 {
		width--
	}
	if len(data) == 0 {
		return nil, nil, nil, errors.New("no line holds numbers")
	}
	return mat.NewDense(len(data)/width, width, data), names, words, nil
}

// nameColumn is the name of the column of the samples' names that Write makes.
const nameColumn = "name"

// isNameColumn tells whether the first column is that of the samples' names by its own.
func isNameColumn(header string) bool {
	header = strings.ToLower(strings.TrimSpace(header))
	return slices.Contains(naming.Headers, header) && !slices.Contains([]string{"id", "row", "sample"}, header)
}

// labelColumns are the names of the column of the labels.
var labelColumns = []string{"label", "class", "target"}

// isHeader tells whether a first line names the columns: it holds no numbers,
// or the name of the column of the names or of the labels.
func isHeader(record []string, labelColumn string) bool {
	if isNameColumn(record[0]) {
		return true
	}
	named := true
	for _, cell := range record {
		cell = strings.TrimSpace(cell)
		if cell != "" && cell == labelColumn || slices.Contains(labelColumns, strings.ToLower(cell)) {
			return true
		}
		if _, err := strconv.ParseFloat(cell, 64); err == nil {
			named = false
		}
	}
	return named
}

// findLabels returns the column of the labels, or -1 where there is none.
func findLabels(header []string, labelColumn string) (int, error) {
	names := labelColumns
	if labelColumn != "" {
		names = []string{labelColumn}
	}
	for _, name := range names {
		for j, h := range header {
			if strings.EqualFold(strings.TrimSpace(h), name) {
				return j, nil
			}
		}
	}
	if labelColumn != "" && labelColumn != "-" {
		return -1, fmt.Errorf("no column is called %q; the columns are %s", labelColumn, naming.Short(header))
	}
	return -1, nil
}

// columnName names column j by its number, and its name if it has one.
func columnName(header []string, j int) string {
	if j < len(header) {
		return fmt.Sprintf("%d (%s)", j+1, header[j])
	}
	return strconv.Itoa(j + 1)
}
