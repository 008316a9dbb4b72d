package cluster

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// costBins is the number of bins of a centre's costs in AddSums. A cost is in the bin of its ratio to the typical cost, in
// steps of a factor of 2^(1/8) from 2^-10 to 2^6.
const costBins = 128

// binOf returns the bin of a cost.
func binOf(cost, typical float64) int {
	if !(typical > 0) || cost == 0 {
		return 0
	}
	return max(0, min(costBins-1, int(8*elementary.Log(cost/typical)/math.Ln2+80)))
}

// SumsLength is the number of sums of AddSums: for each of k centres the sum of its samples, m values, their number and
// the numbers of costs in bins; and the cost of all samples.
func SumsLength(k, m int) int { return k*(m+1+costBins) + 1 }

// AddSums adds the samples x, p×m, to the sums of the centres, k×m, of which each sample belongs to the nearest, and
// returns the cost of each sample. weights are the weights of the samples, nil for 1, and typical is a typical cost.
func (d Distance) AddSums(ctx context.Context, sums []float64, x, centres *mat.Dense, weights []float64, typical float64) (_ []float64, err error) {
	defer guard.Catch(&err)
	near := guard.Must(Nearest(ctx, d, x, centres, 1))
	rows := guard.Must(readSamples(x, d))
	to := guard.Must(readSamples(centres, d))
	costs := make([]float64, rows.n)
	own := slices.Collect(slices.Chunk(sums[:to.n*(rows.m+1+costBins)], rows.m+1+costBins))
	for i := range costs {
		j, w := near[i][0], 1.0
		if weights != nil {
			w = weights[i]
		}
		costs[i] = d.between(x.RawRowView(i), rows.weights[i], centres.RawRowView(j), to.weights[j])
		rows.addTo(own[j][:rows.m], w*rows.weights[i], i)
		own[j][rows.m] += w
		own[j][rows.m+1+binOf(costs[i], typical)] += w
		sums[len(sums)-1] += w * costs[i]
	}
	return costs, nil
}

// FromSums returns the centres of all samples, given their sums at the centres before: the means of their samples. A centre
// without samples stays. spread has the quantiles of distances as [Centres.Spread], to about 5 %.
func (d Distance) FromSums(sums []float64, before *mat.Dense, typical float64) (c *Centres, spread *mat.Dense) {
	k, m := before.Dims()
	c, spread = &Centres{Distance: d, Points: mat.DenseCopyOf(before), Sizes: make([]int, k)}, mat.NewDense(k, SpreadLevels, nil)
	for j := range k {
		own := sums[j*(m+1+costBins):][:m+1+costBins]
		size := own[m]
		if c.Sizes[j] = int(size); size == 0 {
			continue
		}
		floats.ScaleTo(c.Points.RawRowView(j), 1/size, own[:m])
		bin, below := 0, 0.0
		for level := range SpreadLevels {
			for at := float64(level) / (SpreadLevels - 1) * size; bin < costBins-1 && below+own[m+1+bin] < at; bin++ {
				below += own[m+1+bin]
			}
			spread.Set(j, level, d.length(typical*elementary.Exp(math.Ln2*float64(bin-79)/8)))
		}
	}
	return c, spread
}

// Reduce returns k centres of weighted points by k-means++ and Lloyd's algorithm, the best of some starts. It is an error
// if fewer than k points differ.
func (d Distance) Reduce(ctx context.Context, points *mat.Dense, weights []float64, k int, seed uint64) (_ *mat.Dense, err error) {
	defer guard.Catch(&err)
	n, m := points.Dims()
	var best *mat.Dense
	least := math.Inf(1)
	for start := range max(1, min(10, 256/k)) {
		random := rng.New(seed, "reduce", start)
		centres := mat.NewDense(k, m, nil)
		costs := slices.Clone(weights)
		for j := range k {
			total := elementary.Sum(costs)
			guard.FailIf(!(total > 0), "%d clusters of only %d distinct samples", k, j)
			at, i := random.Float64()*total, 0
			for ; i < n-1 && (at >= costs[i] || costs[i] == 0); i++ {
				at -= costs[i]
			}
			for costs[i] == 0 {
				i--
			}
			centres.SetRow(j, points.RawRowView(i))
			cost := guard.Must(d.AddSums(ctx, make([]float64, SumsLength(1, m)), points, centres.Slice(j, j+1, 0, m).(*mat.Dense), nil, 0))
			for i, c := range cost {
				costs[i] = min(costs[i], weights[i]*c)
				if j == 0 {
					costs[i] = weights[i] * c
				}
			}
		}
		before := math.Inf(1)
		for range 50 {
			sums := make([]float64, SumsLength(k, m))
			guard.Must(d.AddSums(ctx, sums, points, centres, weights, 0))
			cost := sums[len(sums)-1]
			if cost < least {
				best, least = centres, cost
			}
			if cost >= before*(1-1e-6) {
				break
			}
			means, _ := d.FromSums(sums, centres, 0)
			centres, before = means.Points, cost
		}
	}
	return best, nil
}
