package table

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// widths measure text in columns of a terminal: narrow where characters that are
// wide in the fonts of East Asia and narrow elsewhere, such as ± and ─, take one,
// and wide where they take two. Nothing depends on the locale.
var (
	narrow = &runewidth.Condition{StrictEmojiNeutral: true}
	wide   = &runewidth.Condition{EastAsianWidth: true, StrictEmojiNeutral: true}
)

// widths is how the terminal measures text.
func (opt Options) widths() *runewidth.Condition {
	if opt.Wide {
		return wide
	}
	return narrow
}

// captionWidth is where captions are broken when nothing else limits them.
const captionWidth = 100

// textMarks are the marks of text. Names are shown as plaintext.Line shows them.
var textMarks = Marks{Best: "*", Tied: "~", Equivalent: "=", Differs: "*", Foreign: plaintext.Line}

// Text writes fixed-width characters.
func Text(w io.Writer, d *Document, opt Options) error {
	var parts []string
	if d.Heading != nil {
		parts = append(parts, strings.Join(d.Heading(textMarks), "\n")+"\n")
	}
	for _, g := range d.Grids {
		if g.Title != "" {
			parts = append(parts, opt.wrapped(textMarks.Foreign(g.Title)))
		}
		for from := 0; ; {
			to := g.values()
			block := g.part(from, to).layout(textMarks, plain, opt.Colour)
			for opt.Width > 0 && to-from > 1 && block.width(opt.widths()) > opt.Width {
				to--
				block = g.part(from, to).layout(textMarks, plain, opt.Colour)
			}
			parts = append(parts, block.text(opt.widths()))
			if from = to; from >= g.values() {
				break
			}
		}
	}
	parts = append(parts, opt.wrapped(d.captions(textMarks)))
	_, err := io.WriteString(w, strings.Join(parts, "\n"))
	return err
}

// wrapped breaks a caption into lines.
func (opt Options) wrapped(caption string) string {
	width := captionWidth
	if opt.Width > 0 {
		width = min(width, opt.Width)
	}
	return wrap(caption, width, opt.widths())
}

// plain is a value with its mark behind it, always one character wide.
func plain(w Word) string {
	s := w.Text
	if w.Deviation != "" {
		s += " ± " + strings.Repeat(" ", w.Pad) + w.Deviation
	}
	if w.N > 0 {
		s = fmt.Sprintf("(%d) %s", w.N, s)
	}
	return s + [...]string{NoMark: "", Unmarked: "  ", MarkBest: " *", MarkTied: " ~", MarkEquivalent: " =", MarkDiffers: " *"}[w.Mark]
}

// layout is a grid in the words of a format: headings first, then the rows.
type layout struct {
	columns []Column
	lines   [][]string
	bold    [][]bool
	// apart is the line that stands apart from those above, or 0.
	apart int
}

// layout puts a grid into the words of a format, values by the given function.
func (g Grid) layout(m Marks, value func(Word) string, bold bool) layout {
	head := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		head[i] = m.Foreign(c.Heading)
	}
	l := layout{columns: g.Columns, lines: [][]string{head}, bold: [][]bool{make([]bool, len(head))}}
	for _, row := range g.Lines {
		if row.Average {
			l.apart = len(l.lines)
		}
		line, marked := make([]string, len(row.Words)), make([]bool, len(row.Words))
		for i, w := range row.Words {
			if i < g.Keys {
				line[i] = m.Foreign(w.Text)
			} else {
				line[i], marked[i] = value(w), bold && w.Bold
			}
		}
		l.lines, l.bold = append(l.lines, line), append(l.bold, marked)
	}
	return l
}

// measure returns how wide the columns are.
func (l layout) measure(by *runewidth.Condition) []int {
	widths := make([]int, len(l.columns))
	for _, line := range l.lines {
		for i, w := range line {
			widths[i] = max(widths[i], by.StringWidth(w))
		}
	}
	return widths
}

// width is how wide the grid is on a terminal.
func (l layout) width(by *runewidth.Condition) int {
	all := 0
	for _, w := range l.measure(by) {
		all += w + 2
	}
	return all
}

// text lays the grid out in characters of one width.
func (l layout) text(by *runewidth.Condition) string {
	const line = "─"
	rule := strings.Repeat(line, l.width(by)/by.StringWidth(line)) + "\n"
	widths := l.measure(by)
	var out strings.Builder
	for at := range l.lines {
		if at > 0 && at == l.apart {
			out.WriteString(rule)
		}
		var cells strings.Builder
		for i, width := range widths {
			cells.WriteString(" " + l.padded(at, i, width, by) + " ")
		}
		out.WriteString(strings.TrimRight(cells.String(), " ") + "\n")
		if at == 0 {
			out.WriteString(rule)
		}
	}
	return out.String()
}

// padded is a word of a column, with spaces up to its width.
func (l layout) padded(line, column, width int, by *runewidth.Condition) string {
	w := l.lines[line][column]
	space := strings.Repeat(" ", max(0, width-by.StringWidth(w)))
	if l.bold[line][column] {
		w = "\x1b[1m" + w + "\x1b[0m"
	}
	if l.columns[column].Right {
		return space + w
	}
	return w + space
}

// wrap breaks text between words into lines that are at most width characters wide, as
// far as there are spaces to break it at.
func wrap(text string, width int, by *runewidth.Condition) string {
	var out strings.Builder
	at := 0
	for i, w := range strings.Fields(text) {
		size := by.StringWidth(w)
		switch {
		case i == 0:
		case at+1+size > width:
			out.WriteString("\n")
			at = 0
		default:
			out.WriteString(" ")
			at++
		}
		out.WriteString(w)
		at += size
	}
	return out.String() + "\n"
}
