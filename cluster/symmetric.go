package cluster

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// readSymmetric returns a, n×n, as a symmetric matrix, copied unless it is one.
// A matrix that is not square, holds a value that is not finite, or is not
// symmetric but for rounding is an error.
func readSymmetric(a mat.Matrix) (*mat.SymDense, error) {
	n, c := a.Dims()
	if n != c || n == 0 {
		return nil, fmt.Errorf("a %d×%d matrix does not compare samples with each other", n, c)
	}
	sym, isSym := a.(*mat.SymDense)
	if !isSym {
		sym = mat.NewSymDense(n, nil)
	}
	// What is larger is refused like infinity: its sums could overflow.
	limit := math.MaxFloat64 / 8 / float64(n) / float64(n)
	largest := 0.0
	for i := range n {
		for j := i; j < n; j++ {
			v := a.At(i, j)
			if !(math.Abs(v) <= limit) {
				return nil, fmt.Errorf("row %d, column %d holds the value %v", i+1, j+1, v)
			}
			largest = max(largest, math.Abs(v))
			if !isSym {
				sym.SetSym(i, j, v)
			}
		}
	}
	if isSym {
		return sym, nil
	}
	for i := range n {
		for j := range i {
			if v, w := a.At(i, j), sym.At(j, i); !(math.Abs(v-w) <= 1e-8*largest) {
				return nil, fmt.Errorf("not symmetric: row %d, column %d holds %v and row %d, column %d holds %v", i+1, j+1, v, j+1, i+1, w)
			}
		}
	}
	return sym, nil
}
