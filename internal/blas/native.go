//go:build native

package blas

/*
#cgo LDFLAGS: -lopenblas
void openblas_set_num_threads(int);
*/
import "C"

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/netlib/blas/netlib"
)

// Name says which BLAS does the matrix products.
const Name = "OpenBLAS"

func init() {
	// One thread: trials run side by side, and a product split over threads
	// would not give the same bytes for every number of them.
	C.openblas_set_num_threads(1)
	blas64.Use(netlib.Implementation{})
}
