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
		v, err := w.figure("curves/groups", "Silhouette and stability of each number of groups.", curve, err)
		if err != nil {
			return nil, err
		}
		return countsView{v, fmt.Sprint(c.K[c.Best()]), phrase.Count(c.Samples, w.clusters.thing(), w.clusters.thing()+"s")}, nil
	}}
}

var countsTemplate = parse("counts", `

<h2 id="how-many">How many groups?</h2>
<p>The number of groups was not said, so that several were tried: {{.Chosen}} is the largest of those whose silhouette is nearly the best and whose groups are stable. Others with a large silhouette may suit as well; <code>-k</code> says which number it shall be.</p>
{{template "curve" .}}
<p class="note">The silhouette says how much nearer the samples are to their own group than to the next, from −1 to 1. The stability says how well the groups of four fifths of the samples agree with those of another four fifths, 1 where they are the same. {{.Samples}} were looked at.</p>`)
