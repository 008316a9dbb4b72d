package factor

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// L1 is the sparsity penalty λ·Σ V on the coefficients, which are ≥ 0 (Hoyer 2002): each sample uses few basis vectors.
// Use it with [Parts].UnitNorm or a penalty on the basis, so that the basis cannot grow while the coefficients shrink.
type L1 struct {
	// Weight is λ; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"l1-weight" default:"0.1" help:"weight λ of the sum of the coefficients"`
}

// L2 is the ridge penalty λ·Σ V² on the coefficients; with [L1] it is the elastic net.
type L2 struct {
	// Weight is λ; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"l2-weight" default:"0.1" help:"weight λ of the squared coefficients"`
}

// L1Basis is [L1] on the basis vectors.
type L1Basis struct {
	// Weight is λ, in the scale of the coefficients; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"l1-basis-weight" default:"0.1" help:"weight λ of the sum of the basis vectors"`
}

// L2Basis is [L2] on the basis vectors.
type L2Basis struct {
	// Weight is λ, in the scale of the coefficients; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"l2-basis-weight" default:"0.1" help:"weight λ of the squared basis vectors"`
}

func (L1) OnBasis() bool      { return false }
func (L2) OnBasis() bool      { return false }
func (L1Basis) OnBasis() bool { return true }
func (L2Basis) OnBasis() bool { return true }

func linear(weight float64) BoundPenalty    { return elastic{linear: weight} }
func quadratic(weight float64) BoundPenalty { return elastic{quadratic: weight} }

// Bind implements [Penalty].
func (l L1) Bind(context.Context, Problem) (BoundPenalty, error) {
	return bindWeight(l, l.Weight, linear)
}

// Bind implements [Penalty].
func (l L2) Bind(context.Context, Problem) (BoundPenalty, error) {
	return bindWeight(l, l.Weight, quadratic)
}

// Bind implements [Penalty].
func (l L1Basis) Bind(context.Context, Problem) (BoundPenalty, error) {
	return bindWeight(l, l.Weight, linear)
}

// Bind implements [Penalty].
func (l L2Basis) Bind(context.Context, Problem) (BoundPenalty, error) {
	return bindWeight(l, l.Weight, quadratic)
}

// elastic is linear·Σ θ + quadratic·Σ θ².
type elastic struct{ linear, quadratic float64 }

func (e elastic) Value(theta *mat.Dense) float64 {
	sum := e.linear * mat.Sum(theta)
	if e.quadratic > 0 {
		sum += e.quadratic * algebra.Inner(theta, theta)
	}
	return sum
}

func (e elastic) Gradient(positive, _, theta *mat.Dense, scale float64) {
	positive.Apply(func(r, i int, x float64) float64 { return x + scale*(e.linear/2+e.quadratic*theta.At(r, i)) }, positive)
}

func (e elastic) form(theta *mat.Dense) *mat.Dense {
	k, _ := theta.Dims()
	f := mat.NewDense(k, k, nil)
	for r := range k {
		f.Set(r, r, e.quadratic)
	}
	return f
}

func (e elastic) Root(c Cost) bool { return e.quadratic > 0 && !c.Quadratic() }

func (e elastic) Row(row []float64) PenaltyRow {
	return PenaltyRow{
		Gradient:  func(i int) float64 { return e.linear/2 + e.quadratic*row[i] },
		Curvature: func(int) float64 { return e.quadratic },
	}
}

// isElastic reports whether the penalty is one of this file.
func isElastic(p Penalty) bool {
	switch p.(type) {
	case L1, L2, L1Basis, L2Basis:
		return true
	}
	return false
}

// withElastic returns the block of factor i with its elastic penalties, for tied samples of equal weight.
func (f *Factorisation) withElastic(i int, linear, quadratic *mat.Dense) (*mat.Dense, *mat.Dense) {
	penalties, theta, scale := f.onBasis, f.factors[i], f.penaltyScale()
	if i > 0 {
		penalties, theta = f.onCoefficients, f.ties.Expanded(f.v)
	}
	if penalties == nil {
		return linear, quadratic
	}
	atZero := penalties.terms(algebra.Like(theta), f.parts.Cost, scale).Positive
	less, more := algebra.Like(linear), mat.DenseCopyOf(quadratic)
	if i > 0 && !f.ties.None {
		f.ties.PullBack(less, atZero)
		atZero = less
	}
	less.Sub(linear, atZero)
	for _, p := range penalties {
		for r := range more.RawMatrix().Rows {
			more.Set(r, r, more.At(r, r)+scale*p.(elastic).quadratic)
		}
	}
	return less, more
}

// Orthogonal is the penalty λ·Σ_{r≠s} v_rᵀv_s on the overlap of the coefficients of different basis vectors, which is 0
// if VᵀV is diagonal: each sample then uses one basis vector, as a cluster.
type Orthogonal struct {
	// Weight is λ; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"orthogonal-weight" default:"0.1" help:"weight λ of the overlap of coefficients"`
}

// OrthogonalBasis is the penalty λ·Σ_{r≠s} u_rᵀu_s on features that several basis vectors share (Li et al. 2001).
type OrthogonalBasis struct {
	// Weight is λ, in the scale of the coefficients; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"orthogonal-basis-weight" default:"0.1" help:"weight λ of the overlap of basis vectors"`
}

func (Orthogonal) OnBasis() bool      { return false }
func (OrthogonalBasis) OnBasis() bool { return true }

// Bind implements [Penalty].
func (o Orthogonal) Bind(context.Context, Problem) (BoundPenalty, error) {
	return bindWeight(o, o.Weight, func(weight float64) BoundPenalty { return overlap(weight) })
}

// Bind implements [Penalty].
func (o OrthogonalBasis) Bind(context.Context, Problem) (BoundPenalty, error) {
	return bindWeight(o, o.Weight, func(weight float64) BoundPenalty { return overlap(weight) })
}

// overlap is the weight of Σ_{r≠s} θ_rᵀθ_s.
type overlap float64

func (o overlap) Value(theta *mat.Dense) float64 {
	half := algebra.Like(theta)
	o.Gradient(half, nil, theta, 1)
	return algebra.Inner(half, theta)
}

// Gradient adds the rows before each row, then those after it: Σ θ − θ_r loses digits if θ_r is far larger than the others.
func (o overlap) Gradient(positive, _, theta *mat.Dense, scale float64) {
	k, p := theta.Dims()
	before, after := make([]float64, p), make([]float64, p)
	for r := range k {
		floats.AddScaled(positive.RawRowView(r), scale*float64(o), before)
		floats.Add(before, theta.RawRowView(r))
		floats.AddScaled(positive.RawRowView(k-1-r), scale*float64(o), after)
		floats.Add(after, theta.RawRowView(k-1-r))
	}
}

func (overlap) Root(c Cost) bool { return !c.Quadratic() }

// Volume is the penalty λ·log det(UᵀU + δI), which draws the basis vectors together around the samples (minimum-volume
// NMF: Fu, Huang, Sidiropoulos and Ma 2019). A step uses the quadratic majoriser of the logarithm (Leplat, Ang and Gillis
// 2019). Shrinking U lowers it, so combine it with a penalty on the coefficients or with [Parts].UnitNorm.
type Volume struct {
	// Weight is λ; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"volume-weight" default:"0.1" help:"weight λ of the volume of basis vectors"`
	// Delta is δ, in the scale of the squared basis vectors; 0 means 1.
	Delta float64 `setting:"volume-delta" default:"1" help:"δ in log det(UᵀU + δI)"`
}

func (Volume) OnBasis() bool { return true }

// Bind implements [Penalty].
func (v Volume) Bind(context.Context, Problem) (BoundPenalty, error) {
	if err := view.CheckWeight("δ of the volume", v.Delta); err != nil {
		return nil, err
	}
	return bindWeight(v, v.Weight, func(weight float64) BoundPenalty { return boundVolume{weight, cmp.Or(v.Delta, 1)} })
}

type boundVolume struct{ weight, delta float64 }

// factor returns the Cholesky factor of θθᵀ + δI, k×k, whose diagonal it increases if rounding made it singular. ok is
// false on overflow.
func (b boundVolume) factor(theta *mat.Dense) (u blas64.Triangular, ok bool) {
	for _, lift := range []float64{0, 1e-13} {
		gram := algebra.SelfGram(theta)
		for r := range gram.RawMatrix().Rows {
			gram.Set(r, r, gram.At(r, r)*(1+lift)+b.delta)
		}
		if u, ok = blas.Cholesky(gram.RawMatrix()); ok {
			break
		}
	}
	return u, ok
}

func (b boundVolume) Value(theta *mat.Dense) (sum float64) {
	u, ok := b.factor(theta)
	switch {
	case b.weight == 0:
		return 0
	case !ok:
		return math.Inf(1) // an error
	}
	for r := range u.N {
		sum += 2 * elementary.Log(u.Data[r*u.Stride+r])
	}
	return b.weight * sum
}

// form is λ·(θθᵀ + δI)⁻¹.
func (b boundVolume) form(theta *mat.Dense) *mat.Dense {
	f := elastic{quadratic: b.weight}.form(theta)
	if u, ok := b.factor(theta); ok {
		solveByCholesky(u, f)
	}
	return f
}

// Gradient splits λ·F·θ by the signs of F = (θθᵀ + δI)⁻¹.
func (b boundVolume) Gradient(positive, negative, theta *mat.Dense, scale float64) {
	form := b.form(theta)
	form.Scale(scale, form)
	plus, minus := algebra.Parts(form)
	positive.Add(positive, algebra.Times(plus, theta))
	negative.Add(negative, algebra.Times(minus, theta))
}

// Root is true because F has negative values.
func (boundVolume) Root(Cost) bool { return true }
