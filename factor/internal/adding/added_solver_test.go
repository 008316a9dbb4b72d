package adding

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
)

// HALS is hierarchical alternating least squares (Cichocki, Zdunek and Amari 2007): it minimises over each
// row of a factor in turn.
type HALS struct{}

// Serves implements [factor.Solver].
func (HALS) Serves(p factor.Parts) error {
	switch {
	case p.Cost != factor.CostFrobenius:
		return fmt.Errorf("hals does not support the %v cost", p.Cost)
	case p.Basis != factor.BasisFree:
		return fmt.Errorf("hals does not support a %v basis", p.Basis)
	case p.UnitNorm:
		return errors.New("hals does not support a basis of unit norm")
	case len(p.Penalties) > 0:
		return errors.New("hals does not support penalties")
	}
	return nil
}

// Start implements [factor.Solver].
func (HALS) Start(f *factor.Factorisation) (func(context.Context) error, error) {
	return func(context.Context) error {
		for i, theta := range f.Factors() {
			minimiseRows(theta, f.Block(i))
			f.Moved(i)
		}
		return nil
	}, nil
}

// minimiseRows sets each row θ_r to max(0, θ_r − (Qθ − L)_r / Q_rr), where Q and L are the block's.
func minimiseRows(theta *mat.Dense, b factor.Block) {
	k, _ := theta.Dims()
	for r := range k {
		curvature := b.Quadratic.At(r, r)
		if curvature <= 0 {
			continue
		}
		row := theta.RawRowView(r)
		for j, x := range row {
			gradient := -b.Linear.At(r, j)
			for s := range k {
				gradient += b.Quadratic.At(r, s) * theta.At(s, j)
			}
			row[j] = max(0, x-gradient/curvature)
		}
	}
}
