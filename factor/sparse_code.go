package factor

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// SparseCode is a [Model] that represents a sample x by the s that is
// argmin ‖x − B·s‖² + λ·Σ|s_j|.
type SparseCode struct {
	// Dictionary holds the k atoms as columns: B, m×k.
	Dictionary *mat.Dense
	// Lambda is λ itself: 0 means 0.
	Lambda float64
}

// Vectors implements [Model]: the dictionary.
func (s *SparseCode) Vectors() *mat.Dense { return s.Dictionary }

// Transform implements [Model]. Where several s are minima, which can be when
// atoms depend on each other, it is one of them.
func (s *SparseCode) Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	d, err := newData(x)
	if err != nil {
		return nil, err
	}
	p, features := d.dims()
	rows, k := s.Dictionary.Dims()
	if features != rows {
		return nil, fmt.Errorf("the samples have %d features, the atoms %d", features, rows)
	}
	if err := checkWeight("lambda", s.Lambda); err != nil {
		return nil, err
	}
	codes := mat.NewDense(p, k, nil)
	if err := encode(ctx, d, transpose(s.Dictionary), s.Lambda, codes); err != nil {
		return nil, err
	}
	if !finite(codes) {
		return nil, errors.New("the codes have outgrown what numbers can hold")
	}
	return codes, nil
}

// encode moves the codes of the samples, n×k, to their minima for the
// dictionary, transposed: k×m.
func encode(ctx context.Context, x data, dictionary *mat.Dense, lambda float64, codes *mat.Dense) error {
	n, k := codes.Dims()
	products := mat.NewDense(k, n, nil)
	x.timesBasis(products, dictionary)
	products = transpose(products) // XᵀB
	l := newLasso(dictionary, lambda)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.solve(codes.RawRowView(i), products.RawRowView(i))
	}
	return nil
}
