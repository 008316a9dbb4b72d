// Package blas chooses what does the matrix products behind gonum: OpenBLAS
// in the native build (-tags native), gonum's own Go elsewhere. Importing it
// is enough.
package blas
