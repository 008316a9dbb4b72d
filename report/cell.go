package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

const missing = "–"

// percent prints a score as a percentage with one decimal.
func percent(score float64) string {
	return withoutMinusZero(fmt.Sprintf("%.1f", 100*score))
}

// withoutMinusZero takes the sign off a number that was rounded to 0.
func withoutMinusZero(number string) string {
	if strings.Trim(number, "-0.") == "" {
		return strings.TrimPrefix(number, "-")
	}
	return number
}

// sd prints the standard deviation of a cell, or nothing where there is none.
func (t *Table) sd(c Cell) string {
	if !c.HasSD {
		return ""
	}
	return scoreText(t.Score, c.SD)
}

// cellText is a cell in words. The deviations of a table are padded to one
// width, so that right-aligned columns stand in line.
type cellText struct {
	// Value is the mean, and the deviation where there is one, or a dash.
	Value string
	// N is the number of trials where it is smaller than the table's number
	// of repeats, else 0.
	N          int
	Best, Tied bool
}

// text puts a table's cells into words, row by row, the average last: pm stands
// between mean and deviation, and pad is as wide as a digit.
func (t *Table) text(pm, pad string) [][]cellText {
	width := 0
	for _, row := range t.all() {
		for _, c := range row.Cells {
			width = max(width, len(t.sd(c)))
		}
	}
	var texts [][]cellText
	for _, row := range t.all() {
		cells := make([]cellText, len(row.Cells))
		for i, c := range row.Cells {
			if c.N == 0 {
				cells[i].Value = missing
				continue
			}
			cells[i] = cellText{Value: scoreText(t.Score, c.Mean), Best: c.Best, Tied: c.Tied()}
			if sd := t.sd(c); sd != "" {
				cells[i].Value += pm + strings.Repeat(pad, width-len(sd)) + sd
			}
			if !row.Average && c.N < t.Repeats {
				cells[i].N = c.N
			}
		}
		texts = append(texts, cells)
	}
	return texts
}

// label names a row.
func (r Row) label() string {
	if r.Average {
		return "Average"
	}
	return cmp.Or(r.Name, strconv.Itoa(r.Number))
}

// rankText is a rank in words, a dash for methods that have none.
func rankText(rank int) string {
	if rank == 0 {
		return missing
	}
	return strconv.Itoa(rank)
}

// what is a row in words: "5 classes", or "rank 10".
func (t *Table) what(r Row) string {
	if t.Ranks {
		return fmt.Sprintf("rank %d", r.Number)
	}
	return count(r.Number, "class", "classes")
}
