package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// CSV writes a line for each cell: score, classes, rank or class ("average" in the
// last row), method, n (finished trials), mean, sd, best ("best" or empty), pairs and p
// (both empty where no test was made). Numbers have full precision and the
// unit of the records; mean is empty without trials, and sd where there is
// but one. A text that a spreadsheet would take for a formula has an apostrophe
// before it.
func (t *Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(append([]string{"score", strings.ToLower(t.heading()), "method"}, cellHeadings...))
	for _, row := range t.all() {
		label := row.label()
		if row.Average {
			label = strings.ToLower(label)
		}
		for i, c := range row.Cells {
			out.Write(append(cells(t.Score.Name, label, t.Methods[i]), c.csv()...))
		}
	}
	out.Flush()
	return out.Error()
}

// CSV writes a line for each row: score, method, rank and setting (empty where a
// method has none), and the cell as in the CSV of a Table.
func (b *Best) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(append([]string{"score", "method", "rank", "setting"}, cellHeadings...))
	for _, r := range b.Rows {
		rank := ""
		if r.Rank > 0 {
			rank = strconv.Itoa(r.Rank)
		}
		out.Write(append(cells(b.Table.Score.Name, r.Method, rank, r.Setting), r.Cell.csv()...))
	}
	out.Flush()
	return out.Error()
}

// cells are texts as the cells of a line.
func cells(texts ...string) []string {
	for i, text := range texts {
		texts[i] = spreadsheet.Cell(text)
	}
	return texts
}

// cellHeadings are the columns of a cell.
var cellHeadings = []string{"n", "mean", "sd", "best", "pairs", "p"}

// csv is the cell as its columns.
func (c Cell) csv() []string {
	full := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	line := []string{strconv.Itoa(c.N), "", "", "", "", ""}
	if c.N > 0 {
		line[1] = full(c.Mean)
	}
	if c.HasSD {
		line[2] = full(c.SD)
	}
	if c.Best {
		line[3] = "best"
	}
	if c.Pairs > 0 {
		line[4], line[5] = strconv.Itoa(c.Pairs), full(c.P)
	}
	return line
}
