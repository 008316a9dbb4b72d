package report

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// grid is a table of words: a line of headings, rows, and a last row apart, or
// nil. It is laid out the same everywhere: nothing of it depends on the locale.
type grid struct {
	columns []column
	rows    [][]word
	last    []word
}

// column is the heading of a column, and whether its words stand to the right.
type column struct {
	heading string
	right   bool
}

// word is what stands in a cell.
type word struct {
	text string
	bold bool // on a terminal
}

// words are texts as words.
func words(texts ...string) []word {
	out := make([]word, len(texts))
	for i, text := range texts {
		out[i].text = text
	}
	return out
}

// widths measure text in columns of a terminal: narrow where characters that are
// wide in the fonts of East Asia and narrow elsewhere, such as ± and ─, take one,
// and wide where they take two.
var (
	narrow = &runewidth.Condition{StrictEmojiNeutral: true}
	wide   = &runewidth.Condition{EastAsianWidth: true, StrictEmojiNeutral: true}
)

// lines returns the headings and all rows, the last one at the end.
func (g *grid) lines() [][]word {
	head := make([]word, len(g.columns))
	for i, c := range g.columns {
		head[i].text = c.heading
	}
	lines := append([][]word{head}, g.rows...)
	if g.last != nil {
		lines = append(lines, g.last)
	}
	return lines
}

// measure returns how wide the columns are.
func (g *grid) measure(by *runewidth.Condition) []int {
	widths := make([]int, len(g.columns))
	for _, line := range g.lines() {
		for i, w := range line {
			widths[i] = max(widths[i], by.StringWidth(w.text))
		}
	}
	return widths
}

// width is how wide the grid is on a terminal.
func (g *grid) width(by *runewidth.Condition) int {
	all := 0
	for _, w := range g.measure(by) {
		all += w + 2
	}
	return all
}

// text lays the grid out in characters of one width.
func (g *grid) text(by *runewidth.Condition) string {
	const line = "─"
	rule := strings.Repeat(line, g.width(by)/by.StringWidth(line)) + "\n"
	widths := g.measure(by)
	var out strings.Builder
	for at, row := range g.lines() {
		if at == len(g.rows)+1 {
			out.WriteString(rule)
		}
		var cells strings.Builder
		for i, w := range row {
			cells.WriteString(" " + g.pad(i, w, widths[i], by) + " ")
		}
		out.WriteString(strings.TrimRight(cells.String(), " ") + "\n")
		if at == 0 {
			out.WriteString(rule)
		}
	}
	return out.String()
}

// markdown writes the grid in GitHub's Markdown. The words are Markdown.
func (g *grid) markdown() string {
	widths := g.measure(narrow)
	var out strings.Builder
	for at, row := range g.lines() {
		out.WriteString("|")
		for i, w := range row {
			out.WriteString(" " + g.pad(i, word{text: w.text}, widths[i], narrow) + " |")
		}
		out.WriteString("\n")
		if at > 0 {
			continue
		}
		out.WriteString("|")
		for i, c := range g.columns {
			first, last := ":", " |"
			if c.right {
				first, last = " ", ":|"
			}
			out.WriteString(first + strings.Repeat("-", max(widths[i], 1)) + last)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// pad makes a word of a column so wide.
func (g *grid) pad(column int, w word, width int, by *runewidth.Condition) string {
	space := strings.Repeat(" ", max(0, width-by.StringWidth(w.text)))
	if w.bold {
		w.text = "\x1b[1m" + w.text + "\x1b[0m"
	}
	if g.columns[column].right {
		return space + w.text
	}
	return w.text + space
}

// wrap breaks text between words into lines that are at most so wide, as far as
// there are spaces to break it at.
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
