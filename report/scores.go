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

// findings says in a few sentences which methods are the best.
func findings(w *experimentPage) (any, error) {
	var found []string
	for _, t := range w.tables {
		if s := t.finding(); s != "" && t.all.Score.Prominence > eval.Minor {
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
	Table       tableView
}

// scores shows each score's tables and curves:
//
//	tables/SCORE.txt, …, tables/best-SCORE.txt, …
//	curves/SCORE.png, …, curves/SCORE-by-SETTING.png, …
func scores(w *experimentPage) (any, error) {
	if len(w.tables) == 0 {
		return nil, nil
	}
	var view byProminence[scoreView]
	for name, t := range withSafeNames(w.tables, func(t scoreTables) string { return t.all.Score.Name }) {
		v, err := w.score(t, name)
		if err != nil {
			return nil, err
		}
		view.add(t.all.Score, v)
	}
	return view, nil
}

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
		drawn = table.New(w.records, t.all.Score.Name, t.best.Table.Methods, table.TestsOf(e.Summary))
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
	for file, setting := range withSafeNames(settings, identity) {
		curves, err := figure.SweepCurves(t.all, e.Sweeps, setting, w.looks)
		f, err := w.figure("curves/"+name+"-by-"+file, v.Title+" against "+setting+".", curves, err)
		if err != nil {
			return v, err
		}
		if f != nil {
			v.Sweeps = append(v.Sweeps, f)
		}
	}
	return v, nil
}
