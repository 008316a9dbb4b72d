package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
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

// Bind implements [Penalty].
func (l L1) Bind(context.Context, Problem) (BoundPenalty, error) {
	return bindWeight(l, l.Weight, func(weight float64) BoundPenalty { return elastic{linear: weight} })
}

// Bind implements [Penalty].
func (l L2) Bind(context.Context, Problem) (BoundPenalty, error) {
	return bindWeight(l, l.Weight, func(weight float64) BoundPenalty { return elastic{quadratic: weight} })
}

// Bind implements [Penalty].
func (l L1Basis) Bind(context.Context, Problem) (BoundPenalty, error) {
	return bindWeight(l, l.Weight, func(weight float64) BoundPenalty { return elastic{linear: weight} })
}

// Bind implements [Penalty].
func (l L2Basis) Bind(context.Context, Problem) (BoundPenalty, error) {
	return bindWeight(l, l.Weight, func(weight float64) BoundPenalty { return elastic{quadratic: weight} })
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
