package factor

import (
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Known is what is known about n samples beside their features. Its zero value says
// that nothing is known.
type Known struct {
	// Labels holds each sample's class, numbered from 0, or -1 where it is not known. It
	// has n elements or none.
	Labels []int
	// MustLink and CannotLink hold pairs of samples, by row, that belong together and that
	// do not.
	MustLink, CannotLink [][2]int
}

// Check returns an error if what is known does not fit n samples or contradicts itself.
func (k Known) Check(n int) error { return links.Known(k).Check(n) }

// CSR is a sparse matrix in compressed rows; methods with a free basis never
// make it dense.
type CSR = sparse.CSR

// NewCSR returns the n×m sparse matrix whose row i holds
// values[rowStart[i]:rowStart[i+1]] in the columns of the same range, rising.
// The slices are kept, not copied. Malformed ones are an error.
func NewCSR(n, m int, rowStart, columns []int, values []float64) (*CSR, error) {
	return sparse.New(n, m, rowStart, columns, values)
}

// SampleError says that a sample cannot be used: its row, from 0, in Sample, and why in Problem.
type SampleError = view.SampleError
