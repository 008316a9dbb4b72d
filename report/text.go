package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// TextOptions say how a table is printed on a terminal.
type TextOptions struct {
	// Colour prints the best of each row in bold.
	Colour bool
	// Width is the width of the terminal in characters; a wider table is
	// printed in blocks of columns, one below the other. 0 means no limit.
	Width int
}

// captionWidth is where captions are broken when nothing else limits them.
const captionWidth = 100

// Text prints the table in fixed-width characters, the best of each row marked
// with *.
func (t *Table) Text(w io.Writer, opt TextOptions) error {
	cells := t.text(" ± ", " ")
	words := make([][]string, len(cells))
	for r := range cells {
		words[r] = make([]string, len(cells[r]))
		for c, cell := range cells[r] {
			words[r][c] = cell.plain(opt.Colour)
		}
	}

	var out strings.Builder
	for from := 0; ; {
		to := len(t.Methods)
		block := t.grid(words, from, to).Render()
		for opt.Width > 0 && to-from > 1 && text.LongestLineLen(block) > opt.Width {
			to--
			block = t.grid(words, from, to).Render()
		}
		out.WriteString(block + "\n\n")
		if from = to; from >= len(t.Methods) {
			break
		}
	}
	width := captionWidth
	if opt.Width > 0 {
		width = min(width, opt.Width)
	}
	for line := range strings.Lines(text.WrapSoft(t.caption("*", "~"), width)) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// plain is the cell with its mark behind it, always one character wide.
func (c cellText) plain(bold bool) string {
	s := c.Value
	if c.N > 0 {
		s = fmt.Sprintf("(%d) %s", c.N, s)
	}
	switch {
	case c.Best && bold:
		return "\x1b[1m" + s + " *\x1b[0m"
	case c.Best:
		return s + " *"
	case c.Tied:
		return s + " ~"
	}
	return s + "  "
}

// grid lays out the rows' words for the methods from (inclusive) to
// (exclusive).
func (t *Table) grid(words [][]string, from, to int) table.Writer {
	style := table.StyleLight
	style.Format.Header, style.Format.Footer = text.FormatDefault, text.FormatDefault
	style.Options = table.Options{SeparateHeader: true, SeparateFooter: true}
	style.Markdown.PadContent = true
	g := table.NewWriter()
	g.SetStyle(style)
	g.SuppressTrailingSpaces()

	header := table.Row{t.heading()}
	columns := []table.ColumnConfig{{Number: 1, Align: text.AlignRight, AlignHeader: text.AlignRight, AlignFooter: text.AlignRight}}
	for i, method := range t.Methods[from:to] {
		header = append(header, method)
		column := columns[0]
		column.Number = i + 2
		columns = append(columns, column)
	}
	g.AppendHeader(header)
	g.SetColumnConfigs(columns)
	for i, row := range t.all() {
		line := table.Row{row.label()}
		for _, word := range words[i][from:to] {
			line = append(line, word)
		}
		if row.Average {
			g.AppendFooter(line)
		} else {
			g.AppendRow(line)
		}
	}
	return g
}
