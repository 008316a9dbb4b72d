//go:build native

package vocab

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/netlib/blas/netlib"
)

// Descriptors are compared with words in single precision, see points.
func init() { blas32.Use(netlib.Implementation{}) }
