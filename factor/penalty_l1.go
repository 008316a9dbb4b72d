package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// L1 is the penalty λ·Σ V of the sum of the coefficients, all ≥ 0 (Hoyer 2002): few
// basis vectors for each sample. Coefficients that shrink while the basis grows lower
// it without end; [Parts].UnitNorm keeps the basis from that.
type L1 struct {
	// Weight is λ; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"l1-weight" default:"0.1" help:"weight λ of the coefficients' sum"`
}

// OnBasis implements [Penalty].
func (L1) OnBasis() bool { return false }

// Bind implements [Penalty].
func (l L1) Bind(context.Context, Problem) (BoundPenalty, error) {
	b := boundL1(orDefault(l.Weight, 0.1))
	return b, view.CheckWeight("the weight of the coefficients' sum", float64(b))
}

// boundL1 is λ.
type boundL1 float64

func (l boundL1) Value(v *mat.Dense) float64 { return float64(l) * mat.Sum(v) }

// Gradient is λ everywhere.
func (l boundL1) Gradient(positive, _, v *mat.Dense, scale float64) {
	half := scale * float64(l) / 2
	k, _ := v.Dims()
	for r := range k {
		row := positive.RawRowView(r)
		for i := range row {
			row[i] += half
		}
	}
}

func (boundL1) Root(Cost) bool { return false }

func (boundL1) Diagonal([]float64, float64) {}

// Row implements [CoordinatePenalty].
func (l boundL1) Row([]float64) PenaltyRow {
	return PenaltyRow{Gradient: func(int) float64 { return float64(l) / 2 }}
}
