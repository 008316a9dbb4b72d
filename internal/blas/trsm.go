package blas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed4492f2cd/partwise/internal/freelist"
)

// Trsm solves op(a)·x = b, or x·op(a) = b with a on the right, a upper triangular, and writes x to b, on all free
// cores: it inverts small triangles on the diagonal of a, and all else is products.
func Trsm(side blas.Side, tA Transpose, a blas64.Triangular, b Matrix) {
	if a.N <= leaf {
		solveLeaf(side, tA, a, b)
		return
	}
	first, last, corner := divide(a)
	head, tail := b, b
	if side == Left {
		head.Rows, tail.Rows, tail.Data = first.N, last.N, b.Data[first.N*b.Stride:]
	} else {
		head.Cols, tail.Cols, tail.Data = first.N, last.N, b.Data[first.N:]
	}
	switch {
	case side == Left && tA == NoTrans:
		Trsm(side, tA, last, tail)
		Gemm(NoTrans, NoTrans, -1, corner, tail, 1, head)
		Trsm(side, tA, first, head)
	case side == Left:
		Trsm(side, tA, first, head)
		Gemm(Trans, NoTrans, -1, corner, head, 1, tail)
		Trsm(side, tA, last, tail)
	case tA == NoTrans:
		Trsm(side, tA, first, head)
		Gemm(NoTrans, NoTrans, -1, head, corner, 1, tail)
		Trsm(side, tA, last, tail)
	default:
		Trsm(side, tA, last, tail)
		Gemm(NoTrans, Trans, -1, tail, corner, 1, head)
		Trsm(side, tA, first, head)
	}
}

// leafRoom holds the inverse of a leaf and what it is multiplied with.
type leafRoom struct {
	inverse [leaf * leaf]float64
	b       []float64
}

var leafRooms = freelist.List[*leafRoom]{New: func() *leafRoom { return new(leafRoom) }}

func solveLeaf(side blas.Side, tA Transpose, a blas64.Triangular, b Matrix) {
	room := leafRooms.Get()
	defer leafRooms.Put(room)
	room.b = room.b[:0]
	for i := range b.Rows {
		room.b = append(room.b, b.Data[i*b.Stride:][:b.Cols]...)
	}
	x := Matrix{Rows: b.Rows, Cols: b.Cols, Stride: b.Cols, Data: room.b}
	if side == Left {
		Gemm(tA, NoTrans, 1, inverse(a, &room.inverse), x, 0, b)
	} else {
		Gemm(NoTrans, tA, 1, x, inverse(a, &room.inverse), 0, b)
	}
}

// Whiten turns a symmetric a, n×n, given by its upper triangle, into u⁻ᵀ·a·u⁻¹, the matrix of a·v = λ·uᵀu·v.
func Whiten(a Matrix, u blas64.Triangular) {
	Mirror(a)
	Trsm(Left, Trans, u, a)
	Trsm(Right, NoTrans, u, a)
}
