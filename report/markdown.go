package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// markdownEscape keeps the characters of names from being read as Markdown.
var markdownEscape = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`,
	`<`, `\<`, `>`, `\>`, `&`, `\&`, `~`, `\~`, `#`, `\#`, `$`, `\$`, `|`, `\|`,
	`://`, `\://`, `www.`, `www\.`, `WWW.`, `WWW\.`,
)

// markdownBlock is what begins a list at the start of a paragraph.
var markdownBlock = regexp.MustCompile(`^([0-9]*)([-+.)])`)

// markdownText returns a name as Markdown that shows nothing but it.
func markdownText(name string) string {
	return markdownBlock.ReplaceAllString(markdownEscape.Replace(plaintext.Line(strings.TrimSpace(name))), `$1\$2`)
}

var markdownMarks = marks{best: "Bold", tied: "`~`", foreign: markdownText}

// Markdown writes the table in GitHub's Markdown, the best of each row in
// bold, with the caption below it.
func (t *Table) Markdown(w io.Writer) error {
	cells := t.text(" ± ", "\u2007")
	words := make([][]word, len(cells))
	for r := range cells {
		for _, cell := range cells[r] {
			words[r] = append(words[r], cell.markdown())
		}
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", t.grid(words, 0, len(t.Methods), markdownText).markdown(), t.caption(markdownMarks))
	return err
}

// Markdown writes the table in GitHub's Markdown, the best in bold, with the
// caption below it.
func (b *Best) Markdown(w io.Writer) error {
	var words []word
	for _, cell := range b.texts(" ± ", "\u2007") {
		words = append(words, cell.markdown())
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", b.grid(words, markdownText).markdown(), b.caption(markdownMarks))
	return err
}

// markdown is the cell with its mark.
func (c cellText) markdown() word {
	s := c.Value
	if c.Best {
		s = "**" + s + "**"
	}
	if c.Tied {
		s += " ~"
	}
	if c.N > 0 {
		s = fmt.Sprintf("(%d) %s", c.N, s)
	}
	return word{text: s}
}
