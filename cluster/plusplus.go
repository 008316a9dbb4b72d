package cluster

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/elementary"
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
func candidates(k int) int { return 2 + int(elementary.Log(float64(max(k, 1)))) }

// runsTogether is for how many runs rows are drawn together.
func runsTogether(n, k int) int { return min(max(mostCosts/(n*candidates(k)), 1), 32) }

// mostCosts is how many costs with candidates are held at a time, or those of one run.
const mostCosts = 6 << 20

// plusPlus draws the rows of the centres of the runs from first to last-1.
func (l *lloyd) plusPlus(ctx context.Context, first, last int) ([][]int, error) {
	runs := make([]plusPlusRun, last-first)
	longest := 0.0
	for i, w := range l.weights {
		longest = max(longest, w*l.norms[i])
	}
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
	costs := make([]float64, points.points.Rows*l.n) // of the samples with a candidate, one after the other
	blocks := parallel.Count(l.n, panelRows)
	totals := make([]float64, points.points.Rows*blocks)
	for range l.K {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tries := len(runs[0].drawn)
		points.points.Rows = len(runs) * tries
		for r, run := range runs {
			for at, i := range run.drawn {
				to := points.at(r*tries + at)
				clear(to)
				l.addTo(to, l.weights[i], i)
			}
		}
		points.ready()
		limit := (2 + boundMargin) * points.slack.of(longest)
		parallel.DoWork(points.points.Rows*l.n*l.m, blocks, func(block int) {
			lo, hi := block*panelRows, min((block+1)*panelRows, l.n)
			l.dotsByPoint(costs[lo:], l.n, lo, hi, points.points)
			for at := range points.points.Rows {
				own := costs[at*l.n:][lo:hi]
				l.leastCosts(own, runs[at/tries].costs[lo:hi], lo, points, at, limit)
				total := &totals[at*blocks+block]
				*total = 0
				for _, cost := range own {
					*total += cost
				}
			}
		})
		for r := range runs {
			runs[r].take(costs[r*tries*l.n:], totals[r*tries*blocks:][:tries*blocks])
			if len(runs[r].rows) < l.K {
				runs[r].draw(candidates(l.K))
			}
		}
	}
	rows := make([][]int, len(runs))
	for r, run := range runs {
		rows[r] = run.rows
	}
	return rows, nil
}

// leastCosts makes of the products of samples from lo on with candidate at what they cost with it or with a centre before
// it. Where that may be 0, by a limit for all samples, it may be no more than rounding.
func (l *lloyd) leastCosts(products, before []float64, lo int, points *targets, at int, limit float64) {
	first, by, offset := l.first[lo:][:len(products)], l.by[lo:][:len(products)], points.offsets[at]
	for a, product := range products {
		i, cost := lo+a, first[a]+by[a]*(offset-product)
		if cost <= limit && before[a] > 0 && cost <= 2*l.weights[i]*points.slack.of(l.norms[i]) {
			cost = l.Distance.between(l.row(i, make([]float64, l.m)), l.weights[i], points.at(at), 1)
		}
		products[a] = min(cost, before[a])
	}
}

// plusPlusRun is a run whose centres are being drawn.
type plusPlusRun struct {
	random *rand.Rand
	rows   []int
	drawn  []int     // the candidates for the next
	costs  []float64 // of the samples with the centres so far
	totals []float64 // of the costs of panels
}

// take takes that candidate which leaves the least cost, the first of several, given what the samples cost with each, and
// the totals of panels of that.
func (r *plusPlusRun) take(costs, totals []float64) {
	best, least := 0, math.Inf(1)
	panels := len(totals) / len(r.drawn)
	for c := range r.drawn {
		var total float64
		for _, part := range totals[c*panels:][:panels] {
			total += part
		}
		if total < least*(1-1e-12) || c == 0 {
			best, least = c, total
		}
	}
	r.rows = append(r.rows, r.drawn[best])
	copy(r.costs, costs[best*len(r.costs):])
	r.totals = append(r.totals[:0], totals[best*panels:][:panels]...)
}

// draw draws candidates.
func (r *plusPlusRun) draw(tries int) {
	var total float64
	last := 0 // of the panels with a total
	for at, part := range r.totals {
		if total += part; part > 0 {
			last = at
		}
	}
	r.drawn = r.drawn[:0]
	for range tries {
		if total == 0 {
			r.drawn = append(r.drawn, r.random.IntN(len(r.costs)))
			continue
		}
		at, part := r.random.Float64()*total, 0
		for ; part < last && at >= r.totals[part]; part++ {
			at -= r.totals[part]
		}
		lo := part * panelRows
		r.drawn = append(r.drawn, lo+reach(r.costs[lo:min(lo+panelRows, len(r.costs))], at))
	}
}
