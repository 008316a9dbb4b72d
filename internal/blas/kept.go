package blas

import (
	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// Kept is a matrix that is the right factor of many products, laid out for them once where
// this build lays out factors. It is not to change meanwhile. Several goroutines may multiply
// at once.
type Kept[T Number] struct {
	t             Transpose
	b             Of[T]
	laid          [][]T // so many rows of op(b) each
	rows, columns int   // of op(b)
	products      freelist.List[*keptProduct[T]]
}

// Below fewMultiplications laying out the factors costs more than it gains.
const fewMultiplications = 1000

// Keep lays out op(b), in about as many bytes as b has.
func Keep[T Number](t Transpose, b Of[T]) *Kept[T] {
	k := &Kept[T]{t: t, b: b, rows: b.Rows, columns: b.Cols}
	if t != NoTrans {
		k.rows, k.columns = b.Cols, b.Rows
	}
	k.products.New = k.newProduct
	k.layOut()
	return k
}

// Multiply computes c = op(a)·op(b), a large one on all cores that are free. c shares no
// memory with a and b. The bytes do not depend on the number of cores.
func (k *Kept[T]) Multiply(tA Transpose, a, c Of[T]) {
	work := c.Rows * c.Cols * k.rows
	if k.laid == nil || work < fewMultiplications {
		Multiply(tA, k.t, 1, a, k.b, 0, c)
		return
	}
	p := k.products.Get()
	defer k.products.Put(p)
	p.left = laidLeft(p.left, tA, a, c.Rows, k.rows)
	if work < parallel.Few {
		k.part(p.left, c, 0)
		return
	}
	p.c, p.split = c, parallel.Even(c.Cols, ColumnUnit, max(c.Cols/min(work/partMultiplications, mostParts), leastKept))
	parallel.Do(p.split.Parts(), p.columns)
	p.c = Of[T]{}
}

// leastKept columns are what a part of a product has at least: as both factors are laid out before, small parts cost nothing, and
// cores that begin at different times end nearly together.
const leastKept = ColumnUnit

// MultiplyColumns computes c, the columns of op(a)·op(b) from lo on, on the caller's core alone. lo is a multiple of
// ColumnUnit, and c has whole such units of columns but for the end of the last.
func (k *Kept[T]) MultiplyColumns(tA Transpose, a, c Of[T], lo int) {
	if k.laid != nil {
		p := k.products.Get()
		defer k.products.Put(p)
		p.left = laidLeft(p.left, tA, a, c.Rows, k.rows)
		k.part(p.left, c, lo)
		return
	}
	b := k.b
	b.Data = b.Data[place(k.t, 0, lo, b.Stride):]
	if k.t == NoTrans {
		b.Cols = c.Cols
	} else {
		b.Rows = c.Cols
	}
	MultiplyAlone(tA, k.t, 1, a, b, 0, c)
}

// keptProduct is one under way, kept for the next, so that none allocates.
type keptProduct[T Number] struct {
	left    []T // op(a), laid out
	c       Of[T]
	split   parallel.Split
	columns func(i int) // does part i
}

func (k *Kept[T]) newProduct() *keptProduct[T] {
	p := &keptProduct[T]{}
	p.columns = func(i int) {
		lo, hi := p.split.At(i)
		c := p.c
		c.Cols, c.Data = hi-lo, c.Data[lo:]
		k.part(p.left, c, lo)
	}
	return p
}
