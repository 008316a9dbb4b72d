//go:build !native

package blas

// Name says which BLAS does the matrix products.
const Name = "gonum"
