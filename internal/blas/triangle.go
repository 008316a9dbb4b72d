package blas

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// leaf is the size of a triangle that is not divided.
const leaf = 48

// divide returns the triangles at both ends of the diagonal of a, upper triangular, and the corner beside the first.
func divide(a blas64.Triangular) (first, last blas64.Triangular, corner Matrix) {
	first, last = a, a
	first.N, last.N = a.N/2, a.N-a.N/2
	last.Data = a.Data[first.N*a.Stride+first.N:]
	return first, last, Matrix{Rows: first.N, Cols: last.N, Stride: a.Stride, Data: a.Data[first.N:]}
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
