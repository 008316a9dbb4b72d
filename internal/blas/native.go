//go:build native

package blas

/*
#cgo LDFLAGS: -lopenblas
void openblas_set_num_threads(int);
*/
import "C"

import "gonum.org/v1/netlib/blas/netlib"

// Name says what multiplies matrices.
const Name = "OpenBLAS"

var ours library = netlib.Implementation{}

// One thread: products are split here, and one that OpenBLAS splits would not give the same
// bytes for every number of threads.
func init() { C.openblas_set_num_threads(1) }
