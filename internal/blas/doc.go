// Package blas multiplies matrices: with OpenBLAS in the native build (-tags
// native), elsewhere with gonum's own Go, and there, on a processor that has AVX2,
// with a product of our own that is several times as fast. A product gives the same
// bytes whatever else a program imports: gonum's global choice of a BLAS is neither
// read nor set, but by UseForProcess.
package blas
