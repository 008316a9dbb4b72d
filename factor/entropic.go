package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// ECCF is entropic constrained concept factorisation, a method of this project. The memberships R, n×k, of samples in
// concepts of unit length minimise
//
//	κ·Σ r_ic(1 − cos(φ_i, u_c)) + Σ r_ic·log(k·r_ic) + (λ/2)·(n − tr(RᵀPR))
//
// over r_ic ≥ 0 with Σ_c r_ic = 1 and the concepts u_c, combinations of the φ_i. A labelled sample of class c belongs to
// concept c alone. P = D^-½SD^-½ has the graph S that joins each sample with its nearest neighbours by cos(φ_i, φ_j) > 0.
//
// The samples are scaled to unit length, centred, and scaled again. With their Gram matrix K, the inner products of φ_i
// are K(K + ρ·tr(K)/n·I)^-1, scaled to a diagonal of 1: directions in which all samples vary count less.
//
// Each iteration minimises over R and then over U. The step in R minimises a bound of the objective, so that the
// objective never rises: the eigenvalues of P are at least −1, and the entropy is strongly convex. The result depends
// on no random number: a concept without labels starts at the sample that best covers the samples far from all others.
//
// Result.Coefficients is R. Result.Basis and Model are nil.
type ECCF struct {
	// Kappa, Lambda and Whitening are κ, λ and ρ; 0 means 10, 3 and 1. WeightNone means 0 and is invalid for Whitening.
	Kappa     float64 `setting:"kappa" default:"10" help:"weight κ of the cosines with the concepts"`
	Lambda    float64 `setting:"lambda" default:"3" help:"weight λ of the graph"`
	Whitening float64 `setting:"whitening" default:"1" range:"[1e-100,]" help:"ridge ρ of the whitening; a large one does not whiten"`
	// Neighbours is the number of nearest neighbours; 0 means 10, or 5 for at most 15 samples per concept.
	Neighbours int `setting:"neighbours" default:"10, or 5 up to 15 samples per concept" help:"number of nearest neighbours of each sample"`
}

func (ECCF) Needs() Needs {
	return Needs{Labels: true, Signed: true, Unseeded: true, NoModel: true, Memberships: true}
}

func (ECCF) Memory(s Size) int64 {
	n := float64(s.Samples)
	return view.Bytes(float64(Parts{}.Memory(s)) + 24*n*n)
}

// Fit implements [Method].
func (m ECCF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (_ *Result, err error) {
	defer guard.Catch(&err)
	kappa, lambda, ridge := orDefault(m.Kappa, 10), orDefault(m.Lambda, 3), orDefault(m.Whitening, 1)
	guard.Check(cmp.Or(view.CheckWeight("kappa", kappa), view.CheckWeight("lambda", lambda), view.CheckWeight("the whitening", ridge)))
	d := newOwnRuleData(x, known, opt)
	guard.FailIf(ridge < view.SmallestNumber, "the whitening is %v; expected at least %g", ridge, view.SmallestNumber)
	guard.FailIf(m.Neighbours < 0, "neighbours %d: expected 1 or more", m.Neighbours)
	guard.FailIf(opt.Start != nil || opt.Init != "" && opt.Init != InitRandom,
		"the method starts at the labelled samples and supports no initial factors and no init")
	n, _ := d.Dims()
	labels := conceptsOf(known.Labels, n, opt.Rank)
	cosines := guard.Must(whitenedCosines(ctx, d, ridge))
	p := m.Neighbours
	if p == 0 {
		if p = 10; n <= 15*opt.Rank {
			p = 5
		}
	}
	like := func() *mat.Dense { return algebra.Padded(n, opt.Rank) }
	f := &memberships{kappa: kappa, lambda: lambda, cosines: cosines, labels: labels, r: like(), logs: like(), scores: like(), along: like()}
	f.join(p)
	f.start()
	history, stop := descend(ctx, opt, f.value(), func(bool) float64 {
		f.update()
		return f.value()
	})
	return &Result{Coefficients: mat.DenseCopyOf(f.r), Objective: history, Stop: stop}, nil
}

// conceptsOf returns the concept of each of the n samples, or −1. Class c is concept c if all labels are below k, else the
// number of smaller labels. It calls guard.Fail.
func conceptsOf(labels []int, n, k int) []int {
	concepts := slices.Repeat([]int{-1}, n)
	copy(concepts, labels)
	if slices.Max(concepts) < k {
		return concepts
	}
	classes := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(labels))), func(c int) bool { return c < 0 })
	guard.FailIf(len(classes) > k, "%d classes have labels; expected at most the rank, %d", len(classes), k)
	for i, c := range labels {
		if c >= 0 {
			concepts[i], _ = slices.BinarySearch(classes, c)
		}
	}
	return concepts
}

// whitenedCosines returns the cosines of the whitened samples, n×n. The row of a sample at the mean is 0.
func whitenedCosines(ctx context.Context, d view.Data, ridge float64) (_ *mat.Dense, err error) {
	defer guard.Catch(&err)
	n, _ := d.Dims()
	guard.Check(view.CheckMemory(ctx, fmt.Sprintf("the Gram matrix of %d samples", n), 3, n, n))
	gram := guard.Must(view.InnerProducts(ctx, d))
	k := mat.DenseCopyOf(gram)
	unitDiagonal(k, 0)
	means := make([]float64, n)
	algebra.EachRow(k, divisionWork, func(i int, row []float64) { means[i] = algebra.Total(row) / float64(n) })
	mean := algebra.Total(means) / float64(n)
	algebra.EachRow(k, divisionWork, func(i int, row []float64) {
		for j := range row {
			row[j] += mean - (means[i] + means[j])
		}
	})
	const rounding = 1e-13 // of a squared length of 1
	unitDiagonal(k, rounding)

	// K(K + rI)^-1 = I − r(K + rI)^-1, with K + rI = uᵀu
	r := cmp.Or(ridge*mat.Trace(k)/float64(n), 1)
	for i := range n {
		k.Set(i, i, k.At(i, i)+r)
	}
	return guard.Interruptible(ctx, func() (*mat.Dense, error) {
		u, ok := blas.Cholesky(k.RawMatrix())
		guard.FailIf(!ok, "the whitened inner products are not positive definite to working precision; use a larger whitening")
		inverse := mat.NewDense(n, n, nil) // of uᵀ
		for i := range n {
			inverse.Set(i, i, 1)
		}
		blas.Trsm(blas.Trans, u, inverse.RawMatrix())
		blas.Gemm(blas.Trans, blas.NoTrans, -r, inverse.RawMatrix(), inverse.RawMatrix(), 0, k.RawMatrix())
		for i := range n {
			k.Set(i, i, k.At(i, i)+1)
		}
		unitDiagonal(k, rounding)
		return k, nil
	})
}

// unitDiagonal scales the rows and columns of a symmetric k to a diagonal of 1. Rows with a diagonal of at most least
// become 0.
func unitDiagonal(k *mat.Dense, least float64) {
	n, _ := k.Dims()
	scale := make([]float64, n)
	for i := range n {
		if square := k.At(i, i); square > least {
			scale[i] = 1 / math.Sqrt(square)
		}
	}
	algebra.EachRow(k, divisionWork, func(i int, row []float64) {
		for j, by := range scale {
			row[j] *= scale[i] * by
		}
		if row[i] > 0 {
			row[i] = 1
		}
	})
}

// memberships is the state of ECCF.
type memberships struct {
	kappa, lambda float64
	cosines       *mat.Dense // of the whitened samples, n×n
	labels        []int
	graph         *CSR       // P
	r, logs       *mat.Dense // R and its logarithm, up to a constant in each row, n×k
	scores, along *mat.Dense // cos(φ_i, u_c) and PR, n×k
}

// join sets graph to P of the graph that joins each sample with the p samples of largest cosine above 0.
func (f *memberships) join(p int) {
	n := len(f.labels)
	nearest := make([][]topk.Scored, n)
	algebra.EachRow(f.cosines, 2, func(i int, row []float64) {
		for j, cosine := range row {
			if j != i && cosine > 0 {
				nearest[i] = topk.Insert(nearest[i], p, topk.Scored{Row: j, Score: -cosine}, topk.Scored.Compare)
			}
		}
	})
	var pairs [][2]int
	for i, list := range nearest {
		for _, q := range list {
			pairs = append(pairs, [2]int{i, q.Row})
		}
	}
	f.graph = binaryGraph(n, pairs)
	for i := range n {
		near, weights := f.graph.Row(i)
		for at, j := range near {
			others, _ := f.graph.Row(j)
			weights[at] = 1 / math.Sqrt(float64(len(near)*len(others)))
		}
	}
}

// start sets R and the concepts. A concept without labels starts at the sample i with the largest Σ_j of the excess of
// cos(φ_i, φ_j) over the largest cosine of φ_j with another concept, averaged over the neighbours of its samples.
func (f *memberships) start() {
	n, k := f.r.Dims()
	f.lock(0)
	for c := range k {
		if slices.Contains(f.labels, c) {
			continue
		}
		f.average()
		f.r.Add(f.r, f.along)
		f.moveConcepts()
		covered, gains := make([]float64, n), make([]float64, n)
		for i := range n {
			covered[i] = max(0, floats.Max(f.scores.RawRowView(i)))
		}
		algebra.EachRow(f.cosines, divisionWork, func(i int, row []float64) {
			for j, cosine := range row {
				gains[i] += max(0, cosine-covered[j])
			}
		})
		f.r.Set(floats.MaxIdx(gains), c, 1)
	}
	f.moveConcepts()
	f.lock(1 / float64(k))
	f.average()
}

// lock sets the rows of labelled samples, and all values of the others to free.
func (f *memberships) lock(free float64) {
	algebra.EachRow(f.r, divisionWork, func(i int, row []float64) {
		for c := range row {
			row[c] = free
		}
		if c := f.labels[i]; c >= 0 {
			clear(row)
			row[c] = 1
		}
	})
}

// moveConcepts minimises over the concepts: u_c is the direction of Σ_i r_ic·φ_i.
func (f *memberships) moveConcepts() {
	algebra.Gemm(f.scores, f.cosines, algebra.NoTrans, f.r, algebra.NoTrans)
	n, k := f.r.Dims()
	lengths := make([]float64, k)
	for i := range n {
		for c, r := range f.r.RawRowView(i) {
			lengths[c] += r * f.scores.At(i, c)
		}
	}
	for c, square := range lengths {
		if lengths[c] = 0; square > 0 {
			lengths[c] = 1 / math.Sqrt(square)
		}
	}
	algebra.EachRow(f.scores, divisionWork, func(_ int, row []float64) { floats.Mul(row, lengths) })
}

// average sets along to PR.
func (f *memberships) average() {
	to := f.along.RawMatrix()
	algebra.EachRow(f.along, divisionWork, func(i int, _ []float64) {
		row := to.Data[i*to.Stride:][:to.Stride] // with its padding
		clear(row)
		near, weights := f.graph.Row(i)
		simd.AddRows(row, weights, f.r.RawMatrix().Data, near)
	})
}

// update lowers the objective by R, then by U. With the concave part of the graph's term bounded by τ·KL(R‖R'), R' the
// last memberships and τ = λ/2, the minimum is r_ic ∝ exp((κ·cos(φ_i, u_c) + λ·(PR')_ic + τ·log r'_ic)/(1 + τ)).
func (f *memberships) update() {
	damping := f.lambda / 2
	algebra.EachRow(f.logs, divisionWork, func(i int, logs []float64) {
		if f.labels[i] >= 0 {
			return
		}
		scores, along, r := f.scores.RawRowView(i), f.along.RawRowView(i), f.r.RawRowView(i)
		for c := range logs {
			logs[c] = (f.kappa*scores[c] + f.lambda*along[c] + damping*logs[c]) / (1 + damping)
		}
		floats.AddConst(-elementary.LogSumExp(logs), logs)
		for c, log := range logs {
			r[c] = elementary.Exp(log)
		}
	})
	f.moveConcepts()
	f.average()
}

// value returns the objective.
func (f *memberships) value() float64 {
	n, k := f.r.Dims()
	terms := make([]float64, n)
	algebra.EachRow(f.r, divisionWork, func(i int, row []float64) {
		scores, along := f.scores.RawRowView(i), f.along.RawRowView(i)
		terms[i] = f.kappa + f.lambda/2
		for c, r := range row {
			if r > 0 {
				terms[i] += r * (elementary.Log(float64(k)*r) - f.kappa*scores[c] - f.lambda/2*along[c])
			}
		}
	})
	return algebra.Total(terms)
}
