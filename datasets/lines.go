package datasets

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// namedLines are the lines of a CSV file about samples: how many fields they have, as want says, how many
// of the first may name samples, and what a header may call the first field and the others. Where wider is
// set it is called with a header that names more fields, as many as all lines have then.
type namedLines struct {
	fields, samples int
	want            string
	headers, others []string
	wider           func(header []string)
}

// Bounds on a line of a file of labels or links, which holds two names or three.
const (
	mostNamesLine   = 1 << 20
	mostNamesFields = 1 << 10
)

// readLines calls f for each line of a CSV file but its header, with a
// function that finds the sample that a field names. The fields are divided by commas,
// semicolons or tabs, which the first lines tell. Errors begin with what and the file.
func (s *Set) readLines(ctx context.Context, what, file string, lines namedLines, f func(line int, record []string, sample func(field int) (int, error)) error) error {
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer in.Close()
	text := decoded(in)
	find := s.finder()
	by := separatorOf(text, lines, find)
	reader := spreadsheet.NewTable(text, by.char, mostNamesLine, mostNamesFields)
	for first := true; ; first = false {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		record, err := reader.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", what, file, err)
		}
		isHeader := first && lines.isHeader(record, find)
		if isHeader && lines.wider != nil && len(record) > lines.fields {
			lines.fields = len(record)
			lines.wider(record)
		}
		if len(record) != lines.fields {
			err = fmt.Errorf("%s in %s, want %s, divided by %s", phrase.Count(len(record), "field", "fields"), spreadsheet.Quote(strings.Join(record, string(by.char))), lines.want, by.name)
		} else if !isHeader {
			err = f(reader.Line, record, func(field int) (int, error) {
				i, several := find(record[field])
				switch {
				case several != nil:
					return 0, fmt.Errorf("%s is the name of several samples, %s; give their folders too", spreadsheet.Quote(record[field]), naming.Short(several))
				case i < 0:
					return 0, fmt.Errorf("no sample is called %s", spreadsheet.Quote(record[field]))
				}
				return i, nil
			})
		}
		if err != nil {
			return fmt.Errorf("%s %s: line %d: %w", what, file, reader.Line, err)
		}
	}
}

// namesSamples tells whether the fields of a line that name samples do so.
func (lines namedLines) namesSamples(record []string, find finder) bool {
	return slices.ContainsFunc(record[:min(lines.samples, len(record))], func(field string) bool {
		at, _ := find(strings.TrimSpace(field))
		return at >= 0
	})
}

// isHeader tells whether a line names the columns: its fields name no sample, and one of them
// is what columns are called.
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

// separator is a character that divides the fields of a line.
type separator struct {
	char rune
	name string
}

var separators = []separator{{',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}}

// separatorWindow is how much of a file is looked at to find its separator.
const separatorWindow = 1 << 16

// decoded returns the text of a file in UTF-8, which is left as it is, or in UTF-16 with its mark.
func decoded(r io.Reader) *bufio.Reader {
	in := bufio.NewReaderSize(r, separatorWindow)
	mark, _ := in.Peek(2)
	if string(mark) == "\xff\xfe" || string(mark) == "\xfe\xff" {
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
		in = bufio.NewReaderSize(transform.NewReader(in, utf16.NewDecoder()), separatorWindow)
	}
	return in
}

// separatorOf returns the separator of lines about samples, by the beginning of their
// file: the one that divides the first line into as many fields as are wanted, and where
// several do, the one by which most lines name samples. It is the comma where none does.
func separatorOf(text *bufio.Reader, lines namedLines, find finder) separator {
	head, _ := text.Peek(separatorWindow)
	whole := len(head) < separatorWindow
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 && !whole {
		head = head[:end+1]
	}
	best, most := separators[0], -1
	for _, s := range separators {
		r := csv.NewReader(bytes.NewReader(head))
		r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace, r.ReuseRecord = s.char, -1, s.char != '\t', true
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

// writeRecords writes a CSV file of a header and of the records that each puts.
func writeRecords(w io.Writer, header []string, each func(put func(fields ...string))) error {
	out := csv.NewWriter(w)
	put := func(fields ...string) { _ = out.Write(fields) } // Error says what fails
	put(header...)
	each(put)
	out.Flush()
	return out.Error()
}
