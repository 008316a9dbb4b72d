package report

import (
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// scoreTables are the tables of one score: of all methods, and of each at its best, or nil.
type scoreTables struct {
	all  *table.Table
	best *table.Best
}

// tablesOf gathers a score of the records.
func (e Experiment) tablesOf(records []pipeline.Record, score string) scoreTables {
	tests := table.TestsOf(e.Summary)
	t := scoreTables{table.New(records, score, e.Methods, tests), table.NewBest(records, score, e.Methods, e.Sweeps, tests)}
	t.all.Name = e.Name
	if t.best != nil {
		t.best.Table.Name = e.Name
	}
	return t
}

// first is the table that is shown first.
func (t scoreTables) first() interface {
	Finding() string
	Document() *table.Document
} {
	if t.best != nil {
		return t.best
	}
	return t.all
}

// findings says in a few sentences which methods are the best.
func findings(w *experimentPage) any {
	var found []string
	for _, t := range w.tables {
		if s := t.first().Finding(); s != "" && t.all.Score.Prominence > eval.Minor {
			found = append(found, s)
		}
	}
	return unlessEmpty(found)
}

type scoreView struct {
	Title, Help string
	Best        *tableView // shown first, if there is one
	Curve       *figureView
	Sweeps      []*figureView
	Table       *tableView
}

// scores shows each score's tables and curves:
//
//	tables/SCORE.txt, …, tables/best-SCORE.txt, …
//	curves/SCORE.png, …, curves/SCORE-by-SETTING.png, …
func scores(w *experimentPage) any {
	if len(w.tables) == 0 {
		return nil
	}
	var view byProminence[scoreView]
	for name, t := range withSafeNames(w.tables, func(t scoreTables) string { return t.all.Score.Name }) {
		view.add(t.all.Score, w.score(t, name))
	}
	return view
}

// score writes one score into files of this name.
func (w *experimentPage) score(t scoreTables, name string) scoreView {
	e := w.experiment
	v := scoreView{Title: t.all.Score.Title, Help: t.all.Score.Help, Table: w.table(name, t.all.Document())}
	drawn := t.all
	if t.best != nil {
		v.Best = w.table("best-"+name, t.best.Document())
		drawn = table.New(w.records, t.all.Score.Name, t.best.Table.Methods, table.TestsOf(e.Summary))
	}
	curves, err := figure.Curves(drawn, w.looks)
	v.Curve = w.figure("curves/"+name, v.Title+" of each method, drawn from the table. Bands reach one standard error of the mean to each side.", curves, err)
	var settings []string // of all sweeps, each once
	for _, s := range e.Sweeps {
		for _, setting := range s.Settings {
			if !slices.Contains(settings, setting) {
				settings = append(settings, setting)
			}
		}
	}
	for file, setting := range withSafeNames(settings, identity) {
		curves, err := figure.SweepCurves(t.all, e.Sweeps, setting, w.looks)
		if f := w.figure("curves/"+name+"-by-"+file, v.Title+" against "+setting+".", curves, err); f != nil {
			v.Sweeps = append(v.Sweeps, f)
		}
	}
	return v
}
