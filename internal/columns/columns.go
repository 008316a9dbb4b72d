// Package columns lays out tables and paragraphs for the width of a terminal, in characters. A width of 0 means
// unlimited.
package columns

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/mattn/go-runewidth"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"golang.org/x/term"
)

// Table is a table without lines. The zero value is empty and ready to use.
type Table struct {
	Header []string
	// Limits holds the largest width of each column, 0 for no limit. It may be shorter than the rows.
	Limits []int

	rows [][]string // a row with one cell is a heading
}

// Row adds a row.
func (t *Table) Row(cells ...any) {
	t.rows = append(t.rows, lists.Map(cells, func(c any) string { return fmt.Sprint(c) }))
}

// Heading adds a heading for the rows that follow.
func (t *Table) Heading(title string) { t.Row(title) }

// narrowest is the smallest width of a column that was narrowed. A table that needs less becomes one paragraph per row.
const narrowest = 16

// Text returns the table in lines of at most width characters. Empty columns are left out.
func (t *Table) Text(width int) string {
	configs, fits := t.columnWidths(width)
	if !fits {
		return t.paragraphs(width)
	}
	var b strings.Builder
	if t.Header != nil {
		render(&b, configs, [][]string{t.Header})
		if len(t.rows) > 0 && len(t.rows[0]) > 1 {
			b.WriteByte('\n')
		}
	}
	from := 0
	for i, row := range t.rows {
		if len(row) == 1 {
			render(&b, configs, t.rows[from:i])
			fmt.Fprintf(&b, "\n %s\n", row[0])
			from = i + 1
		}
	}
	render(&b, configs, t.rows[from:])
	return b.String()
}

// columnWidths returns the widths and alignments of the columns, and whether they fit.
func (t *Table) columnWidths(width int) (configs []table.ColumnConfig, fits bool) {
	for _, row := range t.rows {
		if len(row) == 1 {
			continue
		}
		for c, cell := range row {
			if c == len(configs) {
				configs = append(configs, table.ColumnConfig{Number: c + 1, Align: text.AlignRight})
			}
			of := &configs[c]
			of.WidthMax = max(of.WidthMax, text.LongestLineLen(cell))
			if _, err := strconv.Atoi(cell); err != nil {
				of.Align = text.AlignLeft
			}
		}
	}
	total := -1
	for c := range configs {
		of := &configs[c]
		if of.Hidden = of.WidthMax == 0; of.Hidden {
			continue
		}
		if c < len(t.Limits) && t.Limits[c] > 0 {
			of.WidthMax = min(of.WidthMax, t.Limits[c])
		}
		if t.Header != nil {
			of.WidthMax = max(of.WidthMax, text.LongestLineLen(t.Header[c]))
		}
		total += of.WidthMax + 2
	}
	for ; width > 0 && total > width; total-- {
		widest := &configs[0]
		for c := range configs {
			if configs[c].WidthMax > widest.WidthMax {
				widest = &configs[c]
			}
		}
		if widest.WidthMax--; widest.WidthMax < narrowest {
			return nil, false
		}
	}
	for c := range configs {
		configs[c].WidthMin, configs[c].WidthMaxEnforcer = configs[c].WidthMax, text.WrapSoft
	}
	return configs, true
}

func render(b *strings.Builder, configs []table.ColumnConfig, rows [][]string) {
	w := table.NewWriter()
	w.SetStyle(table.Style{Box: table.BoxStyle{PaddingLeft: " ", PaddingRight: " "}, Options: table.OptionsNoBordersAndSeparators})
	w.SetColumnConfigs(configs)
	for _, row := range rows {
		w.AppendRow(lists.Map(row, func(cell string) any { return cell }))
	}
	for line := range strings.Lines(w.Render()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

func (t *Table) paragraphs(width int) string {
	var b strings.Builder
	for i, row := range t.rows {
		switch {
		case len(row) == 1:
			b.WriteString("\n" + Hanging("", row[0], width))
			continue
		case t.Header == nil:
			b.WriteString(Hanging("", row[0], width) + Hanging("  ", row[1], width))
			continue
		case i > 0:
			b.WriteByte('\n')
		}
		b.WriteString(Hanging("", strings.TrimSpace(row[0]), width))
		for c, cell := range row[1:] {
			if cell != "" {
				b.WriteString(Hanging("  "+t.Header[1+c]+": ", strings.ReplaceAll(cell, "\n", ", "), width))
			}
		}
	}
	return b.String()
}

// Hanging returns lead followed by words, wrapped with a hanging indent of the width of lead. If lead leaves too little
// space, it gets its own line.
func Hanging(lead, words string, width int) string {
	if width <= 0 {
		return lead + words + "\n"
	}
	const below = 8
	width = max(width, below+narrowest)
	indent := text.StringWidthWithoutEscSequences(lead)
	if width-indent < narrowest {
		return strings.TrimRight(lead, " ") + "\n" + Hanging(strings.Repeat(" ", below), words, width)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text.WrapSoft(words, width-indent), "\n") {
		b.WriteString(strings.TrimRight(lead+line, " ") + "\n")
		lead = strings.Repeat(" ", indent)
	}
	return b.String()
}

// Reflow wraps the paragraphs of a text that is wider than width. Lines that begin with a space are unchanged.
func Reflow(words string, width int) string {
	if text.LongestLineLen(words) <= width {
		return words
	}
	var out []string
	paragraph := false // the last line belongs to a paragraph
	for line := range strings.SplitSeq(words, "\n") {
		flows := line != "" && line[0] != ' '
		if flows && paragraph {
			out[len(out)-1] += " " + line
		} else {
			out = append(out, line)
		}
		paragraph = flows
	}
	for i, line := range out {
		if line != "" && line[0] != ' ' {
			out[i] = strings.TrimRight(Hanging("", line, width), "\n")
		}
	}
	return strings.Join(out, "\n")
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// IsWide reports whether w is a terminal that shows characters such as ± and ─ two columns wide, according to the
// environment.
func IsWide(w io.Writer) bool { return runewidth.EastAsianWidth && IsTerminal(w) }

// Width returns the width of the terminal w in characters, or 0 if w is not a terminal.
func Width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}
