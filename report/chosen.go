package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

type countsView struct {
	*figureView
	Chosen, Samples string
}

// counts shows how the number of groups was chosen: curves/groups.png, ….
func counts(w *clustersPage) any {
	c := w.clusters.Counts
	if c == nil {
		return nil
	}
	curve, err := figure.CountCurve(c)
	v := w.figure("curves/groups", "Gap, silhouette and stability of each number of groups.", curve, err)
	return countsView{v, fmt.Sprint(c.K[c.Best()]), phrase.Count(c.Samples, w.clusters.thing(), w.clusters.thing()+"s")}
}

type ranksView struct {
	Figure   *figureView
	Says, By string
	Table    *tableView // of the choices for the draws of an experiment
}

const rankAlt = "Misfit of what is held out, and stability of the basis vectors, of each rank."

// chosenRank shows how the rank of a grouping was chosen: curves/rank.png, ….
func chosenRank(w *clustersPage) any {
	c := w.clusters.Ranks
	if c == nil {
		return nil
	}
	curve, err := figure.RankCurve(c.Curve, c.Rank)
	v := w.figure("curves/rank", rankAlt, curve, err)
	s := c.String()
	return ranksView{Figure: v, Says: strings.ToUpper(s[:1]) + s[1:] + ".", By: c.By.String()}
}

// drawnCounts shows the numbers of groups chosen for draws: tables/groups.txt, … and curves/groups.png, ….
func drawnCounts(w *experimentPage) any {
	draws := drawsOf(w.records, func(r record.Record) bool { return r.Count != nil })
	if len(draws) == 0 {
		return nil
	}
	rows, last := chosenRows(draws, func(r record.Record) int { return r.Count.K })
	curve, err := figure.GapCurve(meanGaps(last))
	v := w.figure("curves/groups", "Gap of each number of groups.", curve, err)
	return w.drawnChoices(v, "groups", table.ChosenDocument(w.Name, "numbers of groups", rows, true), "The number of groups", last[0])
}

// ranks shows the ranks chosen for draws: tables/ranks.txt, … and curves/rank.png, ….
func ranks(w *experimentPage) any {
	draws := drawsOf(w.records, func(r record.Record) bool { return r.Choice != nil })
	if len(draws) == 0 {
		return nil
	}
	rows, last := chosenRows(draws, func(r record.Record) int { return r.Choice.Rank })
	curve, err := figure.RankCurve(meanCurve(last), 0)
	v := w.figure("curves/rank", rankAlt, curve, err)
	return w.drawnChoices(v, "ranks", table.ChosenDocument(w.Name, "ranks", rows, false), "The number of basis vectors", last[0])
}

// drawnChoices is the view of numbers chosen for draws.
func (w *experimentPage) drawnChoices(v *figureView, name string, d *table.Document, number string, of record.Record) any {
	view := ranksView{Figure: v, Table: w.table(name, d), Says: fmt.Sprintf("%s was chosen for each draw, one for all methods. The figure is the mean over the draws of %d classes.", number, of.Classes)}
	if of.Choice != nil {
		view.By = of.Choice.By.String()
	}
	return view
}

// drawsOf returns the records that hold a choice, one of each draw, by classes and repeat.
func drawsOf(records []record.Record, holds func(record.Record) bool) (out []record.Record) {
	for _, r := range records {
		if holds(r) {
			out = append(out, r)
		}
	}
	order := func(a, b record.Record) int {
		return cmp.Or(cmp.Compare(a.Classes, b.Classes), cmp.Compare(a.Repeat, b.Repeat))
	}
	slices.SortStableFunc(out, order)
	return slices.CompactFunc(out, func(a, b record.Record) bool { return order(a, b) == 0 })
}

// chosenRows lists the choices for draws by number of classes, and returns the draws with the most classes.
func chosenRows(draws []record.Record, chosen func(record.Record) int) (rows []table.Chosen, last []record.Record) {
	for _, r := range draws {
		if len(last) == 0 || last[0].Classes != r.Classes {
			rows, last = append(rows, table.Chosen{Classes: r.Classes}), nil
		}
		row := &rows[len(rows)-1]
		row.Numbers, last = append(row.Numbers, chosen(r)), append(last, r)
	}
	return rows, last
}

// meanGaps is the mean of the gaps of draws at the numbers that all have.
func meanGaps(draws []record.Record) (from int, gaps []float64) {
	from, to := 0, math.MaxInt
	for _, r := range draws {
		from, to = max(from, r.Count.From), min(to, r.Count.From+len(r.Count.Gap))
	}
	for k := from; k < to; k++ {
		gaps = append(gaps, meanOf(draws, func(r record.Record) float64 { return r.Count.Gap[k-r.Count.From] }))
	}
	return from, gaps
}

// meanCurve is the mean of the curves of draws over the ranks that all of them have.
func meanCurve(draws []record.Record) *factor.RankCurve {
	mean := &factor.RankCurve{}
	for _, k := range draws[0].Choice.Curve.Rank {
		if slices.ContainsFunc(draws, func(r record.Record) bool { return !slices.Contains(r.Choice.Curve.Rank, k) }) {
			continue
		}
		add := func(to *[]float64, values func(*factor.RankCurve) []float64) {
			*to = append(*to, meanOf(draws, func(r record.Record) float64 {
				return values(r.Choice.Curve)[slices.Index(r.Choice.Curve.Rank, k)]
			}))
		}
		mean.Rank = append(mean.Rank, k)
		add(&mean.Misfit, func(c *factor.RankCurve) []float64 { return c.Misfit })
		add(&mean.Deviation, func(c *factor.RankCurve) []float64 { return c.Deviation })
		add(&mean.Stability, func(c *factor.RankCurve) []float64 { return c.Stability })
	}
	return mean
}

// meanOf is the mean of a value of draws.
func meanOf(draws []record.Record, value func(record.Record) float64) float64 {
	var sum float64
	for _, r := range draws {
		sum += value(r)
	}
	return sum / float64(len(draws))
}
