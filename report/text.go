package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// TextOptions say how a table is printed on a terminal. With none, as in files,
// the bytes are the same everywhere.
type TextOptions struct {
	// Colour prints the best of each row in bold.
	Colour bool
	// Width is the width of the terminal in characters; a wider table is
	// printed in blocks of columns, one below the other. 0 means no limit.
	Width int
	// Wide says that the terminal shows characters of ambiguous width, such as ±
	// and ─, two columns wide, as some do in East Asian locales.
	Wide bool
}

// widths is how the terminal measures text.
func (opt TextOptions) widths() *runewidth.Condition {
	if opt.Wide {
		return wide
	}
	return narrow
}

// captionWidth is where captions are broken when nothing else limits them.
const captionWidth = 100

// textMarks are the marks of text. Names are shown as plaintext.Line shows them.
var textMarks = marks{best: "*", tied: "~", foreign: plaintext.Line}

// Text prints the table in fixed-width characters, the best of each row marked
// with *.
func (t *Table) Text(w io.Writer, opt TextOptions) error {
	cells := t.text(" ± ", " ")
	words := make([][]word, len(cells))
	for r := range cells {
		words[r] = make([]word, len(cells[r]))
		for c, cell := range cells[r] {
			words[r][c] = cell.plain(opt.Colour)
		}
	}

	var out strings.Builder
	for from := 0; ; {
		to := len(t.Methods)
		block := t.grid(words, from, to, plaintext.Line)
		for opt.Width > 0 && to-from > 1 && block.width(opt.widths()) > opt.Width {
			to--
			block = t.grid(words, from, to, plaintext.Line)
		}
		out.WriteString(block.text(opt.widths()) + "\n")
		if from = to; from >= len(t.Methods) {
			break
		}
	}
	out.WriteString(opt.wrapped(t.caption(textMarks)))
	_, err := io.WriteString(w, out.String())
	return err
}

// wrapped breaks a caption into lines.
func (opt TextOptions) wrapped(caption string) string {
	width := captionWidth
	if opt.Width > 0 {
		width = min(width, opt.Width)
	}
	return wrap(caption, width, opt.widths())
}

// Text prints the table in fixed-width characters, the best marked with *.
func (b *Best) Text(w io.Writer, opt TextOptions) error {
	var words []word
	for _, cell := range b.texts(" ± ", " ") {
		words = append(words, cell.plain(opt.Colour))
	}
	grid := b.grid(words, plaintext.Line)
	_, err := fmt.Fprintf(w, "%s\n%s", grid.text(opt.widths()), opt.wrapped(b.caption(textMarks)))
	return err
}

// grid lays out the words of the rows' scores with what the rows are, which goes
// through the given function.
func (b *Best) grid(scores []word, foreign func(string) string) *grid {
	g := &grid{}
	for i, heading := range b.headings() {
		g.columns = append(g.columns, column{foreign(heading), heading == rankHeading || i == len(b.headings())-1})
	}
	for i, row := range b.Rows {
		line := words(b.what(row)...)
		for j := range line {
			line[j].text = foreign(line[j].text)
		}
		g.rows = append(g.rows, append(line, scores[i]))
	}
	return g
}

// plain is the cell with its mark behind it, always one character wide.
func (c cellText) plain(bold bool) word {
	s := c.Value
	if c.N > 0 {
		s = fmt.Sprintf("(%d) %s", c.N, s)
	}
	switch {
	case c.Best:
		return word{s + " *", bold}
	case c.Tied:
		return word{s + " ~", false}
	}
	return word{s + "  ", false}
}

// grid lays out the rows' words for the methods from (inclusive) to (exclusive).
// Names go through the given function.
func (t *Table) grid(scores [][]word, from, to int, foreign func(string) string) *grid {
	g := &grid{columns: []column{{t.heading(), !t.ByClass}}} // numbers stand to the right
	for _, method := range t.Methods[from:to] {
		g.columns = append(g.columns, column{foreign(method), true})
	}
	for i, row := range t.all() {
		line := append(words(foreign(row.label())), scores[i][from:to]...)
		if row.Average {
			g.last = line
		} else {
			g.rows = append(g.rows, line)
		}
	}
	return g
}
