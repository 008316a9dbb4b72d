package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

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
	b := overlap(orDefault(o.Weight, 0.1))
	return b, view.CheckWeight("the weight of overlap of coefficients", float64(b))
}

// Bind implements [Penalty].
func (o OrthogonalBasis) Bind(context.Context, Problem) (BoundPenalty, error) {
	b := overlap(orDefault(o.Weight, 0.1))
	return b, view.CheckWeight("the weight of overlap of basis vectors", float64(b))
}

// overlap is the weight of Σ_{r≠s} θ_rᵀθ_s.
type overlap float64

// Value sums products, because (Σ_r θ_r)² − Σ_r θ_r² loses digits if one θ_r is far larger than the others.
func (o overlap) Value(theta *mat.Dense) (sum float64) {
	o.eachSum(theta, false, func(r int, before []float64) {
		for i, x := range theta.RawRowView(r) {
			sum += x * before[i]
		}
	})
	return 2 * float64(o) * sum
}

func (o overlap) Gradient(positive, _, theta *mat.Dense, scale float64) {
	for _, reverse := range []bool{false, true} {
		o.eachSum(theta, reverse, func(r int, before []float64) {
			row := positive.RawRowView(r)
			for i, x := range before {
				row[i] += scale * float64(o) * x
			}
		})
	}
}

func (overlap) Root(c Cost) bool { return !c.Quadratic() }

// eachSum calls f with each row and the sum of the rows before it, or after it if reverse is set.
func (overlap) eachSum(theta *mat.Dense, reverse bool, f func(r int, sum []float64)) {
	k, p := theta.Dims()
	sum := make([]float64, p)
	for r := range k {
		if reverse {
			r = k - 1 - r
		}
		f(r, sum)
		for i, x := range theta.RawRowView(r) {
			sum[i] += x
		}
	}
}
