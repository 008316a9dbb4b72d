package table

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// markdownEscape keeps the characters of names from being read as Markdown. Bars of cells are escaped
// when a table is drawn.
var markdownEscape = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`,
	`<`, `\<`, `>`, `\>`, `&`, `\&`, `~`, `\~`, `#`, `\#`, `$`, `\$`,
	`://`, `\://`, `www.`, `www\.`, `WWW.`, `WWW\.`,
)

// markdownBlock is the beginning of a list at the start of a paragraph.
var markdownBlock = regexp.MustCompile(`^([0-9]*)([-+.)])`)

// markdownText returns a name as Markdown that shows nothing but it.
func markdownText(name string) string {
	return markdownBlock.ReplaceAllString(markdownEscape.Replace(plaintext.Line(strings.TrimSpace(name))), `$1\$2`)
}

var markdownMarks = Marks{Foreign: markdownText, Own: strings.NewReplacer("@best", "Bold", "@tied", "`~`", "@same", "`=`", "@differs", "`*`")}

// writeMarkdown writes GitHub's Markdown, the best of each row in bold.
func writeMarkdown(w io.Writer, d *Document, _ Options) error {
	var parts []string
	if d.Heading != nil {
		parts = append(parts, "- "+strings.Join(markdownMarks.lines(d), "\n- ")+"\n")
	}
	return withWidths(false, func() error {
		for _, g := range d.Grids {
			if g.Title != "" {
				parts = append(parts, markdownText(g.Title)+"\n")
			}
			parts = append(parts, g.layout(markdownMarks, markdownValue).pretty().RenderMarkdown()+"\n")
		}
		_, err := io.WriteString(w, strings.Join(append(parts, markdownMarks.captions(d)+"\n"), "\n"))
		return err
	})
}

// markdownValue is a value with its mark.
func markdownValue(w Word) string {
	s := w.Text
	if w.Deviation != "" {
		s += " ± " + strings.Repeat(figureSpace, w.Pad) + w.Deviation
	}
	switch w.Mark {
	case MarkBest:
		s = "**" + s + "**"
	case MarkTied:
		s += " ~"
	case MarkEquivalent:
		s += " ="
	case MarkDiffers:
		s += ` \*`
	}
	if w.N > 0 {
		s = fmt.Sprintf("(%d) %s", w.N, s)
	}
	return s
}

// figureSpace is a space as wide as a digit.
const figureSpace = "\u2007"
