package datasets

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// separator is a character that divides the fields of a line.
type separator struct {
	char rune
	name string
}

var separators = []separator{{',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}}

// separatorWindow is how much of a file is looked at to find its separator.
const separatorWindow = 1 << 16

// decoded returns the text of a file in UTF-8, which is left as it is, or in UTF-16 with
// its mark.
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
// several do, the one by which most lines name samples. A comma is returned where none
// does, and it is an error where several do alike.
func separatorOf(head []byte, lines namedLines, find finder) (separator, error) {
	whole := len(head) < separatorWindow
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 && !whole {
		head = head[:end+1]
	}
	best, most, tied := separators[0], -1, separator{}
	var first []string // the first field by the best, and by one that is as good
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
		field, named := strings.Clone(record[0]), 0
		for ; err == nil; record, err = r.Read() {
			if len(record) >= lines.fields && lines.namesSamples(record, find) {
				named++
			}
		}
		switch {
		case named > most:
			best, most, tied, first = s, named, separator{}, []string{field}
		case named == most:
			tied, first = s, append(first[:1], field)
		}
	}
	if tied.char == 0 {
		return best, nil
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return best, fmt.Errorf("line 1: %s can be divided by %s and by %s, where it names %s or %s; put names that hold one of these in quotation marks",
		spreadsheet.Quote(strings.TrimSpace(string(line))), best.name, tied.name, spreadsheet.Quote(first[0]), spreadsheet.Quote(first[1]))
}

// namesSamples tells whether the fields of a line that name samples do so.
func (lines namedLines) namesSamples(record []string, find finder) bool {
	for _, field := range record[:min(lines.samples, len(record))] {
		if at, _ := find(strings.TrimSpace(field)); at >= 0 {
			return true
		}
	}
	return false
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
		for _, name := range names {
			if strings.EqualFold(strings.NewReplacer("_", " ", "-", " ").Replace(strings.TrimSpace(field)), name) {
				return true
			}
		}
	}
	return false
}
