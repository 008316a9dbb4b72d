package adding

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
)

// HALS is hierarchical alternating least squares (Cichocki, Zdunek and Amari 2007): each
// row of a factor in turn moves to its minimum. Iterations start beyond the last factors,
// in the direction of the last iteration; one that raises the objective is done again
// without that.
type HALS struct{}

// Serves implements [factor.Solver].
func (HALS) Serves(p factor.Parts) error {
	switch {
	case p.Cost != factor.CostFrobenius:
		return fmt.Errorf("hals does not serve the %v cost", p.Cost)
	case p.Basis != factor.BasisFree:
		return fmt.Errorf("hals does not serve a %v basis", p.Basis)
	case p.UnitNorm:
		return errors.New("hals does not serve a basis of unit norm")
	}
	return nil
}

// Start implements [factor.Solver].
func (HALS) Start(f *factor.Factorisation) (func(context.Context) error, error) {
	var last []*mat.Dense // the factors before the last iteration
	for i, theta := range f.Factors() {
		if t := f.Terms(i); t != nil && t.Diagonal == nil {
			return nil, errors.New("hals does not serve penalties that are not quadratic")
		}
		last = append(last, mat.DenseCopyOf(theta))
	}
	sweep := func() {
		for i, theta := range f.Factors() {
			minimiseRows(theta, f.Block(i), f.Terms(i))
			f.Moved(i)
		}
	}
	beyond := 0.5
	return func(context.Context) error {
		before := f.Objective()
		f.Keep()
		for i, theta := range f.Factors() {
			theta.Apply(func(r, j int, x float64) float64 {
				y := max(0, x+beyond*(x-last[i].At(r, j)))
				last[i].Set(r, j, x)
				return y
			}, theta)
			f.Moved(i)
		}
		sweep()
		if f.Objective() <= before {
			beyond = min(1, 1.05*beyond)
			return nil
		}
		beyond /= 2
		f.Restore()
		sweep()
		return nil
	}, nil
}

// minimiseRows is θ_r ← max(0, θ_r − (Qθ − L + P − N)_r / (Q_rr + d)) for each row r, with
// the block's Q and L and the penalties' parts P and N of the gradient and diagonal d. The
// penalties' parts in a row do not change with other rows.
func minimiseRows(theta *mat.Dense, b factor.Block, t *factor.Terms) {
	k, _ := theta.Dims()
	for r := range k {
		row := theta.RawRowView(r)
		for j, x := range row {
			gradient, curvature := -b.Linear.At(r, j), b.Quadratic.At(r, r)
			for s := range k {
				gradient += b.Quadratic.At(r, s) * theta.At(s, j)
			}
			if t != nil {
				gradient += t.Positive.At(r, j) - t.Negative.At(r, j)
				curvature += t.Diagonal[j]
			}
			if curvature > 0 {
				row[j] = max(0, x-gradient/curvature)
			}
		}
	}
}
