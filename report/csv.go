package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// CSV writes a line for each cell: score, classes ("average" in the last row),
// method, n (finished trials), mean, sd, best ("best" or empty), pairs and p
// (both empty where no test was made). Numbers have full precision and the
// unit of the records; mean is empty without trials, and sd where there is
// but one.
func (t *Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	full := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	out.Write([]string{"score", strings.ToLower(t.heading()), "method", "n", "mean", "sd", "best", "pairs", "p"})
	for _, row := range t.all() {
		for i, c := range row.Cells {
			line := []string{t.Score, strings.ToLower(row.label()), t.Methods[i], strconv.Itoa(c.N), "", "", "", "", ""}
			if c.N > 0 {
				line[4] = full(c.Mean)
			}
			if c.HasSD {
				line[5] = full(c.SD)
			}
			if c.Best {
				line[6] = "best"
			}
			if c.Pairs > 0 {
				line[7], line[8] = strconv.Itoa(c.Pairs), full(c.P)
			}
			out.Write(line)
		}
	}
	out.Flush()
	return out.Error()
}
