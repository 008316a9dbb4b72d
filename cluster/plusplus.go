package cluster

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// plusPlusStarts are the rows of the centres of runs that start by k-means++. Those of
// several runs are drawn together, so that one product serves them all.
type plusPlusStarts struct {
	mu   sync.Mutex
	rows [][]int // of the runs so far
}

// of returns the rows of a run.
func (p *plusPlusStarts) of(ctx context.Context, l *lloyd, restart int) ([]int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for restart >= len(p.rows) {
		first := len(p.rows)
		rows, err := l.plusPlus(ctx, first, min(first+runsTogether(l.n, l.K), max(l.restarts(), restart+1)))
		if err != nil {
			return nil, err
		}
		p.rows = append(p.rows, rows...)
	}
	return p.rows[restart], nil
}

// candidates is of how many samples k-means++ takes one.
func candidates(k int) int { return 2 + int(math.Log(float64(max(k, 1)))) }

// runsTogether is for how many runs rows are drawn together.
func runsTogether(n, k int) int { return min(max(mostCosts/(n*candidates(k)), 1), 32) }

// mostCosts is how many costs with candidates are held at a time, or those of one run.
const mostCosts = 6 << 20

// plusPlus draws the rows of the centres of the runs from first to last-1.
func (l *lloyd) plusPlus(ctx context.Context, first, last int) ([][]int, error) {
	runs := make([]plusPlusRun, last-first)
	tries := 1
	for r := range runs {
		run := plusPlusRun{random: l.random(first + r), costs: make([]float64, l.n)}
		for i, w := range l.weights {
			// A row of zeros costs the same everywhere: it is no centre.
			if w > 0 {
				run.costs[i] = math.Inf(1)
			}
		}
		run.drawn = []int{run.random.IntN(l.n)}
		runs[r] = run
	}
	points := newTargets(l.Distance, len(runs)*candidates(l.K), l.m)
	costs := make([]float64, l.n*points.points.Rows)
	blocks := parallel.Count(l.n, panelRows)
	totals := make([]float64, blocks*points.points.Rows)
	for step := range l.K {
		width := len(runs) * tries
		points.points.Rows = width
		for r, run := range runs {
			for at, i := range run.drawn {
				to := points.at(r*tries + at)
				clear(to)
				l.addTo(to, l.weights[i], i)
			}
		}
		points.ready()
		err := parallel.Blocks(ctx, 0, l.n, panelRows, func(_, lo, hi int) {
			points.score(costs[lo*width:hi*width], l.samples, lo, hi)
			sums := totals[lo/panelRows*width:][:width]
			clear(sums)
			for i := lo; i < hi; i++ {
				l.leastCosts(sums, costs[i*width:(i+1)*width], runs, points, i)
			}
		})
		if err != nil {
			return nil, err
		}
		for r := range runs {
			runs[r].take(costs[r*tries:], totals[r*tries:], width)
		}
		tries = candidates(l.K)
		for r := range runs {
			if step < l.K-1 {
				runs[r].draw(tries)
			}
		}
	}
	rows := make([][]int, len(runs))
	for r, run := range runs {
		rows[r] = run.rows
	}
	return rows, nil
}

// leastCosts makes scores of sample i with the candidates of all runs what it costs with
// these or with a centre before them, and adds that to the sums.
func (l *lloyd) leastCosts(sums, scores []float64, runs []plusPlusRun, points *targets, i int) {
	tries := len(scores) / len(runs)
	slack := 2 * l.weights[i] * points.slack.of(l.norms[i])
	first, by := 1.0, l.weights[i]
	if l.Distance == DistanceEuclidean {
		first, by = l.norms[i]*l.norms[i], 2
	}
	for r := range runs {
		before := runs[r].costs[i]
		scores, sums := scores[r*tries:][:tries], sums[r*tries:][:tries]
		for c, s := range scores {
			cost := first + by*s
			if before > 0 && cost <= 2*slack { // it may be 0
				cost = l.Distance.between(l.row(i, make([]float64, l.m)), l.weights[i], points.at(r*tries+c), 1)
			}
			cost = min(cost, before)
			scores[c] = cost
			sums[c] += cost
		}
	}
}

// plusPlusRun is a run whose centres are being drawn.
type plusPlusRun struct {
	random *rand.Rand
	rows   []int
	drawn  []int     // the candidates for the next
	costs  []float64 // of the samples with the centres so far
}

// take takes that candidate which leaves the least cost, the first of several. Of each
// sample the costs with candidates, and of each block of samples their totals, are width
// apart.
func (r *plusPlusRun) take(costs, totals []float64, width int) {
	best, least := 0, math.Inf(1)
	for c := range r.drawn {
		var total float64
		for at := c; at < len(totals); at += width {
			total += totals[at]
		}
		if total < least*(1-1e-12) || c == 0 {
			best, least = c, total
		}
	}
	r.rows = append(r.rows, r.drawn[best])
	for i := range r.costs {
		r.costs[i] = costs[i*width+best]
	}
}

// draw draws candidates.
func (r *plusPlusRun) draw(tries int) {
	var total float64
	for _, c := range r.costs {
		total += c
	}
	r.drawn = r.drawn[:0]
	for range tries {
		r.drawn = append(r.drawn, draw(r.random, r.costs, total))
	}
}
