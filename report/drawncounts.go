package report

import (
	"fmt"

	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// drawnCountsSection shows how many groups were chosen for the draws of an experiment, and the mean
// gaps of those with the most classes: tables/groups.txt, … and curves/groups.png, ….
func drawnCountsSection(w *experimentPage) section {
	return section{id: "how-many", title: "How many groups", template: drawnCountsTemplate, make: func() (any, error) {
		draws := drawsOf(w.records, func(r pipeline.Record) bool { return r.Count != nil })
		if len(draws) == 0 {
			return nil, nil
		}
		rows, last := chosenRows(draws, func(r pipeline.Record) int { return r.Count.K })
		counts := make([]*pipeline.CountChoice, len(last))
		for i, r := range last {
			counts[i] = r.Count
		}
		curve, err := figure.GapCurve(meanGaps(counts))
		v, err := w.figure("curves/groups", "Gap of each number of groups.", curve, err)
		if err != nil {
			return nil, err
		}
		t, err := w.table("groups", table.ChosenDocument(w.Name, "numbers of groups", rows, true))
		if err != nil {
			return nil, err
		}
		says := fmt.Sprintf("The number of groups was chosen for each draw, one for all methods. The figure is the mean over the draws of %d classes.", last[0].Classes)
		return ranksView{Figure: v, Says: says, Table: &t}, nil
	}}
}

// meanGaps is the mean of the gaps of the numbers that all have.
func meanGaps(counts []*pipeline.CountChoice) (from int, gaps []float64) {
	to := 0
	for i, c := range counts {
		end := c.From + len(c.Gap)
		if from = max(from, c.From); i == 0 || end < to {
			to = end
		}
	}
	for k := from; k < to; k++ {
		var sum float64
		for _, c := range counts {
			sum += c.Gap[k-c.From]
		}
		gaps = append(gaps, sum/float64(len(counts)))
	}
	return from, gaps
}

var drawnCountsTemplate = parse("drawn-counts", `

<h2 id="how-many">How many groups?</h2>
<p>{{.Says}}</p>
{{- template "table" .Table}}
{{- with .Figure}}
{{template "curve" .}}
{{- end}}
<p class="note">Chosen is the number with the largest gap of eigenvalues (of the normalised Laplacian of a graph in which each sample is joined to the 10 nearest by its features): it is large where the graph falls apart into so many parts rather than more.</p>`)
