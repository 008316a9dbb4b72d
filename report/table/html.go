package table

import (
	"html/template"
	"io"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

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
