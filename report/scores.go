package report

import (
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// scoreTables are the tables of one score: of all methods, and, or nil, of each at its
// best.
type scoreTables struct {
	all  *table.Table
	best *table.Best
}

// tablesOf gathers a score of the records.
func (e Experiment) tablesOf(records []pipeline.Record, score string) scoreTables {
	t := scoreTables{table.New(records, score, e.Methods, e.Tests), table.NewBest(records, score, e.Methods, e.Sweeps, e.Tests)}
	t.all.Name = e.Name
	if t.best != nil {
		t.best.Table.Name = e.Name
	}
	return t
}

// finding says which method is the best.
func (t scoreTables) finding() string {
	if t.best != nil {
		return t.best.Finding()
	}
	return t.all.Finding()
}

// document is the table that is shown first.
func (t scoreTables) document() *table.Document {
	if t.best != nil {
		return t.best.Document()
	}
	return t.all.Document()
}

// findingsSection says in a few sentences which methods are the best.
func findingsSection(w *experimentPage) section {
	return section{template: findingsTemplate, make: func() (any, error) {
		var found []string
		for _, t := range w.tables {
			if s := t.finding(); s != "" && t.all.Score.Prominence > eval.Minor {
				found = append(found, s)
			}
		}
		if found == nil {
			return nil, nil
		}
		return found, nil
	}}
}

var findingsTemplate = parse("findings", `

<h2>In short</h2>
<ul>
{{- range .}}
<li>{{.}}</li>
{{- end}}
</ul>`)

type scoreView struct {
	Title, Help string
	Best        *tableView // shown before all else, where there is one
	Curve       *figureView
	Sweeps      []*figureView
	Table       tableView
}

// scoresSection shows each score's tables and curves:
//
//	tables/SCORE.txt, …, tables/best-SCORE.txt, …
//	curves/SCORE.png, …, curves/SCORE-by-SETTING.png, …
func scoresSection(w *experimentPage) section {
	return section{id: "scores", title: "Scores", template: scoresTemplate, make: func() (any, error) {
		var view struct{ Scores, More []scoreView }
		names := make([]string, len(w.tables))
		for i, t := range w.tables {
			names[i] = t.all.Score.Name
		}
		for i, name := range safeNames(names) {
			v, err := w.score(w.tables[i], name)
			if err != nil {
				return nil, err
			}
			if w.tables[i].all.Score.Prominence == eval.Minor {
				view.More = append(view.More, v)
			} else {
				view.Scores = append(view.Scores, v)
			}
		}
		if len(w.tables) == 0 {
			return nil, nil
		}
		return view, nil
	}}
}

var scoresTemplate = parse("scores", `
{{- define "score"}}

<h3>{{.Title}}</h3>
{{- with .Help}}
<p>{{.}}</p>
{{- end}}
{{- if .Best}}
{{- template "table" .Best}}
{{- with .Curve}}
{{template "curve" .}}
{{- end}}
{{- range .Sweeps}}
{{template "curve" .}}
{{- end}}
<p class="note">A ring marks what the table shows.</p>
<details>
<summary>The whole table</summary>
{{- template "table" .Table}}
</details>
{{- else}}
{{- template "table" .Table}}
{{- with .Curve}}
{{template "curve" .}}
{{- end}}
{{- end}}
{{- end}}

<h2 id="scores">Scores</h2>
{{- range .Scores}}{{template "score" .}}{{end}}
{{- if .More}}
<details>
<summary>More scores</summary>
{{- range .More}}{{template "score" .}}{{end}}
</details>
{{- end}}`)

// score writes one score into files of this name.
func (w *experimentPage) score(t scoreTables, name string) (v scoreView, err error) {
	e := w.experiment
	v.Title, v.Help = t.all.Score.Title, t.all.Score.Help
	if v.Table, err = w.table(name, t.all.Document()); err != nil {
		return v, err
	}
	drawn := t.all
	if t.best != nil {
		best, err := w.table("best-"+name, t.best.Document())
		if err != nil {
			return v, err
		}
		v.Best = &best
		drawn = table.New(w.records, t.all.Score.Name, t.best.Table.Methods, e.Tests)
	}
	curves, err := figure.Curves(drawn, w.looks)
	if v.Curve, err = w.figure("curves/"+name, v.Title+" of each method, drawn from the table. Bands reach one standard error of the mean to each side.", curves, err); err != nil {
		return v, err
	}
	var settings []string // of all sweeps, each once
	for _, s := range e.Sweeps {
		for _, setting := range s.Settings {
			if !slices.Contains(settings, setting) {
				settings = append(settings, setting)
			}
		}
	}
	for i, setting := range safeNames(settings) {
		curves, err := figure.SweepCurves(t.all, e.Sweeps, settings[i], w.looks)
		f, err := w.figure("curves/"+name+"-by-"+setting, v.Title+" against "+settings[i]+".", curves, err)
		if err != nil {
			return v, err
		}
		if f != nil {
			v.Sweeps = append(v.Sweeps, f)
		}
	}
	return v, nil
}
