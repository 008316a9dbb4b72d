package report

import (
	"fmt"
	"io"
	"strings"
)

// markdownEscape keeps names from being read as Markdown. Bars are left to
// the table's writer.
var markdownEscape = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`,
	`<`, `\<`, `>`, `\>`, `&`, `\&`, `~`, `\~`, `#`, `\#`, `$`, `\$`,
)

// Markdown writes the table in GitHub's Markdown, the best of each row in
// bold, with the caption below it.
func (t *Table) Markdown(w io.Writer) error {
	cells := t.text(" ± ", "\u2007")
	words := make([][]string, len(cells))
	for r := range cells {
		words[r] = make([]string, len(cells[r]))
		for c, cell := range cells[r] {
			s := cell.Value
			if cell.Best {
				s = "**" + s + "**"
			}
			if cell.Tied {
				s += " ~"
			}
			if cell.N > 0 {
				s = fmt.Sprintf("(%d) %s", cell.N, s)
			}
			words[r][c] = s
		}
	}
	escaped := *t
	escaped.Name = markdownEscape.Replace(t.Name)
	escaped.Methods = make([]string, len(t.Methods))
	for i, method := range t.Methods {
		escaped.Methods[i] = markdownEscape.Replace(method)
	}
	_, err := fmt.Fprintf(w, "%s\n\n%s\n",
		escaped.grid(words, 0, len(t.Methods)).RenderMarkdown(), escaped.caption("Bold", "`~`"))
	return err
}
