package cluster

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// fewSamples runs Lloyd's algorithm on samples that are no more than their columns by their
// inner products: the sum of a cluster is one of rows of n products in place of m values, and
// is at once what the scores of all samples are made of. A step in which rounding may decide, and
// one that leaves a cluster empty, is not taken: such a run is lloyd's from its beginning. So
// answers are lloyd's, to the bytes.
type fewSamples struct {
	*lloyd
	products []float64 // n×n, of the samples times their weights
	slack    float64   // where two scores differ by less, their order is not known
	least    float64   // the least objective so far

	sums             []float64 // K×n: of the products with the samples of a cluster
	labels, previous []int
	counts           []int
	scales, offsets  []float64 // of the clusters: a score is offset − scale·sum
	best, second     []float64 // of the scores of each sample
}

// worthProducts tells whether the runs are worth the inner products of all samples.
func (l *lloyd) worthProducts() bool {
	_, whole := l.rowReader.(dense)
	if !whole || l.Refine || l.OnIteration != nil || l.n > l.m || l.n > 2*l.restarts()*l.K {
		return false
	}
	for _, length := range l.norms { // squares of others may run over or under
		if length != 0 && (length < 1e-100 || length > 1e100) {
			return false
		}
	}
	return true
}

// weightedProducts returns the inner products of the samples times their weights.
func (l *lloyd) weightedProducts() []float64 {
	x := blas.Of[float64](l.rowReader.(dense).RawMatrix())
	products := make([]float64, l.n*l.n)
	blas.Multiply(blas.NoTrans, blas.Trans, 1, x, x, 0, blas.Of[float64]{Rows: l.n, Cols: l.n, Stride: l.n, Data: products})
	for i, w := range l.weights {
		for j, v := range l.weights {
			products[i*l.n+j] *= w * v
		}
	}
	return products
}

// fewSamples returns what runs on the products, beside others.
func (l *lloyd) fewSamples(products []float64) *fewSamples {
	f := &fewSamples{
		lloyd: l.another(), products: products, least: math.Inf(1),
		sums:   make([]float64, l.K*l.n),
		labels: make([]int, l.n), previous: make([]int, l.n), counts: make([]int, l.K),
		scales: make([]float64, l.K), offsets: make([]float64, l.K),
		best: make([]float64, l.n), second: make([]float64, l.n),
	}
	// A product is off by at most mε times the lengths, a sum of count by count·(m+n)ε of the largest and
	// a square by count²·(m+2n)ε; the centre is a sum over count or, under the cosine distance, over a length
	// of at least a quarter of count.
	f.slack = 16 * float64(l.m+2*l.n+8) * epsilon
	if l.Distance == DistanceCosine {
		f.slack *= 4
	} else {
		longest := slices.Max(l.norms)
		f.slack *= longest * longest
	}
	return f
}

// run is lloyd's. Of a run whose objective is certainly not the least so far it returns no more than about
// that objective.
func (f *fewSamples) run(ctx context.Context, restart int) (r *Result, err error) {
	rows, err := f.startRows(ctx, restart)
	if err != nil {
		return nil, err
	}
	iterations, certain := f.iterate(rows)
	switch objective := f.objective(); {
	case !certain:
		r, err = f.lloyd.run(ctx, restart)
	case objective > f.least+2*float64(f.n)*f.slack:
		return &Result{Objective: objective}, ctx.Err()
	default:
		copy(f.lloyd.labels, f.labels)
		copy(f.lloyd.counts, f.counts)
		f.update()
		r, err = f.result(iterations), ctx.Err()
	}
	if err == nil {
		f.least = min(f.least, r.Objective)
	}
	return r, err
}

// iterate goes from these rows as the centres until no sample moves, and returns after how many
// iterations, or false.
func (f *fewSamples) iterate(rows []int) (iterations int, certain bool) {
	for j, i := range rows {
		copy(f.sums[j*f.n:][:f.n], f.products[i*f.n:])
		f.counts[j] = 1
	}
	squares := func(j int) float64 { return f.products[rows[j]*f.n+rows[j]] }
	for i := range f.labels {
		f.labels[i] = -1
	}
	for iterations < orDefault(f.MaxIterations, defaultMaxIterations) {
		iterations++
		if !f.assign(squares) {
			return 0, false
		}
		if slices.Equal(f.labels, f.previous) {
			return iterations, true
		}
		clear(f.sums)
		for i, j := range f.labels {
			floats.Add(f.sums[j*f.n:][:f.n], f.products[i*f.n:][:f.n])
		}
		squares = f.squaredLength
	}
	return 0, false
}

// squaredLength returns that of the sum of cluster j, while samples are moved on.
func (f *fewSamples) squaredLength(j int) (square float64) {
	sums := f.sums[j*f.n:][:f.n]
	for i, to := range f.previous {
		if to == j {
			square += sums[i]
		}
	}
	return square
}

// assign moves each sample to the nearest centre, given the squared lengths of the sums. It returns false
// where that is not certain, or leaves a cluster empty.
func (f *fewSamples) assign(squaredLength func(j int) float64) bool {
	f.labels, f.previous = f.previous, f.labels
	for j, count := range f.counts {
		size, square := float64(count), squaredLength(j)
		f.scales[j], f.offsets[j] = 1/size, square/(2*size*size)
		if f.Distance == DistanceCosine {
			if !(square >= size*size/16) {
				return false
			}
			f.scales[j], f.offsets[j] = 1/math.Sqrt(square), 0
		}
	}
	simd.LeastRows(f.labels, f.best, f.second, f.sums, f.n, f.scales, f.offsets)
	clear(f.counts)
	for i, j := range f.labels {
		if f.second[i]-f.best[i] <= f.slack {
			return false
		}
		f.counts[j]++
	}
	return !slices.Contains(f.counts, 0)
}

// objective returns about the sum of the samples' costs. Their order decides its bytes, and
// the clusters' does not.
func (f *fewSamples) objective() (sum float64) {
	for i, score := range f.best {
		if f.Distance == DistanceCosine {
			sum += 1 + score
		} else {
			sum += f.products[i*f.n+i] + 2*score
		}
	}
	return sum
}
