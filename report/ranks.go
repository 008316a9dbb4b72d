package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

type ranksView struct {
	Figure *figureView
	// Says says which rank was chosen, and Table which were for the draws of an experiment.
	Says  string
	Table *tableView
	By    string
}

// chosenRankSection shows how the rank of a grouping was chosen: curves/rank.png, ….
func chosenRankSection(w *clustersPage) section {
	return section{id: "how-many-parts", title: "How many parts", template: ranksTemplate, make: func() (any, error) {
		c := w.clusters.Ranks
		if c == nil {
			return nil, nil
		}
		curve, err := figure.RankCurve(c.Curve, c.Rank)
		v, err := w.figure("curves/rank", rankAlt, curve, err)
		if err != nil {
			return nil, err
		}
		return ranksView{Figure: v, Says: sentence(c.String()), By: c.By.String()}, nil
	}}
}

const rankAlt = "Misfit of what is held out, and stability of the basis vectors, of each rank."

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// ranksSection shows which ranks were chosen for the draws of an experiment, and the mean curve of
// those with the most classes: tables/ranks.txt, … and curves/rank.png, ….
func ranksSection(w *experimentPage) section {
	return section{id: "ranks", title: "The rank", template: ranksTemplate, make: func() (any, error) {
		draws := drawsOf(w.records, func(r pipeline.Record) bool { return r.Choice != nil })
		if len(draws) == 0 {
			return nil, nil
		}
		rows, last := chosenRows(draws, func(r pipeline.Record) int { return r.Choice.Rank })
		curves := make([]*factor.RankCurve, len(last))
		for i, r := range last {
			curves[i] = r.Choice.Curve
		}
		curve, err := figure.RankCurve(meanCurve(curves), 0)
		v, err := w.figure("curves/rank", rankAlt, curve, err)
		if err != nil {
			return nil, err
		}
		t, err := w.table("ranks", table.ChosenDocument(w.Name, "ranks", rows, false))
		if err != nil {
			return nil, err
		}
		says := fmt.Sprintf("The number of basis vectors was chosen for each draw, one for all methods. The figure is the mean over the draws of %d classes.", last[0].Classes)
		return ranksView{Figure: v, Says: says, Table: &t, By: last[0].Choice.By.String()}, nil
	}}
}

// drawsOf returns the records that hold a choice, one of each draw, by classes and repeat.
func drawsOf(records []pipeline.Record, holds func(pipeline.Record) bool) (out []pipeline.Record) {
	for _, r := range records {
		if holds(r) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b pipeline.Record) int {
		return cmp.Or(cmp.Compare(a.Classes, b.Classes), cmp.Compare(a.Repeat, b.Repeat))
	})
	return slices.CompactFunc(out, func(a, b pipeline.Record) bool { return a.Classes == b.Classes && a.Repeat == b.Repeat })
}

// chosenRows lists what was chosen for draws, by number of classes, and returns the draws with the
// most classes.
func chosenRows(draws []pipeline.Record, chosen func(pipeline.Record) int) (rows []table.Chosen, last []pipeline.Record) {
	for _, r := range draws {
		if len(last) == 0 || last[0].Classes != r.Classes {
			rows, last = append(rows, table.Chosen{Classes: r.Classes}), nil
		}
		of := &rows[len(rows)-1]
		of.Numbers, last = append(of.Numbers, chosen(r)), append(last, r)
	}
	return rows, last
}

// meanCurve is the mean of curves over the ranks that all of them have.
func meanCurve(curves []*factor.RankCurve) *factor.RankCurve {
	mean := &factor.RankCurve{}
	for _, k := range curves[0].Rank {
		var misfit, deviation, stability float64
		all := true
		for _, c := range curves {
			at, found := slices.BinarySearch(c.Rank, k)
			if all = all && found; !all {
				break
			}
			misfit, deviation, stability = misfit+c.Misfit[at], deviation+c.Deviation[at], stability+c.Stability[at]
		}
		if n := float64(len(curves)); all {
			mean.Rank = append(mean.Rank, k)
			mean.Misfit, mean.Deviation, mean.Stability = append(mean.Misfit, misfit/n), append(mean.Deviation, deviation/n), append(mean.Stability, stability/n)
		}
	}
	return mean
}

var ranksTemplate = parse("ranks", `

<h2 id="{{if .Table}}ranks{{else}}how-many-parts{{end}}">How many parts?</h2>
<p>{{.Says}}</p>
{{- with .Table}}
{{- template "table" .}}
{{- end}}
{{- with .Figure}}
{{template "curve" .}}
{{- end}}
<p class="note">Each number of parts was tried in five fits of NMF, without labels, each with a tenth of all values held out and a start of its own. The misfit says how badly the parts predict these values, and the band reaches one standard error to each side. The stability says how alike the parts of the five fits are, 1 where they are the same. {{if eq .By "stability"}}Chosen is the largest number whose parts are the same in all fits, or else the most stable.{{else}}Chosen is the least number that predicts as well as the best, within one standard error.{{end}} Neither is a number of groups.</p>`)
