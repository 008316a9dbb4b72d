// Package lloyd implements the common parts of k-means variants: k-means++ initialisation and filling of empty
// clusters.
package lloyd

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// FillEmpty moves to each empty cluster the sample with the highest cost, ties to the lower index, among samples that are
// free to move and not alone in their cluster. If there is none, clusters stay empty.
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

// Block is the largest number of samples of a call of PlusPlus.Cost.
const Block = 240

// Candidates returns the number of candidates for each centre of greedy k-means++, 2 + ln k.
func Candidates(k int) int { return 2 + int(elementary.Log(float64(max(k, 1)))) }

// PlusPlus is greedy k-means++ (Arthur and Vassilvitskii 2007): each centre is the best of 2 + ln k candidates, drawn with
// probability proportional to their cost with the previous centres. First holds the initial cost of each sample: infinite,
// 0 for samples that must not be drawn, or the cost with given centres if Started. Propose sets the candidates. Cost then
// writes the cost of each sample from lo to hi−1 with each candidate; it is called concurrently.
type PlusPlus struct {
	First   []float64
	Started bool
	Propose func(candidates []int)
	Cost    func(out []float64, lo, hi int)
}

// Draw returns the k samples that are the initial centres.
func (p *PlusPlus) Draw(ctx context.Context, k int, random *rand.Rand) (rows []int, err error) {
	costs, n, most := p.First, len(p.First), Candidates(k) // costs with the samples drawn so far
	sums := make([]float64, parallel.Count(n, Block))      // sum of the costs of each block
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
		// The costs with each candidate added, and their sums over blocks.
		err := parallel.Blocks(ctx, parallel.Cores(), n, Block, func(_, lo, hi int) {
			tried, totals := tried[lo*count:hi*count], totals[lo/Block*count:][:count]
			p.Cost(tried, lo, hi)
			clear(totals)
			for ; lo < hi; lo++ {
				for c, cost := range tried[:count] {
					tried[c] = min(cost, costs[lo])
					totals[c] += tried[c]
				}
				tried = tried[count:]
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

// draw returns a sample with probability proportional to its cost, or uniformly if all costs are 0.
func draw(costs, sums []float64, random *rand.Rand) (index int) {
	var total float64
	last := 0 // last block with a non-zero cost
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
