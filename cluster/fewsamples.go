package cluster

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// fewSamples runs Lloyd's algorithm on samples that are no more than their columns by their
// inner products: the sum of a cluster is one of rows of n products in place of m values, and
// is at once what the scores of all samples are made of. A step in which rounding may decide, and
// one that leaves a cluster empty, is not taken: such a run is lloyd's from its beginning. What the
// runs that may be the best come to is computed from the samples. So answers are lloyd's, to the bytes.
type fewSamples struct {
	*lloyd             // of which it uses no room
	products []float64 // n rows of width, of the samples times their weights
	width    int
	ones     []float64
	slack    float64 // where two scores differ by less, their order is not known

	sums             []float64 // K rows of width: of the products with the samples of a cluster
	squares          []float64 // of the lengths of the sums of the samples
	members          []int     // of a cluster
	labels, previous []int
	counts           []int
	scales, offsets  []float64 // of the clusters: a score is offset − scale·sum
	best, second     []float64 // of the scores of each sample
}

// outcome is what a run came to by inner products.
type outcome struct {
	certain    bool
	objective  float64 // about
	labels     []int
	iterations int
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

// bestByProducts returns the best answer of all runs.
func (l *lloyd) bestByProducts(ctx context.Context) (*Result, error) {
	outcomes := make([]outcome, l.restarts())
	errs := make([]error, len(outcomes))
	first := l.fewSamples()
	workers := make([]*fewSamples, min(parallel.Cores(), len(outcomes)))
	err := parallel.Blocks(ctx, len(workers), len(outcomes), 1, func(at, start, _ int) {
		if workers[at] == nil {
			workers[at] = first.another()
		}
		outcomes[start], errs[start] = workers[at].run(ctx, start)
	})
	if err = cmp.Or(errors.Join(errs...), err); err != nil {
		return nil, err
	}
	starts := likeliest(outcomes, 2*float64(l.n)*first.slack, l.K)
	return bestTogether(ctx, len(starts), func() func(int) (*Result, error) {
		own := l.another()
		return func(i int) (*Result, error) {
			if found := outcomes[starts[i]]; found.certain {
				return own.answer(found), ctx.Err()
			}
			return own.run(ctx, starts[i])
		}
	})
}

// likeliest returns the runs that may have the least objective, given how far apart two equal ones may seem: of several with the
// same k clusters the first.
func likeliest(outcomes []outcome, apart float64, k int) (starts []int) {
	least := math.Inf(1)
	for _, o := range outcomes {
		if o.certain {
			least = min(least, o.objective)
		}
	}
	for start, o := range outcomes {
		known := func(before int) bool {
			return outcomes[before].certain && sameClusters(outcomes[before].labels, o.labels, k)
		}
		if !o.certain || o.objective <= least+apart && !slices.ContainsFunc(starts, known) {
			starts = append(starts, start)
		}
	}
	return starts
}

// sameClusters tells whether two groupings are the same but for the numbers of their k clusters, none of which is empty.
func sameClusters(a, b []int, k int) bool {
	numbers := slices.Repeat([]int{-1}, k)
	for i, from := range a {
		if numbers[from] < 0 {
			numbers[from] = b[i]
		} else if numbers[from] != b[i] {
			return false
		}
	}
	return true
}

// answer is what a run came to, computed from the samples.
func (l *lloyd) answer(found outcome) *Result {
	copy(l.labels, found.labels)
	clear(l.counts)
	for _, j := range l.labels {
		l.counts[j]++
	}
	l.update()
	return l.result(found.iterations)
}

// fewSamples returns what runs on the inner products of the samples.
func (l *lloyd) fewSamples() *fewSamples {
	f := &fewSamples{lloyd: l, width: simd.Width(l.n), ones: slices.Repeat([]float64{1}, l.n)}
	x := blas.Of[float64](l.rowReader.(dense).RawMatrix())
	f.products = make([]float64, l.n*f.width)
	blas.Multiply(blas.NoTrans, blas.Trans, 1, x, x, 0, blas.Of[float64]{Rows: l.n, Cols: l.n, Stride: f.width, Data: f.products})
	for i, w := range l.weights {
		row := f.products[i*f.width:]
		for j, v := range l.weights {
			row[j] *= w * v
		}
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

// another returns one that can run beside f.
func (f *fewSamples) another() *fewSamples {
	other := *f
	other.sums, other.squares = make([]float64, f.K*f.width), make([]float64, f.K)
	other.labels, other.previous, other.members = make([]int, f.n), make([]int, f.n), make([]int, 0, f.n)
	other.counts = make([]int, f.K)
	other.scales, other.offsets = make([]float64, f.K), make([]float64, f.K)
	other.best, other.second = make([]float64, f.n), make([]float64, f.n)
	return &other
}

// run is lloyd's, as far as it is certain.
func (f *fewSamples) run(ctx context.Context, restart int) (outcome, error) {
	rows, err := f.startRows(ctx, restart)
	if err != nil {
		return outcome{}, err
	}
	iterations, certain := f.iterate(rows)
	return outcome{certain, f.objective(), slices.Clone(f.labels), iterations}, ctx.Err()
}

// iterate goes from these rows as the centres until no sample moves, and returns after how many
// iterations, or false.
func (f *fewSamples) iterate(rows []int) (iterations int, certain bool) {
	for j, i := range rows {
		copy(f.sums[j*f.width:][:f.width], f.products[i*f.width:])
		f.counts[j], f.squares[j] = 1, f.products[i*f.width+i]
	}
	for i := range f.labels {
		f.labels[i] = -1
	}
	for iterations < orDefault(f.MaxIterations, defaultMaxIterations) {
		iterations++
		if !f.assign() {
			return 0, false
		}
		if slices.Equal(f.labels, f.previous) {
			return iterations, true
		}
		f.sum()
	}
	return 0, false
}

// sum adds up the clusters.
func (f *fewSamples) sum() {
	clear(f.sums)
	clear(f.squares)
	for j := range f.squares {
		f.members = f.members[:0]
		for i, to := range f.labels {
			if to == j {
				f.members = append(f.members, i)
			}
		}
		sums := f.sums[j*f.width:][:f.width]
		simd.AddRows(sums, f.ones[:len(f.members)], f.products, f.members)
		for _, i := range f.members {
			f.squares[j] += sums[i]
		}
	}
}

// assign moves each sample to the nearest centre. It returns false where that is not certain, or leaves a
// cluster empty.
func (f *fewSamples) assign() bool {
	f.labels, f.previous = f.previous, f.labels
	for j, count := range f.counts {
		size, square := float64(count), f.squares[j]
		f.scales[j], f.offsets[j] = 1/size, square/(2*size*size)
		if f.Distance == DistanceCosine {
			if !(square >= size*size/16) {
				return false
			}
			f.scales[j], f.offsets[j] = 1/math.Sqrt(square), 0
		}
	}
	simd.LeastRows(f.labels, f.best, f.second, f.sums, f.width, f.scales, f.offsets)
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
			sum += f.products[i*f.width+i] + 2*score
		}
	}
	return sum
}
