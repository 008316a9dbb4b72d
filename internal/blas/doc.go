// Package blas chooses what does the matrix products behind gonum: OpenBLAS
// in the native build (-tags native), gonum's own Go elsewhere, and there, on a
// processor that has AVX2, a product of matrices of ours that is several times as
// fast. Importing it is enough.
package blas
