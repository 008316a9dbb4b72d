package features

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Matrix holds the features of n samples.
type Matrix struct {
	// X is n×m, a sample a row: a *mat.Dense, or a *sparse.CSR where the set's vectors are sparse.
	X mat.Matrix
	Made
}

// Norm says how each sample is normalised.
type Norm int

// The norms. The zero value is the papers' choice.
const (
	NormL2   Norm = iota // the squares of the values add up to 1
	NormL1               // the absolute values add up to 1
	NormMax              // the largest absolute value is 1
	NormNone             // the values as they are
)

var norms = enum.Of[Norm]("norm", "l2", "l1", "max", "none")

// The names are those of settings, in any case.
func (n Norm) String() string                   { return norms.String(n) }
func (n *Norm) UnmarshalText(text []byte) error { return norms.UnmarshalText(n, text) }
func (n Norm) MarshalText() ([]byte, error)     { return norms.MarshalText(n) }
func (Norm) Values() []string                   { return norms.Values() }

// apply raises values to a power, 0 for 1, and normalises them. columns holds their columns, nil for all. A
// negative value under a power, one that is not finite, and zeros alone are errors.
func (n Norm) apply(values []float64, power float64, columns []int) error {
	column := func(j int) int {
		if columns != nil {
			j = columns[j]
		}
		return j + 1
	}
	largest := 0.0
	for j, v := range values {
		if power != 0 && power != 1 {
			if v < 0 {
				return fmt.Errorf("column %d: the value is %v, and a power needs values of 0 or more", column(j), v)
			}
			v = elementary.Pow(v, power)
			values[j] = v
		}
		if !(math.Abs(v) <= math.MaxFloat64) { // not a number, or infinite
			return fmt.Errorf("column %d: the value is %v", column(j), v)
		}
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return errors.New("all values are zero")
	}
	var length float64
	switch n {
	case NormL2:
		length = elementary.Norm(values)
	case NormL1:
		length = elementary.Norm1(values)
	case NormMax:
		length = largest
	case NormNone:
		return nil
	default:
		return fmt.Errorf("there is no %v", n)
	}
	if math.IsInf(length, 0) {
		return errors.New("the values are too large to be added up")
	}
	for j := range values {
		values[j] /= length
	}
	return nil
}
