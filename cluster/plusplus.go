package cluster

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// candidates is of how many samples k-means++ takes one.
func candidates(k int) int { return 2 + int(elementary.Log(float64(max(k, 1)))) }

// plusPlus draws the samples that a run starts from: see InitPlusPlus.
func (l *lloyd) plusPlus(ctx context.Context, random *rand.Rand) ([]int, error) {
	blocks := parallel.Count(l.n, panelRows)
	p := &plusPlus{lloyd: l, costs: make([]float64, l.n), points: newTargets(l.Distance, candidates(l.K), l.m)}
	for i, w := range l.weights {
		p.longest = max(p.longest, w*l.norms[i])
		if w > 0 { // a row of zeros costs the same everywhere, so it is no centre
			p.costs[i] = math.Inf(1)
		}
	}
	most := p.points.points.Rows
	p.tried, p.totals, p.sums = make([]float64, l.n*most), make([]float64, blocks*most), make([]float64, blocks)
	drawn, rows := []int{random.IntN(l.n)}, make([]int, 0, l.K)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.points.points.Rows = len(drawn)
		for at, i := range drawn {
			clear(p.points.at(at))
			l.addTo(p.points.at(at), l.weights[i], i)
		}
		p.points.ready()
		parallel.DoWork(len(drawn)*l.n*l.m, blocks, func(block int) { p.try(block, len(drawn)) })
		rows = append(rows, drawn[p.accept(len(drawn))])
		if len(rows) == l.K {
			return rows, nil
		}
		drawn = p.draw(drawn[:0], random, most)
	}
}

// plusPlus is the state of a run whose centres are being drawn.
type plusPlus struct {
	*lloyd
	points  *targets  // the candidates for the next centre
	costs   []float64 // of the samples with the centres so far
	tried   []float64 // n×candidates, the same with each candidate too
	totals  []float64 // blocks×candidates, the sums of tried over each block of panelRows samples
	sums    []float64 // the same of costs
	longest float64   // the length of the longest sample, times its weight
}

// try finds the costs of a block of samples with each candidate. Where they may be 0 by their
// scores, they may be nothing but rounding, and are found exactly.
func (p *plusPlus) try(block, drawn int) {
	lo, hi := block*panelRows, min((block+1)*panelRows, p.n)
	tried, totals := p.tried[lo*drawn:hi*drawn], p.totals[block*drawn:(block+1)*drawn]
	p.points.score(tried, p.samples, lo, hi)
	clear(totals)
	limit := (2 + boundMargin) * p.points.slack.of(p.longest)
	for a := range hi - lo {
		i, own := lo+a, tried[a*drawn:(a+1)*drawn]
		for c, score := range own {
			cost := p.first[i] + p.by[i]*score
			if cost <= limit && p.costs[i] > 0 && cost <= 2*p.weights[i]*p.points.slack.of(p.norms[i]) {
				cost = p.Distance.between(p.row(i, make([]float64, p.m)), p.weights[i], p.points.at(c), 1)
			}
			own[c] = min(cost, p.costs[i])
			totals[c] += own[c]
		}
	}
}

// accept returns the candidate that leaves the least cost, the first of several, and keeps its costs.
func (p *plusPlus) accept(drawn int) int {
	best, least := 0, math.Inf(1)
	for c := range drawn {
		var total float64
		for block := range p.sums {
			total += p.totals[block*drawn+c]
		}
		if total < least*(1-1e-12) || c == 0 {
			best, least = c, total
		}
	}
	for block := range p.sums {
		p.sums[block] = p.totals[block*drawn+best]
	}
	for i := range p.costs {
		p.costs[i] = p.tried[i*drawn+best]
	}
	return best
}

// draw draws candidates with probabilities in proportion to their costs.
func (p *plusPlus) draw(drawn []int, random *rand.Rand, candidates int) []int {
	var total float64
	last := 0 // of the blocks with a cost
	for block, sum := range p.sums {
		if total += sum; sum > 0 {
			last = block
		}
	}
	for range candidates {
		if total == 0 {
			drawn = append(drawn, random.IntN(p.n))
			continue
		}
		at, block := random.Float64()*total, 0
		for ; block < last && at >= p.sums[block]; block++ {
			at -= p.sums[block]
		}
		lo := block * panelRows
		drawn = append(drawn, lo+reach(p.costs[lo:min(lo+panelRows, p.n)], at))
	}
	return drawn
}
