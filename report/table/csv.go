package table

import (
	"encoding/csv"
	"io"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// writeCSV writes the score, the keys of the row and the fields of its values in one line, or, if the
// columns are methods, a line for each method. Numbers have full precision and the unit of the records.
// A text that a spreadsheet would read as a formula begins with an apostrophe.
func writeCSV(w io.Writer, d *Document, _ Options) error {
	out := csv.NewWriter(w)
	for i, g := range d.Grids {
		if g.Detail {
			continue
		}
		if i == 0 {
			out.Write(g.csvHeadings())
		}
		for _, row := range g.Lines {
			line := []string{spreadsheet.Cell(g.Score)}
			for _, key := range row.Keys {
				line = append(line, spreadsheet.Cell(key))
			}
			for c, word := range row.Words[g.Keys:] {
				if g.Fields != nil {
					method := spreadsheet.Cell(g.Columns[g.Keys+c].Heading)
					out.Write(append(append(slices.Clone(line), method), word.Fields...))
					continue
				}
				line = append(line, word.Fields...)
			}
			if g.Fields == nil {
				out.Write(line)
			}
		}
	}
	out.Flush()
	return out.Error()
}

func (g Grid) csvHeadings() []string {
	line := append([]string{"score"}, g.KeyFields...)
	if g.Fields != nil {
		return append(append(line, "method"), g.Fields...)
	}
	for _, c := range g.Columns[g.Keys:] {
		line = append(line, c.Fields...)
	}
	return line
}
