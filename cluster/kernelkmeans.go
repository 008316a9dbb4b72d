package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lloyd"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// KernelKMeans is kernel k-means: it minimises Σ ‖φ(x_i) − μ_j‖² with φ(x)ᵀφ(y) = K(x, y), by batch updates (Schölkopf,
// Smola and Müller 1998). An empty cluster gets the sample farthest from its mean. The objective never rises if the
// kernel is positive semi-definite.
type KernelKMeans struct {
	K             int    // the number of clusters, from 1 to n
	Restarts      int    `setting:"restarts" default:"20" help:"number of starts; the result with the smallest objective is used"`
	MaxIterations int    // largest number of iterations of a restart; 0 means 300
	Seed          uint64 // seed of the random starts
}

// Cluster implements [Clusterer].
func (k KernelKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, _ Known, seed uint64) (_ *Result, err error) {
	defer guard.Catch(&err)
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, guard.Must(innerProducts(ctx, x, 1)))
}

func (KernelKMeans) Memory(s Size) float64 { return memoryOfSquares(s, 2, 24) }

// Fit clusters n samples by their n×n kernel matrix, which must be finite. Result.Centres is nil.
func (k KernelKMeans) Fit(ctx context.Context, kernel *mat.SymDense) (_ *Result, err error) {
	defer guard.CatchWithin(&err, "kernel k-means")
	guard.Check(k.check(kernel))
	runs := cmp.Or(k.Restarts, defaultRestarts)
	return best(ctx, runs, runs, func() func(start int) (*Result, error) {
		f := newFeatureSpace(k, kernel)
		return func(start int) (*Result, error) {
			f.start(start)
			return f.run(ctx)
		}
	})
}

func (k KernelKMeans) check(kernel *mat.SymDense) error {
	if err := checkFinite(kernel); err != nil {
		return err
	}
	return checkSizes(kernel.SymmetricDim(), k.K, k.Restarts, k.MaxIterations)
}

// featureSpace is the state of a worker, which it reuses for its restarts.
type featureSpace struct {
	KernelKMeans
	n                int
	kernel           *mat.SymDense
	labels, previous []int
	counts           []int
	sums             []float64 // n×K: Σ K_ij over the samples j of a cluster
	within           []float64 // ‖μ‖² of the clusters
	costs            []float64 // cost of each sample in its cluster
}

func newFeatureSpace(k KernelKMeans, kernel *mat.SymDense) *featureSpace {
	n := kernel.SymmetricDim()
	return &featureSpace{
		KernelKMeans: k, n: n, kernel: kernel,
		labels: make([]int, n), previous: make([]int, n), counts: make([]int, k.K),
		sums: make([]float64, n*k.K), within: make([]float64, k.K), costs: make([]float64, n),
	}
}

func (f *featureSpace) run(ctx context.Context) (*Result, error) {
	iteration := 0
	for iteration < cmp.Or(f.MaxIterations, defaultMaxIterations) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if iteration++; f.assign() == 0 {
			break
		}
	}
	r := &Result{Labels: slices.Clone(f.labels), Iterations: iteration}
	f.means()
	for i, c := range f.labels {
		r.Objective += f.cost(i, c)
	}
	return r, nil
}

func (f *featureSpace) start(restart int) {
	seeds := rng.New(f.Seed, "kernel k-means", restart).Perm(f.n)[:f.K]
	for i := range f.labels {
		least := 0.0
		for c, s := range seeds {
			if cost := f.kernel.At(s, s) - 2*f.kernel.At(i, s); c == 0 || cost < least {
				f.labels[i], least = c, cost
			}
		}
	}
	clear(f.costs)
	f.fill()
}

func (f *featureSpace) fill() {
	clear(f.counts)
	for _, c := range f.labels {
		f.counts[c]++
	}
	lloyd.FillEmpty(f.labels, f.counts, f.costs, func(int) bool { return true })
}

// means computes sums and within.
func (f *featureSpace) means() {
	clear(f.sums)
	clear(f.within)
	raw := f.kernel.RawSymmetric()
	for i, ci := range f.labels {
		own := f.sums[i*f.K : (i+1)*f.K]
		row := raw.Data[i*raw.Stride : i*raw.Stride+f.n]
		own[ci] += row[i]
		for j := i + 1; j < f.n; j++ {
			own[f.labels[j]] += row[j]
			f.sums[j*f.K+ci] += row[j]
		}
	}
	for i, c := range f.labels {
		size := float64(f.counts[c])
		f.within[c] += f.sums[i*f.K+c] / (size * size)
	}
}

// cost returns ‖φ(x_i) − μ_c‖².
func (f *featureSpace) cost(i, c int) float64 {
	return f.kernel.At(i, i) - 2*f.sums[i*f.K+c]/float64(f.counts[c]) + f.within[c]
}

// assign moves each sample to the nearest mean, fills empty clusters, and returns the number of moves.
func (f *featureSpace) assign() (moved int) {
	f.means()
	f.labels, f.previous = f.previous, f.labels
	for i := range f.labels {
		f.labels[i], f.costs[i] = 0, f.cost(i, 0)
		for c := 1; c < f.K; c++ {
			if cost := f.cost(i, c); cost < f.costs[i] {
				f.labels[i], f.costs[i] = c, cost
			}
		}
	}
	f.fill()
	return countMoved(f.previous, f.labels)
}

// SSKK is semi-supervised kernel k-means (Kulis, Basu, Dhillon and Mooney 2009). Its kernel rewards must-links and
// penalises cannot-links; the result can violate links.
type SSKK struct {
	KernelKMeans
	Weight float64 // the reward or penalty of a link, in units of the kernel; 0 means n/(K·links)
}

// Cluster implements [Clusterer].
func (s SSKK) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (_ *Result, err error) {
	defer guard.Catch(&err)
	s.K, s.Seed = clusters, seed
	return s.Fit(ctx, guard.Must(innerProducts(ctx, x, 3)), known)
}

func (SSKK) Memory(s Size) float64 { return memoryOfSquares(s, 5, 24) }

// Kernel returns the n×n kernel K + W + σI. W is Weight for must-links and −Weight for cannot-links, and σ is the
// smallest value that makes the sum positive semi-definite. Each pair of labelled samples is a link. It takes
// O(n³) time.
func (s SSKK) Kernel(ctx context.Context, similarity *mat.SymDense, known Known) (_ *mat.SymDense, err error) {
	defer guard.CatchWithin(&err, "ss-kk")
	guard.Check(s.check(similarity))
	n := similarity.SymmetricDim()
	links, count, err := known.Pairs(n)
	guard.Check(err)
	guard.FailIf(!(s.Weight >= 0) || math.IsInf(s.Weight, 0), "weight of links %v; expected a finite value of 0 or more", s.Weight)
	guard.Check(memory.FromContext(ctx).Check(8*int64(n)*int64(n)+int64(eigen.Memory(n, 1)), fmt.Sprintf("the smallest eigenvalue of the kernel of %d samples", n)))
	kernel := mat.NewSymDense(n, nil)
	kernel.CopySym(similarity)
	weight := cmp.Or(s.Weight, float64(n)/float64(s.K*count))
	links(func(i, j int, must bool) {
		by := weight
		if !must {
			by = -weight
		}
		kernel.SetSym(i, j, kernel.At(i, j)+by)
	})
	system, err := eigen.Decompose(ctx, kernel)
	guard.Check(guard.Wrap(err, "the smallest eigenvalue of the kernel"))
	if least := system.Values()[n-1]; least < 0 {
		for i := range n {
			kernel.SetSym(i, i, kernel.At(i, i)-least)
		}
	}
	return kernel, nil
}

// Fit clusters n samples by their n×n similarity matrix, such as XXᵀ for rows of unit length, with links and labels.
func (s SSKK) Fit(ctx context.Context, similarity *mat.SymDense, known Known) (*Result, error) {
	kernel, err := s.Kernel(ctx, similarity, known)
	if err != nil {
		return nil, err
	}
	return s.KernelKMeans.Fit(ctx, kernel)
}
