package table

import (
	"io"
	"regexp"
	"strings"
	"sync"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// captionWidth is the width of captions without another limit.
const captionWidth = 100

var textMarks = Marks{
	Foreign: plaintext.Line, Own: strings.NewReplacer("@best", "*", "@tied", "~", "@same", "=", "@differs", "*"),
	PlusMinus: " ± ", Pad: " ", Enclose: "%s", EncloseBest: "%s",
	Mark: [...]string{Unmarked: "  ", MarkBest: " *", MarkTied: " ~", MarkEquivalent: " =", MarkDiffers: " *"}, // of one width
}

// Text writes fixed-width characters.
func Text(w io.Writer, d *Document, opt Options) error {
	return withWidths(opt.Wide, func() error {
		var parts []string
		if d.Heading != nil {
			parts = append(parts, strings.Join(textMarks.lines(d), "\n")+"\n")
		}
		for _, g := range d.Grids {
			if g.Title != "" {
				parts = append(parts, opt.wrap(textMarks.Foreign(g.Title)))
			}
			for from := 0; ; {
				to := g.values()
				block := g.part(from, to).text(opt)
				for opt.Width > 0 && to-from > 1 && text.LongestLineLen(block) > opt.Width {
					to--
					block = g.part(from, to).text(opt)
				}
				parts = append(parts, block)
				if from = to; from >= g.values() {
					break
				}
			}
		}
		parts = append(parts, opt.wrap(textMarks.captions(d)))
		_, err := io.WriteString(w, strings.Join(parts, "\n"))
		return err
	})
}

var widths sync.Mutex

// withWidths measures characters of ambiguous width, such as ±, as narrow or wide within f, whatever the
// locale. go-pretty keeps this choice for the whole process.
func withWidths(wide bool, f func() error) error {
	widths.Lock()
	defer widths.Unlock()
	text.OverrideRuneWidthEastAsianWidth(wide)
	return f()
}

// text lays the grid out in characters of one width.
func (g Grid) text(opt Options) string {
	l := g.layout(textMarks)
	for r, line := range g.Lines {
		for i, word := range line.Words {
			if opt.Colour && word.Bold && i >= g.Keys {
				l.lines[r+1][i] = text.Bold.Sprint(l.lines[r+1][i])
			}
		}
	}
	return l.pretty().Render() + "\n"
}

// layout is a grid in the words of a format: headings first, then the rows.
type layout struct {
	columns []Column
	lines   [][]string
	average int // the line of the average, or 0
}

// layout puts a grid into the words of a format.
func (g Grid) layout(m Marks) layout {
	head := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		if head[i] = m.Foreign(c.Heading); c.Method && m.Method != nil {
			head[i] = m.Method(c.Heading)
		}
	}
	l := layout{columns: g.Columns, lines: [][]string{head}}
	for _, row := range g.Lines {
		if row.Average {
			l.average = len(l.lines)
		}
		line := make([]string, len(row.Words))
		for i, w := range row.Words {
			switch {
			case i >= g.Keys:
				line[i] = m.value(w)
			case g.Columns[i].Settings && m.Setting != nil:
				line[i] = m.Setting(w.Text)
			default:
				line[i] = m.Foreign(w.Text)
			}
		}
		l.lines = append(l.lines, line)
	}
	return l
}

// pretty returns the layout as a table with rules below the headings and above the average.
func (l layout) pretty() *pretty.Table {
	t := &pretty.Table{}
	t.SetStyle(pretty.Style{
		Box:      pretty.BoxStyle{MiddleHorizontal: "─", PaddingLeft: " ", PaddingRight: " ", PageSeparator: "\n"},
		Markdown: pretty.MarkdownOptions{PadContent: true},
		Options:  pretty.Options{SeparateHeader: true},
	})
	t.SuppressTrailingSpaces()
	var columns []pretty.ColumnConfig
	for i, c := range l.columns {
		align := text.AlignLeft
		if c.Right {
			align = text.AlignRight
		}
		columns = append(columns, pretty.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	t.SetColumnConfigs(columns)
	for i, line := range l.lines {
		row := make(pretty.Row, len(line))
		for j, word := range line {
			row[j] = word
		}
		switch {
		case i == 0:
			t.AppendHeader(row)
			continue
		case i == l.average:
			t.AppendSeparator()
		}
		t.AppendRow(row)
	}
	return t
}

// wrap breaks text between words into lines.
func (opt Options) wrap(words string) string {
	width := captionWidth
	if opt.Width > 0 {
		width = min(width, opt.Width)
	}
	return padding.ReplaceAllString(text.WrapSoft(strings.Join(strings.Fields(words), " "), width)+"\n", "\n")
}

var padding = regexp.MustCompile(` +\n`)
