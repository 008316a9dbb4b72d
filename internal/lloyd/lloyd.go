// Package lloyd holds what all forms of k-means share: starts by k-means++, and samples for empty clusters. It
// knows samples by their number only.
package lloyd

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// FillEmpty gives each empty cluster the sample that costs most in its own, of those that are free to move and
// not alone there, ties to the lower index. Where there is none, clusters stay empty.
func FillEmpty[T int | int32](labels []T, counts []int, costs []float64, free func(i int) bool) {
	for j, count := range counts {
		if count > 0 {
			continue
		}
		farthest := -1
		for i, from := range labels {
			if counts[from] > 1 && free(i) && (farthest < 0 || costs[i] > costs[farthest]) {
				farthest = i
			}
		}
		if farthest < 0 {
			return
		}
		counts[labels[farthest]]--
		labels[farthest], counts[j] = T(j), 1
	}
}

// Block is how many samples PlusPlus asks the costs of at once.
const Block = 240

// Candidates returns of how many samples k-means++ takes one.
func Candidates(k int) int { return 2 + int(elementary.Log(float64(max(k, 1)))) }

// PlusPlus draws k of n samples for k-means to start from: one after the other, the best of 2 + ln k
// candidates, each drawn with a probability in proportion to its cost with the samples before it (Arthur and
// Vassilvitskii 2007, greedy). First holds what each sample costs before: infinite, 0 for one that is not to be
// drawn, or, if Started, its cost with given centres. Propose gets the candidates, and Cost then writes the
// costs of each sample from lo to hi with each. Several goroutines call Cost.
type PlusPlus struct {
	First   []float64
	Started bool
	Propose func(candidates []int)
	Cost    func(out []float64, lo, hi int)
}

// Draw returns the k samples.
func (p *PlusPlus) Draw(ctx context.Context, k int, random *rand.Rand) (rows []int, err error) {
	costs, n, most := p.First, len(p.First), Candidates(k) // costs with the samples drawn so far
	sums := make([]float64, parallel.Count(n, Block))      // of the costs of each block
	tried, totals := make([]float64, n*most), make([]float64, len(sums)*most)
	for i, cost := range costs {
		sums[i/Block] += cost
	}
	for len(rows) < k {
		var drawn []int
		if !p.Started && len(rows) == 0 {
			drawn = []int{random.IntN(n)}
		} else {
			for range most {
				drawn = append(drawn, draw(costs, sums, random))
			}
		}
		count := len(drawn)
		p.Propose(drawn)
		// The costs with each candidate too, and their sums over each block.
		err := parallel.Blocks(ctx, parallel.Cores(), n, Block, func(_, lo, hi int) {
			tried, totals := tried[lo*count:hi*count], totals[lo/Block*count:][:count]
			p.Cost(tried, lo, hi)
			clear(totals)
			for at, cost := range tried {
				tried[at] = min(cost, costs[lo+at/count])
				totals[at%count] += tried[at]
			}
		})
		if err != nil {
			return nil, err
		}
		best, least := 0, math.Inf(1)
		for c := range count {
			var total float64
			for block := range sums {
				total += totals[block*count+c]
			}
			if total < least*(1-1e-12) || c == 0 {
				best, least = c, total
			}
		}
		for block := range sums {
			sums[block] = totals[block*count+best]
		}
		for i := range costs {
			costs[i] = tried[i*count+best]
		}
		rows = append(rows, drawn[best])
	}
	return rows, nil
}

// draw draws a sample with a probability in proportion to its cost, or any where all costs are 0.
func draw(costs, sums []float64, random *rand.Rand) (index int) {
	var total float64
	last := 0 // of the blocks with a cost
	for block, sum := range sums {
		if total += sum; sum > 0 {
			last = block
		}
	}
	if total == 0 {
		return random.IntN(len(costs))
	}
	at, block := random.Float64()*total, 0
	for ; block < last && at >= sums[block]; block++ {
		at -= sums[block]
	}
	for i := block * Block; i < min((block+1)*Block, len(costs)); i++ {
		if costs[i] > 0 {
			index = i
			if at -= costs[i]; at < 0 {
				break
			}
		}
	}
	return index
}
