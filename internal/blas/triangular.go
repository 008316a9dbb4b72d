package blas

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/internal/freelist"
)

// leaf is the largest size of a triangle that is not divided.
const leaf = 48

// divide splits a, upper triangular, into two triangles on the diagonal and the upper right block.
func divide(a blas64.Triangular) (first, last blas64.Triangular, corner Matrix) {
	first, last = a, a
	first.N, last.N = a.N/2, a.N-a.N/2
	last.Data = a.Data[first.N*a.Stride+first.N:]
	return first, last, Matrix{Rows: first.N, Cols: last.N, Stride: a.Stride, Data: a.Data[first.N:]}
}

// inverse returns the inverse of a leaf, in room.
func inverse(a blas64.Triangular, room *[leaf * leaf]float64) Matrix {
	t := Matrix{Rows: a.N, Cols: a.N, Stride: a.N, Data: room[:a.N*a.N]}
	clear(t.Data)
	for i := range a.N {
		row := t.Data[i*a.N:][:a.N] // row·a is row i of the identity
		row[i] = 1
		for k := i; k < a.N; k++ {
			line := a.Data[k*a.Stride:][:a.N]
			row[k] /= line[k]
			floats.AddScaled(row[k+1:], -row[k], line[k+1:])
		}
	}
	return t
}

// Trsm solves op(a)·x = b with a upper triangular, and writes x to b. It inverts small triangles on the diagonal of a;
// everything else is parallel matrix products.
func Trsm(tA Transpose, a blas64.Triangular, b Matrix) {
	if a.N <= leaf {
		solveLeaf(tA, a, b)
		return
	}
	first, last, corner := divide(a)
	head, tail := b, b
	head.Rows, tail.Rows, tail.Data = first.N, last.N, b.Data[first.N*b.Stride:]
	if tA == NoTrans {
		Trsm(tA, last, tail)
		Gemm(NoTrans, NoTrans, -1, corner, tail, 1, head)
		Trsm(tA, first, head)
	} else {
		Trsm(tA, first, head)
		Gemm(Trans, NoTrans, -1, corner, head, 1, tail)
		Trsm(tA, last, tail)
	}
}

// leafBuffers holds the buffers of solveLeaf.
type leafBuffers struct {
	inverse [leaf * leaf]float64
	b       []float64
}

var leafRooms = freelist.List[*leafBuffers]{New: func() *leafBuffers { return new(leafBuffers) }}

func solveLeaf(tA Transpose, a blas64.Triangular, b Matrix) {
	room := leafRooms.Get()
	defer leafRooms.Put(room)
	room.b = room.b[:0]
	for i := range b.Rows {
		room.b = append(room.b, b.Data[i*b.Stride:][:b.Cols]...)
	}
	x := Matrix{Rows: b.Rows, Cols: b.Cols, Stride: b.Cols, Data: room.b}
	Gemm(tA, NoTrans, 1, inverse(a, &room.inverse), x, 0, b)
}

// Whiten replaces a symmetric a, n×n, given by its upper triangle, by u⁻ᵀ·a·u⁻¹, whose eigenproblem is a·v = λ·uᵀu·v.
func Whiten(a Matrix, u blas64.Triangular) {
	Mirror(a)
	Trsm(Trans, u, a)
	for i := range a.Rows { // (u⁻ᵀ·a)ᵀ = a·u⁻¹
		for j := range i {
			x, y := &a.Data[i*a.Stride+j], &a.Data[j*a.Stride+i]
			*x, *y = *y, *x
		}
	}
	Trsm(Trans, u, a)
}

// Cholesky returns the upper triangular u with a = uᵀu for a symmetric a, n×n. It reads and overwrites the upper
// triangle of a. ok is false if a is not positive definite. Most of the work is parallel matrix products.
func Cholesky(a Matrix) (u blas64.Triangular, ok bool) {
	u = blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}
	return u, factorise(u)
}

func factorise(a blas64.Triangular) (ok bool) {
	if a.N <= leaf {
		for i := range a.N {
			row := a.Data[i*a.Stride:][i:a.N]
			if !(row[0] > 0) {
				return false
			}
			floats.Scale(1/math.Sqrt(row[0]), row)
			for j := 1; j < len(row); j++ {
				floats.AddScaled(a.Data[(i+j)*a.Stride:][i+j:a.N], -row[j], row[j:])
			}
		}
		return true
	}
	first, last, corner := divide(a)
	if !factorise(first) {
		return false
	}
	Trsm(Trans, first, corner)
	MultiplyUpper(context.Background(), Trans, NoTrans, -1, corner, corner, 1, Matrix{Rows: last.N, Cols: last.N, Stride: last.Stride, Data: last.Data})
	return factorise(last)
}
