// Package blas multiplies matrices and solves triangular equations. A product gives the same bytes on any number
// of cores and on every processor: each of its numbers is added up in the order of the depth, 256 terms at a
// time, with one rounding for a multiplication and its addition.
package blas
