package table

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

var markdownMarks = Marks{Best: "Bold", Tied: "`~`", Equivalent: "`=`", Differs: "`*`", Foreign: markdownText}

// writeMarkdown writes GitHub's Markdown, the best of each row in bold.
func writeMarkdown(w io.Writer, d *Document, _ Options) error {
	var parts []string
	if d.Heading != nil {
		parts = append(parts, "- "+strings.Join(d.Heading(markdownMarks), "\n- ")+"\n")
	}
	for _, g := range d.Grids {
		if g.Title != "" {
			parts = append(parts, markdownText(g.Title)+"\n")
		}
		parts = append(parts, g.layout(markdownMarks, markdownValue, false).markdown())
	}
	parts = append(parts, d.captions(markdownMarks)+"\n")
	_, err := io.WriteString(w, strings.Join(parts, "\n"))
	return err
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

// markdown lays the grid out, with a line that aligns the columns below the headings.
func (l layout) markdown() string {
	widths := l.measure(narrow)
	var out strings.Builder
	for at := range l.lines {
		out.WriteString("|")
		for i, width := range widths {
			out.WriteString(" " + l.padded(at, i, width, narrow) + " |")
		}
		out.WriteString("\n")
		if at > 0 {
			continue
		}
		out.WriteString("|")
		for i, c := range l.columns {
			first, last := ":", " |"
			if c.Right {
				first, last = " ", ":|"
			}
			out.WriteString(first + strings.Repeat("-", max(widths[i], 1)) + last)
		}
		out.WriteString("\n")
	}
	return out.String()
}
