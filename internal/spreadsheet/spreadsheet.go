// Package spreadsheet prevents formula injection in CSV files: Excel and LibreOffice interpret a cell that begins with
// =, +, - or @ as a formula, which can call other programs and leak data. It also reads CSV files with limits.
package spreadsheet

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Cell returns the text for a CSV file, prefixed by an apostrophe if a spreadsheet could interpret it as a formula. A
// text that begins with apostrophes before such a character gets one more, so that Text can restore it.
func Cell(text string) string {
	if quoted(text) {
		return "'" + text
	}
	return text
}

// Text is the inverse of Cell.
func Text(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && quoted(rest) {
		return rest
	}
	return cell
}

// quoted reports whether Cell prefixes the text with an apostrophe.
func quoted(text string) bool {
	bare := strings.TrimLeft(text, "'")
	for _, first := range []string{"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(bare, first) {
			return len(bare) < len(text) || !number.MatchString(text)
		}
	}
	return false
}

var number = regexp.MustCompile(`^[+-][0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// Table reads the records of a CSV file with any number of fields, after an optional byte order mark. A record that
// is too long, is not UTF-8 or contains a NUL byte is an error that names its line.
type Table struct {
	csv  *csv.Reader
	in   *recordReader
	Line int // line of the last record
}

// NewTable returns a Table for r with the separator comma and limits on the bytes and fields of a record.
func NewTable(r io.Reader, comma rune, mostBytes, mostFields int) *Table {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		in.Discard(3)
	}
	t := &Table{in: &recordReader{r: in, comma: []byte(string(comma)), mostBytes: mostBytes, mostFields: mostFields}}
	t.csv = csv.NewReader(t.in)
	t.csv.Comma, t.csv.FieldsPerRecord, t.csv.TrimLeadingSpace, t.csv.ReuseRecord = comma, -1, comma != '\t', true
	return t
}

// Read returns the next record with white space trimmed around its fields, or io.EOF. The record is valid until the next
// call.
func (t *Table) Read() ([]string, error) {
	t.in.bytes, t.in.fields = 0, 0
	record, err := t.csv.Read()
	var long longRecordError
	var bad *csv.ParseError
	switch {
	case errors.As(err, &long):
		return nil, fmt.Errorf("line %d: %w; is a quotation mark missing?", t.Line+1, long)
	case errors.Is(err, csv.ErrBareQuote) && errors.As(err, &bad):
		return nil, fmt.Errorf("line %d, column %d: a quotation mark in a field that does not begin with one; put the whole field in quotation marks", bad.Line, bad.Column)
	case errors.As(err, &bad): // the only other one
		return nil, fmt.Errorf("line %d, column %d: the quoted field that begins on line %d is not closed, or text follows it", bad.Line, bad.Column, bad.StartLine)
	case err != nil:
		return nil, err
	}
	t.Line, _ = t.csv.FieldPos(0)
	for i, field := range record {
		if !utf8.ValidString(field) || strings.IndexByte(field, 0) >= 0 {
			line, column := t.csv.FieldPos(i)
			hint := ""
			if zeros := strings.Count(field, "\x00"); zeros > 1 && 2*zeros >= len(field)-1 {
				hint = "; it looks like UTF-16 without a byte order mark: save the file as UTF-8"
			}
			return nil, fmt.Errorf("line %d, column %d: %s is not UTF-8%s", line, column, Quote(field), hint)
		}
		record[i] = strings.TrimSpace(field)
	}
	return record, nil
}

// recordReader returns an error if a record is too long. Bytes that csv.Reader reads ahead count for the current
// record.
type recordReader struct {
	r                     io.Reader
	comma                 []byte
	mostBytes, mostFields int
	bytes, fields         int
}

type longRecordError string

func (e longRecordError) Error() string { return string(e) }

// aheadOf is the number of bytes that a csv.Reader reads at a time.
const aheadOf = 4096

func (r *recordReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p[:min(len(p), aheadOf)])
	r.bytes += n
	r.fields += bytes.Count(p[:n], r.comma)
	switch {
	case r.bytes > r.mostBytes+aheadOf:
		return 0, longRecordError(fmt.Sprintf("a record of more than %d bytes", r.mostBytes))
	case r.fields > r.mostFields+aheadOf:
		return 0, longRecordError(fmt.Sprintf("a record of more than %d fields", r.mostFields))
	}
	return n, err
}

// Quote quotes a text in Go syntax and truncates long ones.
func Quote(text string) string {
	const most = 60
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q…", text[:most])
}
