package vectorfile

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// writeTable writes a set as Write says for CSV. A number has the fewest digits
// that tell it from all others.
func writeTable(w *bufio.Writer, s *Content) error {
	for _, names := range [][]string{s.Names, s.Classes} {
		for _, name := range names {
			if name != strings.TrimSpace(name) || strings.Contains(name, "\r\n") {
				return fmt.Errorf("the name %q, with white space at an end or a carriage return, would not be read as it is from a .csv", name)
			}
		}
	}
	n, m := s.Vectors.Dims()
	if m+2 > mostVectorColumns {
		return fmt.Errorf("%d columns, and a .csv of more than %d would not be read", m+2, mostVectorColumns)
	}
	w.WriteString(nameColumn + ",class")
	of := s.Features
	if of == nil {
		of = []Columns{{Name: "x", Count: m}}
	}
	for _, f := range of {
		for j := range f.Count {
			w.WriteString("," + f.Name + strconv.Itoa(j+1))
		}
	}
	w.WriteByte('\n')
	row := rowsOf(s.Vectors)
	for i := range n {
		w.WriteString(quoteCell(spreadsheet.Cell(s.Names[i])))
		w.WriteByte(',')
		if l := s.Labels[i]; l >= 0 {
			w.WriteString(quoteCell(spreadsheet.Cell(s.Classes[l])))
		}
		for _, v := range row(i) {
			w.Write(strconv.AppendFloat(append(w.AvailableBuffer(), ','), v, 'g', -1, 64))
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}

// quoteCell puts a cell in quotes where it needs them.
func quoteCell(cell string) string {
	if !strings.ContainsAny(cell, ",\"\r\n") {
		return cell
	}
	return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
}
