package factor

import (
	"errors"
	"fmt"

	"github.com/seed4492f2cd/partwise/internal/enum"
)

// Precision says in what numbers products with the data are computed.
type Precision string

const (
	// PrecisionDouble is the default.
	PrecisionDouble Precision = "double"
	// PrecisionSingle multiplies dense data in single precision, which reads half as
	// much, divides and takes logarithms in it under the divergence, and sweeps in it by Fast
	// under the Frobenius cost. The data has a rounded copy of half its size, and for a rank of
	// 16 or less under the Frobenius cost another that is laid out for products. A product is
	// off by some 1e-7 of the largest of its terms; all else, and the objective where it is
	// small, is computed in double precision. Sparse data is not affected, nor are the steps
	// of Fast under the divergence, which are in single precision in any case.
	PrecisionSingle Precision = "single"
)

// UnmarshalText reads the name that settings use.
func (p *Precision) UnmarshalText(name []byte) error {
	_, err := enum.Index("precision", string(name), p.Values())
	*p = Precision(enum.Fold(string(name), p.Values()))
	return err
}

// Values returns the names of all precisions.
func (Precision) Values() []string { return []string{string(PrecisionDouble), string(PrecisionSingle)} }

// Serves returns nil, or an error that says why the method cannot be computed in the
// precision.
func (p Precision) Serves(m Method) error {
	if _, err := enum.Index("precision", string(p), append(p.Values(), "")); err != nil {
		return err
	}
	if p != PrecisionSingle {
		return nil
	}
	c, ok := m.(Composition)
	if !ok {
		return errOwnPrecision
	}
	if basis := c.AsParts().Basis; basis != BasisFree {
		return fmt.Errorf("single precision is for a %v basis, not a %v one", BasisFree, basis)
	}
	return nil
}

var errOwnPrecision = errors.New("single precision is for methods that are made of parts, and this one has a rule of its own")
