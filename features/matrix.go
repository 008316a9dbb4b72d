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

// column returns the column of value j, from 1.
func column(columns []int, j int) int {
	if columns != nil {
		j = columns[j]
	}
	return j + 1
}

// raise raises the values of a sample to a power, in place; 0 stands for 1. columns is as in apply. A value
// below 0 is an error.
func raise(values []float64, power float64, columns []int) error {
	if power == 0 || power == 1 {
		return nil
	}
	for j, v := range values {
		if v < 0 {
			return fmt.Errorf("column %d: the value is %v, and a power needs values of 0 or more", column(columns, j), v)
		}
		values[j] = elementary.Pow(v, power)
	}
	return nil
}

// apply scales the values of a sample, in place. columns holds the column of each value, or is nil where value
// j is in column j. A value that is not finite and values that are all zero are errors.
func (n Norm) apply(values []float64, columns []int) error {
	largest := 0.0
	for j, v := range values {
		size := math.Abs(v)
		if !(size <= math.MaxFloat64) { // not a number, or infinite
			return fmt.Errorf("column %d: the value is %v", column(columns, j), v)
		}
		largest = max(largest, size)
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
