// Package naming orders names of files and classes and converts them to valid text.
package naming

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Readable returns the names in the form in which they are shown, written to files and looked up. If all are valid UTF-8,
// they are unchanged. Otherwise each invalid byte is escaped as \xHH, in hexadecimal, and each backslash as \x5c, so that
// different names stay different.
func Readable(names []string) []string {
	if !slices.ContainsFunc(names, func(name string) bool { return !utf8.ValidString(name) }) {
		return names
	}
	out := make([]string, len(names))
	for i, name := range names {
		var b strings.Builder
		for name != "" {
			r, size := utf8.DecodeRuneInString(name)
			if r == '\\' || r == utf8.RuneError && size == 1 {
				fmt.Fprintf(&b, `\x%02x`, name[0])
			} else {
				b.WriteString(name[:size])
			}
			name = name[size:]
		}
		out[i] = b.String()
	}
	return out
}

// ReadableName is Readable for a single name.
func ReadableName(name string) string { return Readable([]string{name})[0] }

// Short joins names with commas and abbreviates long lists to the first and last names.
func Short(names []string) string {
	if len(names) > 10 {
		names = append(append(slices.Clone(names[:5]), "…"), names[len(names)-4:]...)
	}
	return strings.Join(names, ", ")
}

// CompareNatural compares names in natural order, with s2 before s10. It returns 0 only for equal names.
func CompareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		dx, dy := Digits(x), Digits(y)
		if dx == 0 || dy == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		nx, ny := strings.TrimLeft(x[:dx], "0"), strings.TrimLeft(y[:dy], "0")
		if nx != ny {
			return cmp.Or(cmp.Compare(len(nx), len(ny)), cmp.Compare(nx, ny))
		}
		x, y = x[dx:], y[dy:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// Digits returns the number of leading decimal digits of s.
func Digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// Headers are the recognised names of the CSV column that holds sample names.
var Headers = []string{"file", "filename", "file name", "file path", "filepath", "image", "image name", "image id", "img", "picture", "photo", "name", "path", "row", "sample", "id"}
