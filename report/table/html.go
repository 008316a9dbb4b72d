package table

import (
	"html/template"
	"io"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

var htmlMarks = Marks{Best: "Bold", Tied: "~", Equivalent: "=", Differs: "*", Nameless: true, Foreign: plaintext.Line}

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
	view := struct {
		Heading        []string
		Class, Caption string
		Grids          []Grid
	}{Class: d.Class, Caption: d.captions(htmlMarks), Grids: d.Grids}
	if d.Heading != nil {
		view.Heading = d.Heading(htmlMarks)
	}
	return htmlPage.Execute(w, view)
}
