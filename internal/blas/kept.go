package blas

import (
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Kept is a matrix that is the right factor of many products, laid out for them once. It is not to change
// meanwhile. Several goroutines may multiply at once.
type Kept[T Number] struct {
	laid          [][]T // packDepth rows of op(b) each, whole tiles
	rows, columns int   // of op(b)
}

// Keep lays out op(b), in about as many bytes as b has.
func Keep[T Number](t Transpose, b Of[T]) *Kept[T] {
	bT, tile := operand[T]{t, b}.transposed(), simd.TileColumns[T]()
	k := &Kept[T]{rows: bT.depth(), columns: bT.transposed().depth()}
	k.laid = make([][]T, parallel.Count(k.rows, packDepth))
	const work = 8 // multiplications take as long as a number
	parallel.DoWork(work*k.columns*k.rows, len(k.laid), func(i int) {
		depth := min(packDepth, k.rows-i*packDepth)
		k.laid[i] = make([]T, parallel.Count(k.columns, tile)*tile*depth)
		bT.pack(k.laid[i], 0, k.columns, i*packDepth, depth, tile)
	})
	return k
}

// Multiply computes c = op(a)·op(b), a large one on all cores that are free. c shares no
// memory with a and b. The bytes do not depend on the number of cores.
func (k *Kept[T]) Multiply(tA Transpose, a, c Of[T]) {
	work, parts := c.Rows*c.Cols*k.rows, 1
	if work >= parallel.Few {
		parts = min(work/partMultiplications, mostParts)
	}
	split := parallel.Even(c.Cols, ColumnUnit, max(c.Cols/parts, ColumnUnit))
	parallel.DoWork(work, split.Parts(), func(i int) {
		lo, hi := split.At(i)
		k.from(lo, tA, a, operand[T]{NoTrans, c}.columns(lo, hi).x)
	})
}

// from computes c, the columns of op(a)·op(b) from lo on, which is whole tiles.
func (k *Kept[T]) from(lo int, tA Transpose, a, c Of[T]) {
	list, tile := panelsOf[T](), simd.TileColumns[T]()
	p := list.Get()
	defer list.Put(p)
	for i, laid := range k.laid {
		depth := min(packDepth, k.rows-i*packDepth)
		p.add(i > 0, operand[T]{tA, a}, 1, i*packDepth, depth, laidOut[T]{laid[lo*depth:], tile * depth, tile}, c)
	}
	if len(k.laid) == 0 {
		for r := range c.Rows {
			clear(c.Data[r*c.Stride:][:c.Cols])
		}
	}
}
