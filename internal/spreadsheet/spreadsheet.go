// Package spreadsheet keeps the text cells of CSV files from being run. Programs
// such as Excel and LibreOffice take a cell that begins with =, +, - or @ for a
// formula, which may call other programs and send what is in the sheet elsewhere.
package spreadsheet

import (
	"regexp"
	"strings"
)

// Cell returns the text as it is written into a CSV file: with an apostrophe
// before it where a spreadsheet could take it for a formula, that is where it
// begins with =, +, -, @, their full-width forms, a tab or a line end, and is no
// number. So that Text finds the same text, one that begins with apostrophes and
// then with such a character gets one more.
func Cell(text string) string {
	if quoted(text) {
		return "'" + text
	}
	return text
}

// Text returns the text that Cell has written.
func Text(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && quoted(rest) {
		return rest
	}
	return cell
}

// quoted tells whether Cell puts an apostrophe before the text.
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
