package report

import (
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

type classesView struct {
	Table      tableView
	Long       bool
	Confusions []methodView
	Chosen     bool
}

// classesSection shows how the single classes of a classification fare, each method at
// its best:
//
//	tables/class-accuracy.txt, …
//	confusion/METHOD.png, …
func classesSection(w *experimentPage) section {
	return section{id: "classes", title: "Single classes", template: classesTemplate, make: func() (any, error) {
		e := w.experiment
		view := classesView{Chosen: w.chosen}
		var best []pipeline.Record
		for i, name := range safeNames(w.shown) {
			p := w.peaks[i]
			at := slices.DeleteFunc(slices.Clone(w.records), func(r pipeline.Record) bool { return r.Method != p.Label || table.RowOf(r) != p.Row })
			best = append(best, at...)
			if len(e.Classes) > figure.MostConfused {
				continue
			}
			confusion, err := figure.Confusion(table.TotalConfusion(at, len(e.Classes)), e.Classes)
			v := methodView{Method: p.Label}
			if v.Figure, err = w.figure("confusion/"+name, "Which classes "+p.Label+" takes for which.", confusion, err); err != nil {
				return nil, err
			}
			if v.Figure == nil {
				continue
			}
			if at[0].Row > 0 && at[0].Rank > 0 {
				v.Title = fmt.Sprintf("rank %d", at[0].Rank)
			}
			view.Confusions = append(view.Confusions, v)
		}
		t := table.PerClass(best, w.shown, e.Classes, e.Tests)
		if len(t.Rows) == 0 {
			return nil, nil
		}
		t.Name = e.Name
		view.Long = len(t.Rows) > 20
		var err error
		view.Table, err = w.table("class-accuracy", t.Document())
		return view, err
	}}
}

var classesTemplate = parse("classes", `

<h2 id="classes">Single classes</h2>
<p>How well each class is found, and which others its samples are taken for.{{if .Chosen}} {{template "chosen"}}{{end}}</p>
{{- if .Long}}
<details>
<summary>The accuracy of each class</summary>
{{- template "table" .Table}}
</details>
{{- else}}
{{- template "table" .Table}}
{{- end}}
{{- if .Confusions}}
<p>In the pictures each row is a class, and its cells say how many percent of its test samples, of all repeats together, were taken for the class of the column. Hits stand on the diagonal.</p>
<div class="parts">
{{- range .Confusions}}{{template "method" .}}{{end}}
</div>
{{- else}}
<p>These are too many classes for pictures of which are taken for which.</p>
{{- end}}`)
