// Package row is what comparisons tell bench/main.go: a row of a table each, as a line
// of JSON.
package row

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Row is one problem on which another program and this one ran in turn.
type Row struct {
	Problem string `json:"problem"`
	// Beside is the other program, with its version.
	Beside string `json:"beside"`
	// Theirs and Ours are the seconds of each run, of which those of one place ran one
	// after the other, and those of a processor where they are known.
	Theirs          []float64 `json:"theirs"`
	Ours            []float64 `json:"ours"`
	TheirsProcessor []float64 `json:"theirs_processor,omitempty"`
	OursProcessor   []float64 `json:"ours_processor,omitempty"`
	Note            string    `json:"note,omitempty"`
}

// Write writes the row as a line.
func (r Row) Write(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// Header is the head of a table of rows in Markdown.
const Header = `| problem | beside | its s | ours, s | share | its s of a processor | ours, s | share | |
|---|---|---|---|---|---|---|---|---|
`

// Markdown returns the row of the table: medians, and the medians of what share ours is.
func (r Row) Markdown() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", r.Problem, r.Beside, times(r.Theirs, r.Ours), times(r.TheirsProcessor, r.OursProcessor), r.Note)
}

func times(theirs, ours []float64) string {
	if len(theirs) == 0 || len(theirs) != len(ours) {
		return " | | "
	}
	shares := make([]float64, len(ours))
	for i := range shares {
		shares[i] = ours[i] / theirs[i]
	}
	share := fmt.Sprintf("%.2f", Median(shares))
	if m := Median(shares); m < 0.5 {
		share = fmt.Sprintf("1/%.3g", 1/m)
	}
	return fmt.Sprintf("%s | %s | %s", seconds(Median(theirs)), seconds(Median(ours)), share)
}

// seconds returns two digits, or all before the point.
func seconds(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// Median returns the median of some numbers.
func Median[T cmp.Ordered](of []T) T {
	return slices.Sorted(slices.Values(of))[len(of)/2]
}
