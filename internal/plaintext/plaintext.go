// Package plaintext sanitises untrusted text, such as file names, for terminals: the result contains no control
// sequences, line breaks or characters that change the direction of text.
package plaintext

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/lists"
)

// Line returns s as a single line. Control characters, line separators, characters that change the direction of text
// or are not allowed in XML, and invalid UTF-8 are escaped as in a Go string ("\x1b", "\n", "\u202e"). Backslashes
// are unchanged, so that paths stay readable; the result is therefore not reversible.
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

// Lines is Line for several lines: it keeps line feeds and tabs. Every line after the first is indented by two spaces, so
// that it cannot be mistaken for another message.
func Lines(s string) string {
	return strings.Join(lists.Map(strings.Split(strings.TrimRight(s, "\n"), "\n"), func(line string) string {
		return strings.Join(lists.Map(strings.Split(strings.TrimSuffix(line, "\r"), "\t"), Line), "\t")
	}), "\n  ")
}

// Fprintf is fmt.Fprintf with sanitised arguments: Line is applied to strings and Stringers, Lines to errors. The format
// should be a constant.
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

// active reports whether a character has an effect other than being displayed.
func active(r rune) bool {
	return unicode.IsControl(r) || // C0, DEL, C1
		r == 0x2028 || r == 0x2029 || // line and paragraph separator
		unicode.Is(unicode.Bidi_Control, r) || // marks, embedding, override, isolate
		r >= 0xfff9 && r <= 0xfffb || // interlinear annotation
		r&0xfffe == 0xfffe // noncharacters
}
