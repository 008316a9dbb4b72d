package cluster

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/seed4492f2cd/partwise/internal/lloyd"
)

// plusPlus draws the samples that a run starts from: see InitPlusPlus.
func (l *run) plusPlus(ctx context.Context, random *rand.Rand) ([]int, error) {
	points := newTargets(l.Distance, lloyd.Candidates(l.K), l.m)
	longest := 0.0
	first := make([]float64, l.n)
	for i, w := range l.weights {
		longest = max(longest, w*l.norms[i])
		if w > 0 { // a row of zeros costs the same everywhere, so it is no centre
			first[i] = math.Inf(1)
		}
	}
	var limit float64 // of the costs that may be 0 but for rounding, whatever the sample
	p := lloyd.PlusPlus{
		First: first,
		Propose: func(candidates []int) {
			points.points.Rows = len(candidates)
			for at, i := range candidates {
				clear(points.at(at))
				l.addTo(points.at(at), l.weights[i], i)
			}
			points.ready()
			limit = 2.001 * points.slack.of(longest)
		},
		Cost: func(out []float64, lo, hi int) {
			points.score(out, l.samples, lo, hi)
			for i := lo; i < hi; i++ {
				own := out[(i-lo)*points.points.Rows:][:points.points.Rows]
				for c, score := range own {
					own[c] = l.first[i] + l.by[i]*score
					if own[c] <= limit && first[i] > 0 && own[c] <= 2*l.weights[i]*points.slack.of(l.norms[i]) {
						own[c] = l.Distance.between(l.row(i, make([]float64, l.m)), l.weights[i], points.at(c), 1)
					}
				}
			}
		},
	}
	return p.Draw(ctx, l.K, random)
}
