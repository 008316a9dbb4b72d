//go:build !native

package blas

// Name says what multiplies matrices.
const Name = "gonum"
