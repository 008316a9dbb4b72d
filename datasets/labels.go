package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// ReadLabels replaces the classes of the samples by the classes in a CSV file. The set's own classes become OwnClasses and
// OwnLabels. A line holds a sample and its class, separated by a comma, a semicolon or a tab. A sample is a name as in
// Names, with or without the set's folder before it, a path from the current folder, or a unique file name. In a set of
// vectors it may be the sample's number from 1. A header may name more columns; the classes are then in the column
// "class", else in the second. Samples without a class have the label −1.
//
// A line with an unknown sample, another number of fields or a second class for a sample is an error that names file,
// line and value. The set is unchanged then.
func (s *Set) ReadLabels(file string) error {
	classes, err := s.ReadClasses(file)
	if err == nil {
		s.ReplaceClasses(classes)
	}
	return err
}

// ReplaceClasses replaces the set's classes by a class for each sample, or "", as ReadLabels does.
func (s *Set) ReplaceClasses(classes []string) {
	if len(s.Classes) > 0 && s.OwnClasses == nil {
		s.OwnClasses, s.OwnLabels = s.Classes, s.Labels
	}
	s.setClasses(classes)
}

// ReadClasses returns the class of each sample in a file of labels, or "".
func (s *Set) ReadClasses(file string) ([]string, error) { return s.classesIn("labels", file) }

var classHeaders = []string{"class", "label", "category"}

// classesIn is ReadClasses for a file of labels or of truth.
func (s *Set) classesIn(what, file string) (classes []string, err error) {
	classes, from := make([]string, s.Len()), make([]int, s.Len()) // from holds lines
	at := 1                                                        // the column of classes
	lines := namedLines{fields: 2, samples: 1, want: "two fields, file,class", headers: naming.Headers, others: classHeaders, wider: func(header []string) {
		at = max(at, slices.IndexFunc(header, func(name string) bool { return strings.EqualFold(name, "class") }))
	}}
	none := true
	err = s.readLines(context.Background(), what, file, lines, []int{0}, func(line int, record []string, samples []int) {
		i := samples[0]
		switch class := spreadsheet.Text(record[at]); {
		case class == "":
		case from[i] != 0 && classes[i] != class:
			guard.Fail("%q has class %q, but class %q in line %d", record[0], class, classes[i], from[i])
		default:
			classes[i], from[i], none = strings.Clone(class), line, false
		}
	})
	if err == nil && none && s.SkipUnknown == nil {
		err = fmt.Errorf("%s %s: no sample has a class; expected lines of file,class", what, file)
	}
	return classes, err
}

// WriteLabels writes a CSV file of the samples' classes, "" for none, which ReadLabels can read.
func (s *Set) WriteLabels(w io.Writer, classes []string) error {
	rows := [][]string{{"file", "class"}}
	for i, class := range classes {
		if class != "" {
			rows = append(rows, []string{spreadsheet.Cell(s.Names[i]), spreadsheet.Cell(class)})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// readGivenClasses reads the files of truth and of labels. A file of truth replaces the set's own classes. It calls
// guard.Fail.
func (s *Set) readGivenClasses(opt *OpenOptions) {
	if opt.Truth != "" {
		s.forgetClasses()
		s.ReplaceClasses(guard.Must(s.classesIn("truth", opt.Truth)))
	}
	if opt.Labels != "" {
		guard.Check(s.ReadLabels(opt.Labels))
	}
}

// forgetClasses removes the classes of all samples.
func (s *Set) forgetClasses() {
	s.setClasses(make([]string, s.Len()))
	s.Classes, s.OwnClasses, s.OwnLabels = nil, nil, nil
}

// setClasses sets the classes and labels from the samples' class names, "" for none.
func (s *Set) setClasses(words []string) {
	s.Classes, s.Labels = vectorfile.Classes(words)
	s.FolderClasses = false
}

// finder finds a sample by its name in a CSV file. For an ambiguous name it returns −1 and the candidates.
type finder func(name string) (at int, several []string)

// finder finds samples by name, by name with the set's folder, by path, or by file name.
func (s *Set) finder() finder {
	index := make(map[string]int, s.Len())
	for i, name := range s.Names {
		index[name] = i
	}
	paths := sync.OnceValue(func() map[string]int {
		out := make(map[string]int, len(s.Files))
		for i, file := range s.Files {
			out[absolute(file)] = i
		}
		return out
	})
	plain := sync.OnceValue(func() map[string][]int {
		out := make(map[string][]int, s.Len())
		for i, name := range s.Names {
			out[path.Base(name)] = append(out[path.Base(name)], i)
		}
		return out
	})
	return func(name string) (int, []string) {
		if i, ok := index[name]; ok {
			return i, nil
		}
		names := []string{spreadsheet.Text(name)}
		cleaned := []string{path.Clean(name), path.Clean(strings.ReplaceAll(name, `\`, "/"))}
		if s.Files != nil {
			for _, n := range cleaned {
				names = append(names, n, strings.TrimPrefix(n, s.Name+"/"))
			}
		}
		for _, n := range names {
			if i, ok := index[n]; ok {
				return i, nil
			}
		}
		if i, err := strconv.Atoi(name); err == nil && s.Files == nil && i >= 1 && i <= s.Len() {
			return i - 1, nil
		}
		for _, n := range cleaned {
			if strings.Contains(n, "/") {
				if i, ok := paths()[absolute(n)]; ok {
					return i, nil
				}
				continue
			}
			switch at := plain()[n]; {
			case len(at) == 1:
				return at[0], nil
			case len(at) > 1:
				return -1, matrix.Take(s.Names, at)
			}
		}
		return -1, nil
	}
}

// absolute returns the absolute path of a file, or the path itself on failure.
func absolute(file string) string {
	if a, err := filepath.Abs(filepath.FromSlash(file)); err == nil {
		return a
	}
	return file
}

// namedLines describes the lines of a CSV file about samples: the number of fields, also in words, how many of them may
// name samples, and the names of columns in a header. A header with more fields is passed to wider.
type namedLines struct {
	fields, samples int
	want            string
	headers, others []string
	wider           func(header []string)
}

// Limits of a line in a file of labels or links, which holds two or three names.
const mostNamesLine, mostNamesFields = 1 << 20, 1 << 10

// readLines calls f for each line of a CSV file except its header, with the samples that its fields name. f may call
// guard.Fail.
func (s *Set) readLines(ctx context.Context, what, file string, lines namedLines, places []int, f func(line int, record []string, samples []int)) error {
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer in.Close()
	// The text is UTF-8, or UTF-16 with a byte order mark.
	text, find := bufio.NewReaderSize(in, separatorWindow), s.finder()
	if mark, _ := text.Peek(2); string(mark) == "\xff\xfe" || string(mark) == "\xfe\xff" {
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
		text = bufio.NewReaderSize(transform.NewReader(text, utf16.NewDecoder()), separatorWindow)
	}
	by := separatorOf(text, lines, find)
	reader := spreadsheet.NewTable(text, by, mostNamesLine, mostNamesFields)
	var unknown []string
	add := func(record []string, first bool) {
		isHeader := first && lines.isHeader(record, find)
		if isHeader && lines.wider != nil && len(record) > lines.fields {
			lines.fields = len(record)
			lines.wider(record)
		}
		if len(record) != lines.fields {
			guard.Fail("%s in %s, expected %s, separated by %s", phrase.Count(len(record), "field", "fields"), spreadsheet.Quote(strings.Join(record, string(by))), lines.want, separators[by])
		}
		isUnknown := func(at int) bool { i, several := find(record[at]); return i < 0 && several == nil }
		if at := slices.IndexFunc(places, isUnknown); !isHeader && at >= 0 && s.SkipUnknown != nil {
			unknown = append(unknown, record[places[at]])
		} else if !isHeader {
			f(reader.Line, record, lists.Map(places, func(at int) int { return find.sample(record[at]) }))
		}
	}
	err = guard.Try(func() {
		for first := true; ctx.Err() == nil; first = false {
			record, err := reader.Read()
			if err == io.EOF {
				return
			}
			guard.Check(err)
			guard.Within(func() { add(record, first) }, "line %d", reader.Line)
		}
	})
	if len(unknown) > 0 {
		s.SkipUnknown(fmt.Sprintf("%s %s: skipped %s of unknown samples: %s", what, file, phrase.Count(len(unknown), "line", "lines"), naming.Short(unknown)))
	}
	return cmp.Or(context.Cause(ctx), guard.Wrap(err, "%s %s", what, file))
}

// sample returns the only sample of a name. It calls guard.Fail.
func (find finder) sample(name string) int {
	i, several := find(name)
	switch {
	case several != nil:
		guard.Fail("%s is the name of several samples (%s); add the folder", spreadsheet.Quote(name), naming.Short(several))
	case i < 0:
		guard.Fail("no sample is called %s", spreadsheet.Quote(name))
	}
	return i
}

// namesSamples reports whether one of the line's sample fields names a sample.
func (lines namedLines) namesSamples(record []string, find finder) bool {
	return slices.ContainsFunc(record[:min(lines.samples, len(record))], func(field string) bool {
		at, _ := find(strings.TrimSpace(field))
		return at >= 0
	})
}

// isHeader reports whether a line names columns, and no sample.
func (lines namedLines) isHeader(record []string, find finder) bool {
	if lines.namesSamples(record, find) {
		return false
	}
	for i, field := range record {
		names := lines.headers
		if i > 0 {
			names = lines.others
		}
		field = strings.NewReplacer("_", " ", "-", " ").Replace(strings.TrimSpace(field))
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(field, name) }) {
			return true
		}
	}
	return false
}

var separators = map[rune]string{',': "commas", ';': "semicolons", '\t': "tabs"}

const separatorWindow = 1 << 16 // the number of bytes from which the separator is found

// separatorOf returns the separator with which most lines have the wanted fields and name samples.
func separatorOf(text *bufio.Reader, lines namedLines, find finder) rune {
	head, _ := text.Peek(separatorWindow)
	whole := len(head) < separatorWindow
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 && !whole {
		head = head[:end+1]
	}
	best, most := ',', -1
	for _, s := range ",;\t" {
		r := spreadsheet.NewTable(bytes.NewReader(head), s, mostNamesLine, mostNamesFields)
		record, err := r.Read()
		if err != nil || len(record) < 2 {
			continue
		}
		if len(record) != lines.fields && !(lines.wider != nil && len(record) > lines.fields && lines.isHeader(record, find)) {
			continue
		}
		named := 0
		for ; err == nil; record, err = r.Read() {
			if len(record) >= lines.fields && lines.namesSamples(record, find) {
				named++
			}
		}
		if named > most {
			best, most = s, named
		}
	}
	return best
}
