package table

import (
	_ "embed"
	"encoding/csv"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

const captionWidth = 100

var textMarks = Marks{
	Foreign: plaintext.Line, Own: strings.NewReplacer("@best", "*", "@tied", "~", "@same", "=", "@differs", "*"),
	PlusMinus: " ± ", Pad: " ", Enclose: "%s", EncloseBest: "%s",
	Mark: [...]string{Unmarked: "  ", MarkBest: " *", MarkTied: " ~", MarkEquivalent: " =", MarkDiffers: " *"}, // of equal width
}

// Text writes fixed-width text.
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
				to := len(g.Columns) - g.Keys
				block := g.valueColumns(from, to).text(opt)
				for opt.Width > 0 && to-from > 1 && text.LongestLineLen(block) > opt.Width {
					to--
					block = g.valueColumns(from, to).text(opt)
				}
				parts = append(parts, block)
				if from = to; from >= len(g.Columns)-g.Keys {
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

// withWidths runs f with ambiguous-width characters, such as ±, as narrow or wide. go-pretty stores that for the whole
// process, and by default uses the locale.
func withWidths(wide bool, f func() error) error {
	widths.Lock()
	defer widths.Unlock()
	text.OverrideRuneWidthEastAsianWidth(wide)
	return f()
}

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

func (opt Options) wrap(words string) string {
	width := captionWidth
	if opt.Width > 0 {
		width = min(width, opt.Width)
	}
	return columns.Hanging("", strings.Join(strings.Fields(words), " "), width)
}

// writeCSV writes a line for each row, or for each method of a row, with full precision in the unit of the records. A
// text that a spreadsheet would read as a formula gets an apostrophe.
func writeCSV(w io.Writer, d *Document, _ Options) error {
	out := csv.NewWriter(w)
	for i, g := range d.Grids {
		if g.Detail {
			continue
		}
		byMethod := g.Fields != nil
		if i == 0 {
			head := append([]string{"score"}, g.KeyFields...)
			if byMethod {
				head = append(append(head, "method"), g.Fields...)
			}
			for _, c := range g.Columns[g.Keys:] {
				head = append(head, c.Fields...)
			}
			out.Write(head)
		}
		for _, row := range g.Lines {
			line := []string{spreadsheet.Cell(g.Score)}
			for _, key := range row.Keys {
				line = append(line, spreadsheet.Cell(key))
			}
			for c, word := range row.Words[g.Keys:] {
				if byMethod {
					out.Write(slices.Concat(line, []string{spreadsheet.Cell(g.Columns[g.Keys+c].Heading)}, word.Fields))
				} else {
					line = append(line, word.Fields...)
				}
			}
			if !byMethod {
				out.Write(line)
			}
		}
	}
	out.Flush()
	return out.Error()
}

// markdownEscape escapes Markdown in names. Bars are escaped when a table is drawn.
var markdownEscape = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`,
	`<`, `\<`, `>`, `\>`, `&`, `\&`, `~`, `\~`, `#`, `\#`, `$`, `\$`,
	`://`, `\://`, `www.`, `www\.`, `WWW.`, `WWW\.`,
)

// markdownBlock is the beginning of a list at the start of a paragraph.
var markdownBlock = regexp.MustCompile(`^([0-9]*)([-+.)])`)

// markdownText returns Markdown that shows exactly the name.
func markdownText(name string) string {
	return markdownBlock.ReplaceAllString(markdownEscape.Replace(plaintext.Line(strings.TrimSpace(name))), `$1\$2`)
}

var markdownMarks = Marks{
	Foreign: markdownText, Own: strings.NewReplacer("@best", "Bold", "@tied", "`~`", "@same", "`=`", "@differs", "`*`"),
	PlusMinus: " ± ", Pad: figureSpace, Enclose: "%s", EncloseBest: "**%s**",
	Mark: [...]string{MarkTied: " ~", MarkEquivalent: " =", MarkDiffers: ` \*`},
}

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
			parts = append(parts, g.layout(markdownMarks).pretty().RenderMarkdown()+"\n")
		}
		_, err := io.WriteString(w, strings.Join(append(parts, markdownMarks.captions(d)+"\n"), "\n"))
		return err
	})
}

const figureSpace = "\u2007"

var htmlMarks = Marks{
	Foreign: plaintext.Line, Nameless: true, Own: strings.NewReplacer("@best", "Bold", "@tied", "~", "@same", "=", "@differs", "*"),
	Mark: [...]string{MarkTied: "~", MarkEquivalent: "=", MarkDiffers: "*"},
}

//go:embed table.html
var htmlText string

var htmlPage = template.Must(template.New("table").Funcs(template.FuncMap{
	"pad":  func(w Word) string { return strings.Repeat(figureSpace, w.Pad) },
	"mark": func(w Word) string { return htmlMarks.Mark[w.Mark] },
	"name": htmlMarks.Foreign,
	"best": func(w Word) bool { return w.Mark == MarkBest },
}).Parse(strings.TrimSuffix(htmlText, "\n")))

// HTML writes a table for a page, which has the styles and the experiment's name.
func HTML(w io.Writer, d *Document, _ Options) error {
	shown := *d
	shown.Heading, shown.Caption = htmlMarks.lines(d), htmlMarks.captions(d)
	return htmlPage.Execute(w, shown)
}
