package factor

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// ForBasis returns m with the columns of fixed, m×r, as its first r basis vectors, or an error if m does not support them;
// see [Parts.Fixed].
func ForBasis(m Method, fixed *mat.Dense) (Method, error) {
	c, ok := m.(Composition)
	if !ok {
		return nil, errors.New("the method has its own update rule and supports no fixed basis vectors")
	}
	p := c.AsParts()
	p.Fixed = fixed
	return p, p.validate()
}

// fixed returns the number of fixed basis vectors.
func (p Parts) fixed() int {
	if p.Fixed == nil {
		return 0
	}
	_, r := p.Fixed.Dims()
	return r
}

// checkFixed returns an error if p does not support its fixed basis vectors.
func (p Parts) checkFixed() error {
	if p.Fixed == nil {
		return nil
	}
	if !p.Basis.free() {
		return fmt.Errorf("fixed basis vectors need basis free or semi, got %v", p.Basis)
	}
	least := 0.0
	if p.Basis == BasisSemi {
		least = -view.LargestValue
	}
	m, r := p.Fixed.Dims()
	return checkFactor(algebra.Transpose(p.Fixed), "the fixed basis vectors, as rows", r, m, least)
}

// checkFixedSize returns an error if fixed basis vectors do not fit m features and the rank.
func (p Parts) checkFixedSize(m, rank int) error {
	if p.Fixed == nil {
		return nil
	}
	if rows, r := p.Fixed.Dims(); rows != m {
		return fmt.Errorf("the fixed basis vectors have %d features; the samples have %d", rows, m)
	} else if r > rank {
		return fmt.Errorf("rank %d is below the number of fixed basis vectors, %d", rank, r)
	}
	return nil
}

// restOf returns the problem of a quadratic block in the rows of theta after the first fixed ones.
func restOf(theta, linear, quadratic *mat.Dense, fixed int) (rest, restLinear, restQuadratic *mat.Dense) {
	k, p := theta.Dims()
	part := func(a *mat.Dense, from, to, left, right int) *mat.Dense {
		return a.Slice(from, to, left, right).(*mat.Dense)
	}
	restLinear = algebra.Times(part(quadratic, fixed, k, 0, fixed), part(theta, 0, fixed, 0, p))
	restLinear.Sub(part(linear, fixed, k, 0, p), restLinear)
	return part(theta, fixed, k, 0, p), restLinear, mat.DenseCopyOf(part(quadratic, fixed, k, fixed, k))
}
