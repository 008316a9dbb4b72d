// Package phrase formats numbers and names for sentences.
package phrase

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/seed4492f2cd/partwise/internal/lists"
)

// Count returns a number with its noun in the singular or plural.
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

// Numbers lists increasing numbers. Three or more consecutive ones are a range, such as "2 to 10".
func Numbers(n []int) string {
	if last := len(n) - 1; last > 1 && n[last]-n[0] == last {
		return fmt.Sprintf("%d to %d", n[0], n[last])
	}
	return List(lists.Map(n, strconv.Itoa))
}

// Some lists names and truncates long lists.
func Some(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ", ")
}
