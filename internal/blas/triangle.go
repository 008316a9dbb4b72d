package blas

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// leaf is the size of a triangle that is not divided.
const leaf = 48

// divide returns the triangles at both ends of the diagonal of a, upper triangular, and what is beside the
// first.
func divide(a blas64.Triangular) (first, last blas64.Triangular, corner Matrix) {
	first, last = a, a
	first.N, last.N = a.N/2, a.N-a.N/2
	_, corner, end := parts(square(a), first.N)
	last.Data = end.Data
	return first, last, corner
}

// square returns the matrix of which a is the upper triangle.
func square(a blas64.Triangular) Matrix {
	return Matrix{Rows: a.N, Cols: a.N, Stride: a.Stride, Data: a.Data}
}

// parts returns the blocks on and above the diagonal, the first at×at.
func parts(a Matrix, at int) (a11, a12, a22 Matrix) {
	a11, a12, a22 = a, a, a
	a11.Rows, a11.Cols = at, at
	a12.Rows, a12.Cols, a12.Data = at, a.Cols-at, a.Data[at:]
	a22.Rows, a22.Cols, a22.Data = a.Rows-at, a.Cols-at, a.Data[at*a.Stride+at:]
	return a11, a12, a22
}

// inverse writes that of a leaf to room.
func inverse(a blas64.Triangular, room *[leaf * leaf]float64) Matrix {
	t := Matrix{Rows: a.N, Cols: a.N, Stride: a.N, Data: room[:a.N*a.N]}
	clear(t.Data)
	for i := range a.N {
		row := t.Data[i*a.N:][:a.N] // row·a is row i of the unit matrix
		row[i] = 1
		for k := i; k < a.N; k++ {
			line := a.Data[k*a.Stride:][:a.N]
			row[k] /= line[k]
			floats.AddScaled(row[k+1:], -row[k], line[k+1:])
		}
	}
	return t
}
