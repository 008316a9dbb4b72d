package factor

import (
	"errors"
	"fmt"
	"io"

	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"
)

// The arrays of a saved result. NumPy reads the file with numpy.load.
const (
	savedCost         = "cost"         // 0 Frobenius, 1 KL
	savedBasis        = "basis"        // U, m×k
	savedCoefficients = "coefficients" // V, n×k
	savedWeights      = "weights"      // W, n×k, where the basis is U = X·W
	savedObjective    = "objective"    // before each iteration and after the last
)

// Save writes the result as a NumPy .npz file with the arrays basis (m×k),
// coefficients (n×k), objective (one number for each iteration and one for the
// start), cost (one integer, 0 for Frobenius and 1 for KL) and, for a concept
// basis, weights (n×k).
func (r *Result) Save(w io.Writer) error {
	z := npz.NewWriter(w)
	write := func(name string, v any) error {
		if err := z.Write(name, v); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		return nil
	}
	err := errors.Join(
		write(savedBasis, r.Basis),
		write(savedCoefficients, r.Coefficients),
		write(savedCost, []int64{int64(r.Cost)}),
		write(savedObjective, r.Objective),
	)
	if r.Weights != nil {
		err = errors.Join(err, write(savedWeights, r.Weights))
	}
	return errors.Join(err, z.Close())
}

// LoadModel reads the basis and the cost that Save wrote, size bytes long, and
// checks them.
func LoadModel(r io.ReaderAt, size int64) (*Model, error) {
	z, err := npz.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("not a saved model: %w", err)
	}
	defer z.Close()
	h := z.Header(savedBasis)
	if h == nil || z.Header(savedCost) == nil {
		return nil, fmt.Errorf("not a saved model: it holds no arrays %q and %q", savedBasis, savedCost)
	}
	shape := h.Descr.Shape
	if len(shape) != 2 || shape[0] < 1 || shape[1] < 1 || h.Descr.Type != "<f8" || h.Descr.Fortran {
		return nil, fmt.Errorf("the array %q is of shape %v and type %s; want rows×columns of <f8", savedBasis, shape, h.Descr.Type)
	}
	if int64(shape[0]) > maxSaved/int64(shape[1]) {
		return nil, fmt.Errorf("the array %q is of shape %v, too large to be a basis", savedBasis, shape)
	}
	m := &Model{Basis: &mat.Dense{}}
	if err := z.Read(savedBasis, m.Basis); err != nil {
		return nil, fmt.Errorf("reading %s: %w", savedBasis, err)
	}
	var cost []int64
	if err := z.Read(savedCost, &cost); err != nil {
		return nil, fmt.Errorf("reading %s: %w", savedCost, err)
	}
	if len(cost) != 1 || (Cost(cost[0]) != Frobenius && Cost(cost[0]) != KL) {
		return nil, fmt.Errorf("the array %q holds %v; want 0 or 1", savedCost, cost)
	}
	m.Cost = Cost(cost[0])
	if !finite(m.Basis) {
		return nil, fmt.Errorf("the array %q holds values that are no numbers", savedBasis)
	}
	return m, nil
}

// maxSaved is the most values that a basis read from a file may have.
const maxSaved = 1 << 28
