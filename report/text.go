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
	out.WriteString(wrapped(t.caption("*", "~"), opt))
	_, err := io.WriteString(w, out.String())
	return err
}

// wrapped breaks a caption into lines.
func wrapped(caption string, opt TextOptions) string {
	width := captionWidth
	if opt.Width > 0 {
		width = min(width, opt.Width)
	}
	var out strings.Builder
	for line := range strings.Lines(text.WrapSoft(caption, width)) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.String()
}

// Text prints the table in fixed-width characters, the best marked with *.
func (b *Best) Text(w io.Writer, opt TextOptions) error {
	var words []string
	for _, cell := range b.texts(" ± ", " ") {
		words = append(words, cell.plain(opt.Colour))
	}
	_, err := fmt.Fprintf(w, "%s\n\n%s", b.grid(words).Render(), wrapped(b.caption("*", "~"), opt))
	return err
}

// grid lays out the words of the rows' scores with what the rows are.
func (b *Best) grid(words []string) table.Writer {
	g := newGrid()
	var header table.Row
	var columns []table.ColumnConfig
	for i, heading := range b.headings() {
		header = append(header, heading)
		align := text.AlignLeft
		if heading == rankHeading || i == len(b.headings())-1 {
			align = text.AlignRight
		}
		columns = append(columns, aligned(i+1, align))
	}
	g.AppendHeader(header)
	g.SetColumnConfigs(columns)
	for i, row := range b.Rows {
		var line table.Row
		for _, word := range append(b.what(row), words[i]) {
			line = append(line, word)
		}
		g.AppendRow(line)
	}
	return g
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

// newGrid returns an empty grid of words.
func newGrid() table.Writer {
	style := table.StyleLight
	style.Format.Header, style.Format.Footer = text.FormatDefault, text.FormatDefault
	style.Options = table.Options{SeparateHeader: true, SeparateFooter: true}
	style.Markdown.PadContent = true
	g := table.NewWriter()
	g.SetStyle(style)
	g.SuppressTrailingSpaces()
	return g
}

// aligned is a column, from 1, of a grid.
func aligned(number int, align text.Align) table.ColumnConfig {
	return table.ColumnConfig{Number: number, Align: align, AlignHeader: align, AlignFooter: align}
}

// labelAlign is how the rows' labels stand: numbers to the right.
func (t *Table) labelAlign() text.Align {
	if t.ByClass {
		return text.AlignLeft
	}
	return text.AlignRight
}

// grid lays out the rows' words for the methods from (inclusive) to
// (exclusive).
func (t *Table) grid(words [][]string, from, to int) table.Writer {
	g := newGrid()
	header := table.Row{t.heading()}
	columns := []table.ColumnConfig{aligned(1, t.labelAlign())}
	for i, method := range t.Methods[from:to] {
		header = append(header, method)
		columns = append(columns, aligned(i+2, text.AlignRight))
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
