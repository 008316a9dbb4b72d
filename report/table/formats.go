package table

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"fmt"
	htmltemplate "html/template"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"text/template"
	"unicode/utf8"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/lazyregexp"
)

var textMarks = Marks{
	Foreign: plaintext.Line, Own: strings.NewReplacer("@best", "*", "@tied", "~", "@same", "=", "@differs", "*"),
	PlusMinus: " ± ", Pad: " ", Enclose: "%s", EncloseBest: "%s",
	Mark: [...]string{Unmarked: "  ", MarkBest: " *", MarkTied: " ~", MarkEquivalent: " =", MarkDiffers: " *"}, // of equal width
}

// Text writes fixed-width text.
func Text(w io.Writer, d *Document, opt Options) error {
	return d.write(w, textMarks, opt.Wide, "", opt.wrap, func(g Grid) (blocks []string) {
		for from, n := 0, len(g.Columns)-g.Keys; from < n || from == 0; {
			to := n
			block := g.valueColumns(from, to).text(opt)
			for opt.Width > 0 && to-from > 1 && text.LongestLineLen(block) > opt.Width {
				to--
				block = g.valueColumns(from, to).text(opt)
			}
			blocks, from = append(blocks, block), max(to, 1)
		}
		return blocks
	})
}

// write writes lines with a bullet above, the blocks of each grid below its title, and the captions, as paragraphs.
func (d *Document) write(w io.Writer, m Marks, wide bool, bullet string, paragraph func(string) string, blocks func(Grid) []string) error {
	defer setWidths(wide)()
	var parts []string
	if d.Heading != nil {
		parts = append(parts, bullet+strings.Join(m.lines(d), "\n"+bullet)+"\n")
	}
	for _, g := range d.Grids {
		if g.Title != "" {
			parts = append(parts, paragraph(m.Foreign(g.Title)))
		}
		parts = append(parts, blocks(g)...)
	}
	_, err := io.WriteString(w, strings.Join(append(parts, paragraph(m.captions(d))), "\n"))
	return err
}

var widths sync.Mutex

// setWidths makes ambiguous-width characters, such as ±, narrow or wide until a call of the result. go-pretty stores that
// for the whole process, and by default uses the locale.
func setWidths(wide bool) (end func()) {
	widths.Lock()
	text.OverrideRuneWidthEastAsianWidth(wide)
	return widths.Unlock
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
		row := pretty.Row(lists.Map(line, func(word string) any { return word }))
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
	width := min(100, cmp.Or(opt.Width, math.MaxInt))
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
			line := append([]string{spreadsheet.Cell(g.Score)}, lists.Map(row.Keys, spreadsheet.Cell)...)
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
var markdownBlock = lazyregexp.New(`^([0-9]*)([-+.)])`)

func markdownText(name string) string {
	return markdownBlock().ReplaceAllString(markdownEscape.Replace(plaintext.Line(strings.TrimSpace(name))), `$1\$2`)
}

var markdownMarks = Marks{
	Foreign: markdownText, Own: strings.NewReplacer("@best", "Bold", "@tied", "`~`", "@same", "`=`", "@differs", "`*`"),
	PlusMinus: " ± ", Pad: figureSpace, Enclose: "%s", EncloseBest: "**%s**",
	Mark: [...]string{MarkTied: " ~", MarkEquivalent: " =", MarkDiffers: ` \*`},
}

// writeMarkdown writes GitHub's Markdown, the best of each row in bold.
func writeMarkdown(w io.Writer, d *Document, _ Options) error {
	return d.write(w, markdownMarks, false, "- ", func(text string) string { return text + "\n" }, func(g Grid) []string {
		return []string{g.layout(markdownMarks).pretty().RenderMarkdown() + "\n"}
	})
}

const figureSpace = "\u2007"

var htmlMarks = Marks{
	Foreign: plaintext.Line, Own: strings.NewReplacer("@best", "Bold", "@tied", "~", "@same", "=", "@differs", "*"),
	Mark: [...]string{MarkTied: "~", MarkEquivalent: "=", MarkDiffers: "*"},
}

//go:embed table.html
var htmlText string

var htmlPage = sync.OnceValue(func() *htmltemplate.Template {
	return htmltemplate.Must(htmltemplate.New("table").Funcs(htmltemplate.FuncMap{
		"pad":  func(w Word) string { return strings.Repeat(figureSpace, w.Pad) },
		"mark": func(w Word) string { return htmlMarks.Mark[w.Mark] },
		"name": htmlMarks.Foreign,
		"best": func(w Word) bool { return w.Mark == MarkBest },
	}).Parse(strings.TrimSuffix(htmlText, "\n")))
})

// HTML writes a table for a page, which has the styles and the experiment's name.
func HTML(w io.Writer, d *Document, _ Options) error {
	shown := *d
	shown.Name = ""
	shown.Heading, shown.Caption = htmlMarks.lines(d), htmlMarks.captions(&shown)
	return htmlPage().Execute(w, shown)
}

// latexEscape escapes LaTeX's special characters, brackets and stars, which \\ would read as arguments, and character
// pairs that fonts join or babel replaces.
var latexEscape = strings.NewReplacer(
	`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`,
	`{`, `\{`, `}`, `\}`, `^`, `\textasciicircum{}`, `~`, `\textasciitilde{}`,
	`[`, `{[}`, `]`, `{]}`, `*`, `{*}`, "`", "\\`{}", `"`, `{\char34}`, `'`, `{'}`,
	`--`, `-{}-`, `?`, `?{}`, `!`, `!{}`, `,,`, `,{},`,
	`<`, `$<$`, `>`, `$>$`, `|`, `$|$`, `±`, `$\pm$`, `≥`, `$\geq$`, `−`, `$-$`, `–`, `--`, `—`, `---`, `…`, `\ldots{}`,
	`α`, `$\alpha$`, `β`, `$\beta$`, `γ`, `$\gamma$`, `λ`, `$\lambda$`, `μ`, `$\mu$`, `σ`, `$\sigma$`,
)

func latexText(name string) string { return latexEscape.Replace(plaintext.Line(name)) }

var latexMarks = Marks{
	Foreign: latexText, Method: func(name string) string { return `\multicolumn{1}{c}{` + latexMethod(name) + `}` }, Setting: latexSetting,
	Own: strings.NewReplacer("@best", "Bold", "@tied", `$\sim$`, "@same", `$=$`, "@differs", `$^{*}$`,
		`%`, `\%`, `±`, `$\pm$`, `≥`, `$\geq$`, `<`, `$<$`, `–`, `--`, `−`, `$-$`),
	Number:    strings.NewReplacer(missing, "--", "−", "-", ", ", ", ", " ", "$ $").Replace,
	PlusMinus: ` \pm `, Pad: `\phantom{0}`, Enclose: "$%s$", EncloseBest: `$\mathbf{%s}$`,
	// Marks have no width.
	Mark: [...]string{MarkTied: `\rlap{$^{\sim}$}`, MarkEquivalent: `\rlap{$^{=}$}`, MarkDiffers: `\rlap{$^{*}$}`},
}

var (
	latexSettings = lazyregexp.New(`^(\S.*?)((?: [A-Za-z][A-Za-z-]*=[A-Za-z0-9.+/-]+)+)$`) // after a method
	latexNumber   = lazyregexp.New(`^([+-]?[0-9.]+)(?:[eE]\+?(-?)0*([0-9]+))?$`)
	latexGreek    = lazyregexp.New(`^(alpha|beta|gamma|lambda|mu|sigma)$`) // papers write these as letters
)

// latexMethod returns the name of a method in LaTeX: "gnmf lambda=10" is "gnmf ($\lambda = 10$)".
func latexMethod(name string) string {
	parts := latexSettings().FindStringSubmatch(name)
	if parts == nil {
		return latexText(name)
	}
	return latexText(parts[1]) + " (" + latexSetting(parts[2]) + ")"
}

func latexSetting(settings string) string {
	return strings.Join(lists.Map(strings.Fields(settings), func(field string) string {
		key, value, _ := strings.Cut(field, "=")
		number := latexNumber().FindStringSubmatch(value)
		switch {
		case !latexSettings().MatchString("x " + field):
			return latexText(field)
		case number == nil:
			value = `\mbox{` + latexText(value) + `}`
		case number[3] != "":
			value = strings.TrimPrefix(number[1]+` \cdot 10^{`+number[2]+number[3]+"}", `1 \cdot `)
		}
		if latexGreek().MatchString(key) {
			return `$\` + key + " = " + value + "$"
		}
		return `$\mathit{` + key + "} = " + value + "$"
	}), ", ")
}

// latexLabel returns the label of a table by experiment and score, in ASCII. Names that this changes end in a part of
// their hash.
func latexLabel(experiment, table string) string {
	if experiment == "" {
		return "tab:" + latexWord(table)
	}
	word := latexWord(experiment)
	if word != experiment {
		sum := sha256.Sum256([]byte(experiment))
		word += fmt.Sprintf("-%x", sum[:3])
	}
	return "tab:" + word + "-" + latexWord(table)
}

func latexWord(name string) string {
	return filename.Safe(strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '-'
		}
		return r
	}, name))
}

// needsFonts reports whether the text has letters beyond European Latin script.
func needsFonts(latex string) bool {
	return strings.ContainsFunc(latex, func(r rune) bool { return r > 0x17f && !strings.ContainsRune("‘’“”", r) })
}

const (
	latexColumn = 246  // the width in points of a column of a two-column article at 10 points
	latexPage   = 510  // the width of the page in points
	latexShrink = 0.75 // the smallest factor by which the letters of a wide table shrink
)

//go:embed latex.tmpl
var latexTemplate string

var latexTables = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("latex").Delims("<<", ">>").Funcs(template.FuncMap{
		"columns": Grid.latexColumns, "lines": Grid.latexLines,
	}).Parse(latexTemplate))
})

type latexTable struct {
	Float, Caption, Label string
	Blocks                []Grid // blocks of columns, one below the other
}

// writeLaTeX writes each grid as a floating table. The tables need the packages booktabs and graphicx.
func writeLaTeX(w io.Writer, d *Document, _ Options) error {
	var tables []latexTable
	for _, g := range d.Grids {
		t := g.latex()
		if t.Caption = latexMarks.text(g.Caption); g.Caption == "" {
			t.Caption = latexMarks.caption(d)
		}
		if g.Title != "" {
			t.Caption = latexText(strings.TrimPrefix(d.Name+": "+g.Title, ": ")) + ". " + t.Caption
		}
		t.Label = latexLabel(d.Name, g.Name)
		tables = append(tables, t)
	}
	var out strings.Builder
	if err := latexTables().Execute(&out, map[string]any{"Heading": latexMarks.lines(d), "Tables": tables}); err != nil {
		return err
	}
	table := out.String()
	if needsFonts(table) {
		table = "% Some characters need XeLaTeX or LuaLaTeX and a font that has them\n" + table
	}
	_, err := io.WriteString(w, table)
	return err
}

// points returns the approximate width of the columns from (inclusive) to (exclusive).
func (g Grid) points(from, to int) (points float64) {
	for i := from; i < to; i++ {
		letters := utf8.RuneCountInString(g.Columns[i].Heading)
		for _, l := range g.Lines {
			w := l.Words[i]
			n := utf8.RuneCountInString(w.Text)
			if w.Deviation != "" {
				n += len(" ± ") + w.Pad + len(w.Deviation)
			}
			letters = max(letters, n)
		}
		points += float64(5*letters + 12)
	}
	return points
}

// latex returns a floating table over one or both columns of the page, or in blocks if its letters would shrink too
// far.
func (g Grid) latex() latexTable {
	keys, values := g.points(0, g.Keys), g.points(g.Keys, len(g.Columns))
	t := latexTable{Float: "table"}
	if keys+values > latexColumn/latexShrink {
		t.Float = "table*"
	}
	n := len(g.Columns) - g.Keys
	blocks := max(1, min(n, int(math.Ceil(values/max(1, latexPage/latexShrink-keys)))))
	for block := range blocks {
		t.Blocks = append(t.Blocks, g.valueColumns(block*n/blocks, (block+1)*n/blocks))
	}
	return t
}

// latexLines returns the lines of a tabular between its outer rules.
func (g Grid) latexLines() []string {
	l := g.layout(latexMarks)
	lines := []string{strings.Join(l.lines[0], " & ") + ` \\`, `\midrule`}
	for i, words := range l.lines[1:] {
		if i > 0 && i+1 == l.average {
			lines = append(lines, `\midrule`)
		}
		lines = append(lines, strings.Join(words, " & ")+` \\`)
	}
	return lines
}

// latexColumns returns the alignment of the columns, with methods grouped.
func (g Grid) latexColumns() string {
	letters := ""
	for _, c := range g.Columns {
		letters += map[bool]string{true: "r", false: "l"}[c.Right]
	}
	if n := len(strings.TrimLeft(letters, "l")); g.Fields != nil && n > 0 {
		return fmt.Sprintf("%s*{%d}{r}", strings.Repeat("l", len(letters)-n), n)
	}
	return letters
}
