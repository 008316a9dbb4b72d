package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed4492f2cd/partwise/internal/lloyd"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// seeds are samples whose clusters are known.
type seeds struct {
	labels []int // of the samples, −1 for none
	sizes  []int // of the clusters
	open   []int // the clusters without a labelled sample
	free   []int // the samples without a label
	keep   bool  // labelled samples stay in their clusters
}

// seed makes samples with labels the seeds. There is one run where all clusters have labels.
func (l *run) seed(labels []int, keep bool) error {
	if len(labels) != l.n {
		return fmt.Errorf("%d labels of %d samples", len(labels), l.n)
	}
	s := &seeds{labels: labels, sizes: make([]int, l.K), keep: keep}
	for i, c := range labels {
		switch {
		case c == -1:
			s.free = append(s.free, i)
		case c < 0 || c >= l.K:
			return fmt.Errorf("sample %d has label %d of %d clusters", i+1, c, l.K)
		default:
			s.sizes[c]++
		}
	}
	for c, size := range s.sizes {
		if size == 0 {
			s.open = append(s.open, c)
		}
	}
	if len(s.open) > len(s.free) {
		return fmt.Errorf("%d clusters have no labelled sample, and %d samples have no label", len(s.open), len(s.free))
	}
	if l.seeds = s; len(s.open) == 0 {
		l.runs, l.starts = 1, 1
	}
	return nil
}

// kept returns the cluster that sample i must stay in, or −1.
func (s *seeds) kept(i int) int {
	if s == nil || !s.keep {
		return -1
	}
	return s.labels[i]
}

// start sets the centres for a restart: means of labelled samples, and samples without a label for other
// clusters.
func (l *run) start(ctx context.Context, restart int) (err error) {
	random := rng.New(l.Seed, "k-means", restart)
	open, free, rows := upTo(l.K), l.all, l.Start
	if s := l.seeds; s != nil {
		open, free = s.open, s.free
		clear(l.centres.points.Data)
		for i, c := range s.labels {
			if c >= 0 {
				l.addTo(l.centres.point(c), l.weights[i], i)
			}
		}
		for j, size := range s.sizes {
			l.toMean(j, size)
		}
	}
	switch {
	case len(rows) > 0:
	case l.Init == InitPlusPlus:
		if rows, err = l.plusPlus(ctx, random, len(open)); err != nil {
			return err
		}
	default:
		for _, at := range random.Perm(len(free)) {
			rows = append(rows, free[at])
		}
	}
	for at, j := range open {
		clear(l.centres.point(j))
		l.addTo(l.centres.point(j), l.weights[rows[at]], rows[at])
	}
	l.centres.ready()
	return nil
}

// costs writes what free samples cost with the nearest centre that labels have, and 0 for the others, and
// reports whether there is one.
func (s *seeds) costs(l *run, out []float64) (some bool) {
	for i, c := range s.labels {
		if c >= 0 {
			out[i] = 0
		}
	}
	for j, size := range s.sizes {
		if some = some || size > 0; size == 0 {
			continue
		}
		for _, i := range s.free {
			if out[i] > 0 {
				out[i] = min(out[i], l.cost(i, j))
			}
		}
	}
	return some
}

// plusPlus draws samples as centres at the start of a run, beside those of the labelled samples: see InitPlusPlus.
func (l *run) plusPlus(ctx context.Context, random *rand.Rand, centres int) ([]int, error) {
	points := newTargets(l.Distance, lloyd.Candidates(centres), l.m)
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
			points.fill(l.samples, candidates)
			limit = 2.001 * points.slack(longest)
		},
		Cost: func(out []float64, lo, hi int) {
			points.score(out, l.samples, l.all[lo:hi])
			for i := lo; i < hi; i++ {
				own := out[(i-lo)*points.points.Rows:][:points.points.Rows]
				for c, score := range own {
					own[c] = l.first[i] + l.by[i]*score
					if own[c] <= limit && first[i] > 0 && own[c] <= 2*l.weights[i]*points.slack(l.norms[i]) {
						own[c] = l.Distance.between(l.row(i, make([]float64, l.m)), l.weights[i], points.point(c), 1)
					}
				}
			}
		},
	}
	if l.seeds != nil {
		p.Started = l.seeds.costs(l, first)
	}
	return p.Draw(ctx, centres, random)
}
