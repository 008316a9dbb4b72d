package table

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/seed4492f2cd/partwise/internal/phrase"
)

// words puts a table's cells into words, row by row, the average last.
func (t *Table) words() [][]Word {
	width := 0
	for _, row := range t.all() {
		for _, c := range row.Cells {
			if c.HasSD {
				width = max(width, len(t.Score.Format(c.SD)))
			}
		}
	}
	var out [][]Word
	for _, row := range t.all() {
		words := make([]Word, len(row.Cells))
		for i, c := range row.Cells {
			words[i] = Word{Text: missing, Mark: Unmarked, Fields: c.fields(t.Tests)}
			if c.N == 0 {
				continue
			}
			words[i].Text = t.Score.Format(c.Mean)
			if c.HasSD {
				words[i].Deviation = t.Score.Format(c.SD)
				words[i].Pad = width - len(words[i].Deviation)
			}
			if !row.Average && c.N < t.Repeats {
				words[i].N = c.N
			}
			switch {
			case c.Best:
				words[i].Mark, words[i].Bold = MarkBest, true
			case c.Verdict == Equivalent:
				words[i].Mark = MarkEquivalent
			case c.Tied():
				words[i].Mark = MarkTied
			}
		}
		out = append(out, words)
	}
	return out
}

// cellFields are the columns of a cell in CSV: n is the number of finished trials,
// mean is empty without any and sd where there is but one, best is "best" or empty, and
// all others are empty where no test was made. The difference is that from the best, from low to
// high its interval of 95 %, and effect and biserial how large it is; p is corrected, and of a
// Bayesian test there are the probabilities of a difference below, within and above the region
// of practical equivalence in its place.
var cellFields = []string{"n", "mean", "sd", "best", "pairs", "p", "uncorrected", "difference", "low", "high", "effect", "biserial", "below", "within", "above"}

// fields is the cell as its columns in CSV.
func (c Cell) fields(by Tests) []string {
	line := make([]string, len(cellFields))
	line[0] = strconv.Itoa(c.N)
	if c.N > 0 {
		line[1] = full(c.Mean)
	}
	if c.HasSD {
		line[2] = full(c.SD)
	}
	if c.Best {
		line[3] = "best"
	}
	if c.Pairs == 0 {
		return line
	}
	line[4], line[7], line[11] = strconv.Itoa(c.Pairs), full(c.Difference), full(c.Biserial)
	if c.HasInterval {
		line[8], line[9] = full(c.Low), full(c.High)
	}
	if c.HasEffect {
		line[10] = full(c.Effect)
	}
	if by.By.Bayesian() {
		line[12], line[13], line[14] = full(c.Chances.Below), full(c.Chances.Within), full(c.Chances.Above)
	} else {
		line[5], line[6] = full(c.P), full(c.Raw)
	}
	return line
}

// full is a number with all of its digits.
func full(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// label names a row.
func (r Row) label() string {
	if r.Average {
		return "Average"
	}
	return cmp.Or(r.Name, strconv.Itoa(r.Number))
}

// Describe is a row in words: "5 classes", or "rank 10".
func (t *Table) Describe(r Row) string {
	if t.Ranks {
		return fmt.Sprintf("rank %d", r.Number)
	}
	return phrase.Count(r.Number, "class", "classes")
}
