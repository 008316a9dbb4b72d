package table

import (
	"io"
	"strings"
)

// writeMyTSV writes each row as a line, with tabs between cells, and a blank line between
// grids.
func writeMyTSV(w io.Writer, d *Document, _ Options) error {
	var grids []string
	for _, g := range d.Grids {
		var out strings.Builder
		for _, line := range g.layout(textMarks).lines {
			for i := range line {
				line[i] = strings.TrimSpace(line[i])
			}
			out.WriteString(strings.Join(line, "\t") + "\n")
		}
		grids = append(grids, out.String())
	}
	_, err := io.WriteString(w, strings.Join(grids, "\n"))
	return err
}
