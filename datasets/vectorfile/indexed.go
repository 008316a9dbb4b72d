package vectorfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/zipfile"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Indexed reads a set of sparse vectors from a text file, plain or gzipped, in which a line
// holds a sample as pairs of an index and a value behind its label, as in "3 1:0.5 17:2": the
// form of SVMlight and LIBSVM, in which Reuters-21578 and RCV1 are given. Indices rise along a
// line, and count from 1 unless there is a 0. What follows a # is a comment, and a query number
// (qid:3) is passed over.
//
// A label is a class. A sample with several of them, with commas between, or with none is of
// no known class. Where no two lines begin with the same label, the labels are the samples'
// names: numbers of documents, as in the vectors of RCV1 (Lewis, Yang, Rose and Li 2004).
// Their classes are read from the file beside that ends with ".qrels", plain or gzipped, if
// there is one, with lines of a topic, a document and 1. Of RCV1's topics, a hierarchy, only
// the four at its top count: CCAT, ECAT, GCAT and MCAT.
func Indexed(path string, opt Options) (*Content, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	room := opt.room()
	x, labels, err := parseIndexed(f, room)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	words, names := classesOrNames(labels)
	var beside []string
	if names != nil {
		if words, beside, err = besideQrels(path, names, room); err != nil {
			return nil, err
		}
	}
	s, err := newVectorSet(path, x, words, opt, room)
	if err == nil && names != nil {
		s.nameSamples(names)
		s.Beside = beside
	}
	return s, err
}

// parseIndexed returns the vectors and what each line begins with.
func parseIndexed(file io.Reader, room *room) (*sparse.CSR, []string, error) {
	in, _, err := zipfile.Gunzip(room.reader(file))
	if err != nil {
		return nil, nil, err
	}
	var labels []string
	rowStart := []int{0}
	var columns []int
	var values []float64
	most, first := -1, 1
	lines := newLines(in)
	for lines.next() {
		text, _, _ := bytes.Cut(lines.text, []byte("#"))
		label, pairs := cutLabel(text)
		if len(label) == 0 && len(bytes.TrimSpace(pairs)) == 0 {
			continue
		}
		// Lists double as they grow, and are copied as they do; a label is put into a table.
		if err := room.take(int64(200+4*len(label)+48*bytes.Count(pairs, []byte(":"))), fmt.Sprintf("line %d: the values up to it", lines.number)); err != nil {
			return nil, nil, err
		}
		if !utf8.Valid(label) || bytes.IndexByte(label, 0) >= 0 {
			return nil, nil, lines.errorf("the label %s is not text in UTF-8", spreadsheet.Quote(string(label)))
		}
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
				return nil, nil, lines.errorf("%s is no index and finite value, as in 17:0.5", spreadsheet.Quote(string(pair)))
			case column < 0 || column > mostVectorColumns:
				return nil, nil, lines.errorf("the index of %s is not from 0 to %d", spreadsheet.Quote(string(pair)), mostVectorColumns)
			case column <= last:
				return nil, nil, lines.errorf("the index of %s does not follow %d: they rise along a line", spreadsheet.Quote(string(pair)), last)
			}
			last = column
			first = min(first, column)
			if value != 0 {
				columns, values = append(columns, column), append(values, value)
			}
		}
		most = max(most, last)
		labels, rowStart = append(labels, string(label)), append(rowStart, len(columns))
	}
	if lines.err != nil {
		return nil, nil, lines.err
	}
	if len(labels) == 0 || most < first {
		return nil, nil, errors.New("no line holds an index and a value")
	}
	for i := range columns {
		columns[i] -= first
	}
	x, err := sparse.New(len(labels), most+1-first, rowStart, columns, values)
	return x, labels, err
}

// cutLabel returns what a line begins with and its pairs. A line that begins with a pair, or
// with a blank, has no label.
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

// classesOrNames returns the class of each sample, "" where it has none or several. Where all
// labels differ they are names, and there are no classes.
func classesOrNames(labels []string) (words, names []string) {
	seen := make(map[string]bool, len(labels))
	for _, label := range labels {
		if label == "" || seen[label] {
			seen = nil
			break
		}
		seen[label] = true
	}
	if seen != nil && len(labels) > 1 {
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

// besideQrels returns the classes of the documents by the file of topics beside path, and that file, nil where
// there is none.
func besideQrels(path string, documents []string, room *room) (classes, found []string, err error) {
	for _, pattern := range []string{"*.qrels", "*.qrels.gz"} {
		files, err := filepath.Glob(filepath.Join(globEscape(filepath.Dir(path)), pattern))
		if err != nil {
			return nil, nil, err
		}
		found = append(found, files...)
	}
	switch len(found) {
	case 0:
		return nil, nil, nil
	case 1:
	default:
		return nil, nil, fmt.Errorf("%s: several files of topics lie beside it, %s: leave one", path, naming.Short(found))
	}
	f, err := os.Open(found[0])
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if classes, err = parseQrels(f, documents, room); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", found[0], err)
	}
	return classes, found, nil
}

// globEscape makes a pattern of a folder's name that fits it alone.
func globEscape(dir string) string {
	if filepath.Separator == '\\' {
		return dir // where nothing can be escaped
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// rcv1Tops are the topics at the top of RCV1's hierarchy.
var rcv1Tops = []string{"CCAT", "ECAT", "GCAT", "MCAT"}

// parseQrels returns the one topic of each document, "" where there is none or several.
func parseQrels(file io.Reader, documents []string, room *room) ([]string, error) {
	in, _, err := zipfile.Gunzip(room.reader(file))
	if err != nil {
		return nil, err
	}
	if err := room.take(int64(len(documents))*96, "the topics of documents"); err != nil {
		return nil, err
	}
	row := make(map[string]int, len(documents))
	for i, d := range documents {
		row[d] = i
	}
	type topics struct{ first, top string }
	const several = "\x00"
	of := make([]topics, len(documents))
	names := map[string]string{} // each topic once
	add := func(to *string, topic string) {
		if *to == "" {
			*to = topic
		} else if *to != topic {
			*to = several
		}
	}
	tops := false
	lines := newLines(in)
	for lines.next() {
		fields := strings.Fields(string(lines.text))
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 || fields[2] != "0" && fields[2] != "1" || !utf8.ValidString(fields[0]) || strings.Contains(fields[0], "\x00") {
			return nil, lines.errorf("%s is no topic, document and 1", spreadsheet.Quote(string(lines.text)))
		}
		i, known := row[fields[1]]
		if fields[2] == "0" || !known {
			continue
		}
		topic, seen := names[fields[0]]
		if !seen {
			if err := room.take(int64(128+len(fields[0])), "the names of topics"); err != nil {
				return nil, fmt.Errorf("line %d: %w", lines.number, err)
			}
			topic = strings.Clone(fields[0])
			names[topic] = topic
		}
		add(&of[i].first, topic)
		if slices.Contains(rcv1Tops, topic) {
			tops = true
			add(&of[i].top, topic)
		}
	}
	if lines.err != nil {
		return nil, lines.err
	}
	out := make([]string, len(documents))
	for i, t := range of {
		if out[i] = t.first; tops {
			out[i] = t.top
		}
		if out[i] == several {
			out[i] = ""
		}
	}
	return out, nil
}

// textLines reads a text line by line.
type textLines struct {
	scanner *bufio.Scanner
	number  int // of the last line, from 1
	text    []byte
	err     error
}

func newLines(r io.Reader) *textLines {
	l := &textLines{scanner: bufio.NewScanner(r)}
	l.scanner.Buffer(nil, mostVectorLine)
	return l
}

func (l *textLines) next() bool {
	if !l.scanner.Scan() {
		if err := l.scanner.Err(); err != nil {
			l.err = fmt.Errorf("line %d: %w", l.number+1, err)
		}
		return false
	}
	l.number++
	l.text = l.scanner.Bytes()
	return true
}

// errorf returns an error that names the line.
func (l *textLines) errorf(format string, values ...any) error {
	return fmt.Errorf("line %d: %s", l.number, fmt.Sprintf(format, values...))
}

var indexedLine = regexp.MustCompile(`^(?:#[^\n]*\n|\s*\n)*[^\s:#]*[ \t]+(?:qid:[0-9]+[ \t]+)?[0-9]+:[-+.0-9eE]+[\s#]`)

// isIndexed tells by the first bytes whether a file is one that Indexed reads.
func isIndexed(head []byte) bool { return indexedLine.Match(head) }
