package report

import (
	"fmt"
	"io"
	"slices"
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
		for _, cell := range cells[r] {
			words[r] = append(words[r], cell.markdown())
		}
	}
	escaped := *t
	escaped.Name = markdownEscape.Replace(t.Name)
	escaped.Methods = make([]string, len(t.Methods))
	for i, method := range t.Methods {
		escaped.Methods[i] = markdownEscape.Replace(method)
	}
	escaped.Rows = slices.Clone(t.Rows)
	for i, row := range t.Rows {
		escaped.Rows[i].Name = markdownEscape.Replace(row.Name)
	}
	_, err := fmt.Fprintf(w, "%s\n\n%s\n",
		escaped.grid(words, 0, len(t.Methods)).RenderMarkdown(), escaped.caption("Bold", "`~`"))
	return err
}

// Markdown writes the table in GitHub's Markdown, the best in bold, with the
// caption below it.
func (b *Best) Markdown(w io.Writer) error {
	var words []string
	for _, cell := range b.texts(" ± ", "\u2007") {
		words = append(words, cell.markdown())
	}
	escaped := *b
	named := *b.Table
	named.Name = markdownEscape.Replace(named.Name)
	escaped.Table = &named
	escaped.Rows = slices.Clone(b.Rows)
	for i, row := range b.Rows {
		escaped.Rows[i].Method = markdownEscape.Replace(row.Method)
		escaped.Rows[i].Setting = markdownEscape.Replace(row.Setting)
	}
	_, err := fmt.Fprintf(w, "%s\n\n%s\n", escaped.grid(words).RenderMarkdown(), escaped.caption("Bold", "`~`"))
	return err
}

// markdown is the cell with its mark.
func (c cellText) markdown() string {
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
	return s
}
