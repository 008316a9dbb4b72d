package report

import (
	"fmt"

	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/report/figure"
)

type countsView struct {
	*figureView
	Chosen, Samples string
}

// countsSection shows how the number of groups was chosen: curves/groups.png, ….
func countsSection(w *clustersPage) section {
	return section{id: "how-many", title: "How many groups", template: countsTemplate, make: func() (any, error) {
		c := w.clusters.Counts
		if c == nil {
			return nil, nil
		}
		curve, err := figure.CountCurve(c)
		v, err := w.figure("curves/groups", "Gap, silhouette and stability of each number of groups.", curve, err)
		if err != nil {
			return nil, err
		}
		return countsView{v, fmt.Sprint(c.K[c.Best()]), phrase.Count(c.Samples, w.clusters.thing(), w.clusters.thing()+"s")}, nil
	}}
}

var countsTemplate = parse("counts", `

<h2 id="how-many">How many groups?</h2>
<p>The number of groups was not said, so that several were tried. {{.Chosen}} is the one with the largest gap. Others with a large gap or silhouette may suit as well; <code>-k</code> says which number it shall be.</p>
{{template "curve" .}}
<p class="note">The gap is that of eigenvalues (of the normalised Laplacian of a graph in which each sample is joined to the 10 nearest): it is large where the graph falls apart into so many parts rather than more. The silhouette says how much nearer the samples are to their own group than to the next, from −1 to 1. The stability says how well the groups of four fifths of the samples agree with those of another four fifths, 1 where they are the same. {{.Samples}} were looked at.</p>`)
