// Package plaintext makes text from elsewhere, such as names of files, fit to be printed: nothing in it moves a
// terminal's cursor, changes its colours or title, starts a line, or turns the direction of what follows.
package plaintext

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as text of one line. Control characters, line separators, characters that change the direction
// of text or that no XML document may hold, and bytes that are not UTF-8 are shown as in a Go string ("\x1b",
// "\n", "\u202e"). Backslashes stay, so that paths can be read; hence the text cannot be turned back with
// certainty.
func Line(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, active) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if active(r) || r == utf8.RuneError && size == 1 {
			b.WriteString(strings.Trim(strconv.QuoteToASCII(s[:size]), `"`))
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

// Lines is Line for text of several lines: line feeds stay, and so do tabs. Every line but the first is
// indented by two spaces, so that no text can pass for the beginning of another message.
func Lines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		cells := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
		for j, cell := range cells {
			cells[j] = Line(cell)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n  ")
}

// Fprintf is fmt.Fprintf, but for its arguments: strings and what is a fmt.Stringer are printed as Line says,
// and errors as Lines. The format should be a constant.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			safe[i] = Line(arg)
		case error:
			safe[i] = Lines(arg.Error())
		case fmt.Stringer:
			safe[i] = Line(arg.String())
		default:
			safe[i] = arg
		}
	}
	return fmt.Fprintf(w, format, safe...)
}

// active tells whether a character does something other than to be seen.
func active(r rune) bool {
	return unicode.IsControl(r) || // C0, DEL, C1
		r == 0x2028 || r == 0x2029 || // line and paragraph separator
		unicode.Is(unicode.Bidi_Control, r) || // marks, embedding, override, isolate
		r >= 0xfff9 && r <= 0xfffb || // interlinear annotation
		r&0xfffe == 0xfffe // no characters
}
