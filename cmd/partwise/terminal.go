package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// columns returns how many letters a line of the terminal w has, and 0 where w is none.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// listing is a table with nothing drawn between its columns, no wider than the terminal.
type listing struct {
	header []string
	// limits hold the most letters of a line of a column, 0 for no limit; it may be short.
	limits []int
	// rows hold a cell for each column. A row of one cell stands over those that follow.
	rows [][]string
}

// row adds a row.
func (l *listing) row(cells ...any) {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = fmt.Sprint(c)
	}
	l.rows = append(l.rows, out)
}

// narrowest is how few letters a column is narrowed to; in less room each row becomes a paragraph.
const narrowest = 16

// print writes the table.
func (l *listing) print(w io.Writer) error {
	text.OverrideRuneWidthEastAsianWidth(isWide(w))
	_, err := io.WriteString(w, l.text(columns(w)))
	return err
}

// text returns the table in lines of so many letters, 0 for any number.
func (l *listing) text(room int) string {
	var b strings.Builder
	widths, fits := l.widths(room)
	if !fits {
		l.paragraphs(&b, room)
		return b.String()
	}
	right := l.right()
	if l.header != nil {
		l.line(&b, l.header, widths, right)
	}
	for i, row := range l.rows {
		if len(row) == 1 && len(widths) > 1 {
			fmt.Fprintf(&b, "\n %s\n", row[0])
			continue
		}
		if i == 0 && l.header != nil {
			b.WriteByte('\n')
		}
		l.line(&b, row, widths, right)
	}
	return b.String()
}

// widths returns the width of each column, 0 for one without any text, and whether all have
// room in so many letters, 0 for any.
func (l *listing) widths(room int) (widths []int, fits bool) {
	for _, row := range append([][]string{l.header}, l.rows...) {
		widths = append(widths, make([]int, max(0, len(row)-len(widths)))...)
	}
	for _, row := range l.rows {
		for c, cell := range row {
			if len(row) > 1 || len(widths) == 1 {
				widths[c] = max(widths[c], text.LongestLineLen(cell))
			}
		}
	}
	total := 1
	for c := range widths {
		if c < len(l.limits) && l.limits[c] > 0 {
			widths[c] = min(widths[c], l.limits[c])
		}
		if widths[c] > 0 {
			if l.header != nil {
				widths[c] = max(widths[c], text.LongestLineLen(l.header[c]))
			}
			total += widths[c] + 2
		}
	}
	for total -= 2; room > 0 && total > room; total-- {
		widest := 0
		for c := range widths {
			if widths[c] > widths[widest] {
				widest = c
			}
		}
		if widths[widest] <= narrowest {
			return widths, false
		}
		widths[widest]--
	}
	return widths, true
}

// right tells of which columns all rows are numbers, which stand at the right.
func (l *listing) right() []bool {
	var right []bool
	for _, row := range l.rows {
		for c, cell := range row {
			_, err := strconv.Atoi(cell)
			if c == len(right) {
				right = append(right, true)
			}
			right[c] = right[c] && err == nil
		}
	}
	return right
}

// line writes a row, whose cells may have several lines.
func (l *listing) line(b *strings.Builder, row []string, widths []int, right []bool) {
	var cells [][]string
	lines := 0
	for c, cell := range row {
		if widths[c] == 0 {
			cells = append(cells, nil)
			continue
		}
		cells = append(cells, strings.Split(text.WrapSoft(cell, widths[c]), "\n"))
		lines = max(lines, len(cells[c]))
	}
	for at := range lines {
		out := " "
		for c, cell := range cells {
			if widths[c] == 0 {
				continue
			}
			word := ""
			if at < len(cell) {
				word = strings.TrimRight(cell[at], " ")
			}
			space := strings.Repeat(" ", max(0, widths[c]-text.StringWidthWithoutEscSequences(word)))
			if c < len(right) && right[c] {
				word, space = space+word, ""
			}
			out += word + space + "  "
		}
		b.WriteString(strings.TrimRight(out, " ") + "\n")
	}
}

// paragraphs writes each row as a paragraph.
func (l *listing) paragraphs(b *strings.Builder, room int) {
	for i, row := range l.rows {
		switch {
		case len(row) == 1:
			b.WriteString("\n" + hanging("", row[0], room))
			continue
		case l.header == nil:
			b.WriteString(hanging("", row[0], room))
			b.WriteString(hanging("  ", row[1], room))
			continue
		case i > 0:
			b.WriteByte('\n')
		}
		b.WriteString(hanging("", strings.TrimSpace(row[0]), room))
		for c, cell := range row[1:] {
			if cell != "" {
				b.WriteString(hanging("  "+l.header[1+c]+": ", strings.Join(strings.Split(cell, "\n"), ", "), room))
			}
		}
	}
}

// hanging returns words behind a lead, broken into lines of so many letters, 0 for any number,
// those after the first as far to the right as the lead is long, or below it where it is too long.
func hanging(lead, words string, room int) string {
	if room <= 0 {
		return lead + words + "\n"
	}
	const below = 8
	room = max(room, below+narrowest)
	indent := text.StringWidthWithoutEscSequences(lead)
	if room-indent < narrowest {
		return strings.TrimRight(lead, " ") + "\n" + hanging(strings.Repeat(" ", below), words, room)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text.WrapSoft(words, room-indent), "\n") {
		b.WriteString(strings.TrimRight(lead+line, " ") + "\n")
		lead = strings.Repeat(" ", indent)
	}
	return b.String()
}

// reflow breaks a text into lines of so many letters where it has longer ones. Lines that begin
// with a space stay as they are.
func reflow(words string, room int) string {
	if text.LongestLineLen(words) <= room {
		return words
	}
	var out, paragraph []string
	flush := func() {
		if paragraph != nil {
			out = append(out, strings.TrimRight(hanging("", strings.Join(paragraph, " "), room), "\n"))
		}
		paragraph = nil
	}
	for line := range strings.Lines(words) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != ' ' {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		out = append(out, line)
	}
	flush()
	return strings.Join(out, "\n")
}

// wrapHelp has help on a terminal be no wider than that, but for examples, which are to be copied.
func wrapHelp(root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if room := columns(cmd.OutOrStdout()); room > 0 {
			fitHelp(cmd, room)
		}
		show(cmd, args)
	})
}

// fitHelp breaks what the help of a command shows into lines of so many letters.
func fitHelp(cmd *cobra.Command, room int) {
	cmd.Long = reflow(cmp.Or(cmd.Long, cmd.Short), room)
	for _, sub := range cmd.Commands() {
		lead := strings.Repeat(" ", 3+sub.NamePadding())
		sub.Short = strings.TrimSpace(hanging(lead, sub.Short, room))
	}
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsages | fit %d ", room)))
}

func init() { cobra.AddTemplateFunc("fit", breakFlags) }

var flagLine = regexp.MustCompile(`^( *-.*?  +)(\S.*)$`)

// breakFlags breaks the lines of flags, each with what is said of it, into lines of so many letters.
func breakFlags(room int, lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		if m := flagLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			line = hanging(m[1], m[2], room)
		}
		b.WriteString(line)
	}
	return b.String()
}
