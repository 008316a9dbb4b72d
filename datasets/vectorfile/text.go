package vectorfile

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/lazyregexp"
)

// Limits of a line in a CSV file of vectors. A number takes up to 25 bytes.
const mostVectorLine, mostVectorColumns = 32 << 20, 1 << 20

// readCSV reads a text file, plain or gzipped, with one sample a line and numbers separated by commas, semicolons or
// tabs. The first line may name the columns. The classes are then in the column that the options name, else in "label",
// "class" or "target", "" for unknown. A first column called "name", or of words, holds the samples' names.
func readCSV(in *input) *Content {
	text, _, _ := in.unpacked()
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
		guard.Check(err)
		guard.Within(func() {
			if t.width > 0 || !t.readFirstLine(record) {
				t.add(record)
			}
		}, "line %d", table.Line)
	}
	failIf(len(t.data) == 0, "no line has numbers")
	s := in.content(mat.NewDense(t.rows, len(t.data)/t.rows, t.data), t.classes)
	s.nameSamples(t.names)
	return s
}

type csvTable struct {
	in             *input
	header         []string
	width          int // columns of the first line
	label, name    int // columns, or -1
	rows           int
	data           []float64
	names, classes []string
}

// readFirstLine examines the first line: a header has no numbers, or names a column of names or labels.
func (t *csvTable) readFirstLine(record []string) (isHeader bool) {
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
		if t.width > 1 && !isNumber(record[0]) && !(t.in.opt.Missing && strings.TrimSpace(record[0]) == "") {
			t.name = 0
		}
		failIf(given != "" && given != "-", "no column names, so no column is called %q", given)
		return false
	}
	t.header = lists.Map(record, strings.Clone)
	t.label = t.in.labelColumn(t.header)
	if t.label != 0 && hasNames {
		t.name = 0
	}
	return true
}

// add adds the line of a sample.
func (t *csvTable) add(record []string) {
	failIf(len(record) != t.width, "%d columns, expected %d as in the first line", len(record), t.width)
	need := 24 * len(record) // lists are copied as they grow
	for j, cell := range record {
		if j == t.label || j == t.name {
			need += 48 + len(cell)
		}
	}
	t.in.reserve(int64(need), "the table up to this line")
	t.rows++
	for j, cell := range record {
		v, err := strconv.ParseFloat(cell, 64)
		switch {
		case j == t.label:
			t.classes = append(t.classes, strings.Clone(spreadsheet.Text(cell)))
		case j == t.name:
			t.names = append(t.names, strings.Clone(spreadsheet.Text(cell)))
		case err == nil && (t.in.opt.Missing || !math.IsNaN(v)) && !math.IsInf(v, 0):
			t.data = append(t.data, v)
		case t.in.opt.Missing && strings.TrimSpace(cell) == "":
			t.data = append(t.data, math.NaN())
		default:
			column := strconv.Itoa(j + 1)
			if t.header != nil {
				column += " (" + t.header[j] + ")"
			}
			hint := ""
			if err == nil && math.IsNaN(v) || strings.TrimSpace(cell) == "" {
				hint = missingHint
			}
			guard.Fail("column %s: %s is not a finite number%s", column, spreadsheet.Quote(cell), hint)
		}
	}
}

const nameColumn = "name" // the column of the samples' names in files that Write writes

// labelColumns are accepted names of the column of labels.
var labelColumns = []string{"label", "class", "target"}

// readIndexed reads sparse vectors in the format of SVMlight and LIBSVM: a label, and pairs of an index and a value, as
// in "3 1:0.5 17:2". Indices count from 1 unless there is a 0. Labels are classes, or names if all differ, as in RCV1
// (Lewis, Yang, Rose and Li 2004). A file beside it that ends with ".qrels" then gives their topics, in lines of a
// topic, a document and 1. Of the topics of RCV1, a hierarchy, only the four top ones count.
func readIndexed(in *input) *Content {
	x, labels := indexedRows(in)
	words, names := classesOrNames(labels)
	var beside []string
	if names != nil {
		if beside = qrelsBeside(in.path); beside != nil {
			words = guard.Must(readFile(beside[0], Options{}, in.budget, func(in *input) []string { return readTopics(in, names) }))
		}
	}
	s := in.content(x, words)
	s.nameSamples(names)
	s.Beside = beside
	return s
}

// classesOrNames returns the class of each sample, "" for none or several, or names if all labels differ.
func classesOrNames(labels []string) (words, names []string) {
	if len(labels) > 1 && allDiffer(labels) {
		return nil, labels
	}
	words = slices.Clone(labels)
	for i, label := range words {
		if words[i] = strings.Trim(label, ","); strings.Contains(words[i], ",") {
			words[i] = ""
		}
	}
	return words, nil
}

// indexedRows returns the vectors, and the label of each line.
func indexedRows(in *input) (*sparse.CSR, []string) {
	var labels []string
	rowStart := []int{0}
	var columns []int
	var values []float64
	most, first := -1, 1
	in.eachLine(func(text []byte) {
		text, _, _ = bytes.Cut(text, []byte("#"))
		label, pairs := cutLabel(text)
		if len(label) == 0 && len(bytes.TrimSpace(pairs)) == 0 {
			return
		}
		// Lists double as they grow, and are copied; labels are put into a table.
		in.reserve(int64(200+4*len(label)+48*bytes.Count(pairs, []byte(":"))), "the values up to this line")
		failIf(!utf8.Valid(label) || bytes.IndexByte(label, 0) >= 0, "the label %s is not UTF-8", spreadsheet.Quote(string(label)))
		last := -1
		for pair := range bytes.FieldsSeq(pairs) {
			index, number, _ := bytes.Cut(pair, []byte(":"))
			if string(index) == "qid" {
				continue
			}
			column, err := strconv.Atoi(string(index))
			value, err2 := strconv.ParseFloat(string(number), 64)
			switch {
			case err != nil || err2 != nil || math.IsNaN(value) || math.IsInf(value, 0):
				guard.Fail("%s: expected index:value such as 17:0.5, with a finite value", spreadsheet.Quote(string(pair)))
			case column < 0 || column > mostVectorColumns:
				guard.Fail("the index of %s is outside 0 to %d", spreadsheet.Quote(string(pair)), mostVectorColumns)
			case column <= last:
				guard.Fail("the index of %s follows %d; indices must increase along a line", spreadsheet.Quote(string(pair)), last)
			}
			last = column
			first = min(first, column)
			if value != 0 {
				columns, values = append(columns, column), append(values, value)
			}
		}
		most = max(most, last)
		labels, rowStart = append(labels, string(label)), append(rowStart, len(columns))
	})
	failIf(len(labels) == 0 || most < first, "no line has an index and a value")
	for i := range columns {
		columns[i] -= first
	}
	return guard.Must(sparse.New(len(labels), most+1-first, rowStart, columns, values)), labels
}

// cutLabel returns the label at the start of a line, which may be missing, and the pairs.
func cutLabel(text []byte) (label, pairs []byte) {
	text = bytes.TrimRight(text, "\r")
	end := bytes.IndexAny(text, " \t")
	if end < 0 {
		end = len(text)
	}
	if bytes.IndexByte(text[:end], ':') >= 0 {
		return nil, text
	}
	return text[:end], text[end:]
}

// qrelsBeside returns the file of topics beside path, or none.
func qrelsBeside(path string) (found []string) {
	for _, e := range guard.Must(os.ReadDir(filepath.Dir(path))) {
		if strings.HasSuffix(strings.TrimSuffix(e.Name(), ".gz"), ".qrels") {
			found = append(found, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	failIf(len(found) > 1, "several topic files beside it (%s); keep one of them", naming.Short(found))
	return found
}

// rcv1Tops are the top topics of RCV1's hierarchy.
var rcv1Tops = []string{"CCAT", "ECAT", "GCAT", "MCAT"}

// readTopics returns the topic of each document, "" for none or several.
func readTopics(in *input, documents []string) []string {
	in.reserve(int64(len(documents))*96, "the topics of documents")
	row := make(map[string]int, len(documents))
	for i, d := range documents {
		row[d] = i
	}
	const several = "\x00"
	all, top := make([]string, len(documents)), make([]string, len(documents))
	names := map[string]string{} // each topic once
	tops := false
	in.eachLine(func(line []byte) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 {
			return
		}
		if len(fields) != 3 || fields[2] != "0" && fields[2] != "1" || !utf8.ValidString(fields[0]) || strings.Contains(fields[0], several) {
			guard.Fail("%s: expected topic, document and 1", spreadsheet.Quote(string(line)))
		}
		i, known := row[fields[1]]
		if fields[2] == "0" || !known {
			return
		}
		topic, seen := names[fields[0]]
		if !seen {
			in.reserve(int64(128+len(fields[0])), "the names of topics")
			topic = strings.Clone(fields[0])
			names[topic] = topic
		}
		isTop := slices.Contains(rcv1Tops, topic)
		tops = tops || isTop
		for _, of := range [][]string{all, top} {
			if of[i] == "" {
				of[i] = topic
			} else if of[i] != topic {
				of[i] = several
			}
			if !isTop {
				break
			}
		}
	})
	if tops {
		all = top
	}
	for i, topic := range all {
		all[i] = strings.Trim(topic, several)
	}
	return all
}

// indexedLine matches the beginning of a file that readIndexed reads.
var indexedLine = lazyregexp.New(`^(?:#[^\n]*\n|\s*\n)*[^\s:#]*[ \t]+(?:qid:[0-9]+[ \t]+)?[0-9]+:[-+.0-9eE]+[\s#]`)
