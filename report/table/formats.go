package table

import (
	"encoding/csv"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// writeCSV writes the score, the keys of the row and the fields of its values in one line, or, if the
// columns are methods, a line for each method. Numbers have full precision and the unit of the records.
// A text that a spreadsheet would read as a formula begins with an apostrophe.
func writeCSV(w io.Writer, d *Document, _ Options) error {
	out := csv.NewWriter(w)
	for i, g := range d.Grids {
		if g.Detail {
			continue
		}
		if i == 0 {
			out.Write(g.csvHeadings())
		}
		for _, row := range g.Lines {
			line := []string{spreadsheet.Cell(g.Score)}
			for _, key := range row.Keys {
				line = append(line, spreadsheet.Cell(key))
			}
			for c, word := range row.Words[g.Keys:] {
				if g.Fields != nil {
					method := spreadsheet.Cell(g.Columns[g.Keys+c].Heading)
					out.Write(append(append(slices.Clone(line), method), word.Fields...))
					continue
				}
				line = append(line, word.Fields...)
			}
			if g.Fields == nil {
				out.Write(line)
			}
		}
	}
	out.Flush()
	return out.Error()
}

func (g Grid) csvHeadings() []string {
	line := append([]string{"score"}, g.KeyFields...)
	if g.Fields != nil {
		return append(append(line, "method"), g.Fields...)
	}
	for _, c := range g.Columns[g.Keys:] {
		line = append(line, c.Fields...)
	}
	return line
}

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

// figureSpace is a space as wide as a digit.
const figureSpace = "\u2007"

var htmlMarks = Marks{Foreign: plaintext.Line, Nameless: true, Own: strings.NewReplacer("@best", "Bold", "@tied", "~", "@same", "=", "@differs", "*")}

// htmlPage is the template of a document in a page.
var htmlPage = template.Must(template.New("table").Funcs(template.FuncMap{
	"pad": func(w Word) string { return strings.Repeat(figureSpace, w.Pad) },
	"mark": func(w Word) string {
		return map[Mark]string{MarkTied: "~", MarkEquivalent: "=", MarkDiffers: "*"}[w.Mark]
	},
	"name": htmlMarks.Foreign,
	"best": func(w Word) bool { return w.Mark == MarkBest },
}).Parse(`
{{- range .Heading}}
<p>{{.}}</p>
{{- end}}
{{- $class := .Class}}
{{- range .Grids}}
{{- with .Title}}
<h4>{{name .}}</h4>
{{- end}}
{{- $grid := .}}
<div class="wide">
<table class="scores{{with $class}} {{.}}{{end}}{{if .Detail}} named{{end}}">
<thead><tr>{{range .Columns}}<th scope="col">{{name .Heading}}</th>{{end}}</tr></thead>
<tbody>
{{- range .Lines}}
<tr{{if .Average}} class="average"{{end}}>
{{- range $i, $word := .Words}}{{if eq $i 0}}<th scope="row">{{name .Text}}</th>{{else if lt $i $grid.Keys}}<td>{{name .Text}}</td>{{else -}}
<td{{if best .}} class="best"{{end}}>{{if .N}}<span class="n">({{.N}})</span> {{end}}{{.Text}}{{with .Deviation}}<span class="sd"> ± {{pad $word}}{{.}}</span>{{end}}<span class="mark">{{mark .}}</span></td>
{{- end}}{{end}}</tr>
{{- end}}
</tbody>
</table>
</div>
{{- end}}
<p class="note">{{.Caption}}</p>`))

// HTML writes a document for a page, which has the styles and the name of the experiment.
func HTML(w io.Writer, d *Document, _ Options) error {
	shown := *d
	shown.Heading, shown.Caption = htmlMarks.lines(d), htmlMarks.captions(d)
	return htmlPage.Execute(w, shown)
}
