package factor

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
)

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
