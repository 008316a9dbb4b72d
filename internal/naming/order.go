package naming

import (
	"cmp"
	"strings"
)

// CompareNatural orders names as people do: numbers in them by their value, so that s2 comes before s10,
// and all else byte by byte. Different names never compare equal.
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

// Digits returns how many digits s begins with.
func Digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// Headers are the names that a header of a CSV file may give the column of samples' names.
var Headers = []string{"file", "filename", "file name", "file path", "filepath", "image", "image name", "image id", "img", "picture", "photo", "name", "path", "row", "sample", "id"}
