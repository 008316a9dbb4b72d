// Package phrase puts numbers and names into sentences.
package phrase

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"
)

// Count is a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// List joins words with commas and a last "and".
func List(words []string) string {
	return english.WordSeries(words, "and")
}

// Numbers lists numbers that rise, a run of three or more as in "2 to 10".
func Numbers(n []int) string {
	if last := len(n) - 1; last > 1 && n[last]-n[0] == last {
		return fmt.Sprintf("%d to %d", n[0], n[last])
	}
	words := make([]string, len(n))
	for i := range n {
		words[i] = strconv.Itoa(n[i])
	}
	return List(words)
}

// Some lists names, only the first of many.
func Some(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ", ")
}
