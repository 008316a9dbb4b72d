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
func List(words []string) string { return english.WordSeries(words, "and") }

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

// Guess returns a hint such as "; did you mean nmf?" with up to three names that are similar to an unknown one, or "". A
// name is similar if it begins with the unknown one, or if their edit distance is at most 1 or a third of the
// letters.
func Guess(name string, names []string) string {
	name = strings.ToLower(name)
	if name == "" {
		return ""
	}
	least := max(1, len(name)/3)
	var near []string
	for _, n := range names {
		d := distance(name, strings.ToLower(n))
		if len(name) > 1 && strings.HasPrefix(strings.ToLower(n), name) {
			d = min(d, 1)
		}
		if d < least {
			near, least = nil, d
		}
		if d == least && d < max(len(name), len(n)) {
			near = append(near, n)
		}
	}
	near = slices.Compact(slices.Sorted(slices.Values(near)))
	if len(near) == 0 || len(near) > 3 {
		return ""
	}
	return "; did you mean " + english.WordSeries(near, "or") + "?"
}

// Choices ends the error of an unknown name: with the names that may be meant, or else with all names.
func Choices(name string, names []string) string {
	if near := Guess(name, names); near != "" {
		return near
	}
	return " (choices: " + strings.Join(names, ", ") + ")"
}

// distance is the edit distance in bytes, with swaps of neighbours (Damerau 1964; optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j]+change, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
