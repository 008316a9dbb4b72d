package descent

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// A problem is swept until a sweep lowers its objective by less than StillShare of what the first one did,
// which is a step of 3 % of the first, and MostSweeps times at most.
const (
	StillShare = 9e-4
	MostSweeps = 20
)

// Sweeps calls sweep, which returns by how much it lowered an objective, until that stands still.
func Sweeps(sweep func() float64) {
	var first float64
	for t := range MostSweeps {
		lowered := sweep()
		if t == 0 {
			first = lowered
		}
		if lowered <= StillShare*first {
			return
		}
	}
}

// MinimiseRows moves the columns of θ, k×p, from the positive part of from, which may be θ, towards the
// minima over θ ≥ 0 of ½·tr(θᵀHθ) − tr(Bᵀθ), H being k×k and positive semidefinite: coordinate descent
// row after row (Cichocki and Phan 2009), in panels of columns side by side. What becomes of a column
// does not depend on the others.
func MinimiseRows(ctx context.Context, theta, from, b, h *mat.Dense, sweeps int) error {
	k, p := theta.Dims()
	quadratic := h.RawMatrix().Data
	inverse := make([]float64, k)
	for r := range inverse {
		if x := quadratic[r*k+r]; x >= algebra.LeastDenominator {
			inverse[r] = 1 / x
		}
	}
	const columns = simd.SweepColumns
	return parallel.Blocks(ctx, 0, p, columns, func(_, at, end int) {
		v, linear := make([]float64, k*columns), make([]float64, k*columns)
		for r := range k {
			for c, x := range from.RawRowView(r)[at:end] {
				v[r*columns+c] = max(x, 0)
			}
			copy(linear[r*columns:], b.RawRowView(r)[at:end])
		}
		descend(v, linear, end-at, quadratic, inverse, sweeps)
		for r := range k {
			to := theta.RawRowView(r)[at:end]
			copy(to, v[r*columns:])
			for c, x := range to {
				if x < algebra.Floor {
					to[c] = 0
				}
			}
		}
	})
}

// descend sweeps the first count columns of v, k×SweepColumns, until each of them stands still.
func descend(v, b []float64, count int, h, inverse []float64, sweeps int) {
	var active, first, step [simd.SweepColumns]float64
	for c := range count {
		active[c] = simd.Active
	}
	for t := range sweeps {
		clear(step[:])
		simd.Sweep(v, b, h, inverse, active[:], step[:])
		if t == 0 {
			first = step
		}
		moving := false
		for c, moved := range step[:count] {
			if moved <= StillShare*first[c] || moved == 0 {
				active[c] = 0
			}
			moving = moving || active[c] != 0
		}
		if !moving {
			return
		}
	}
}

// blockSamples is how many samples' weights move before W·K follows.
const blockSamples = 32

// A SampleBlock is samples whose weights move before W·K follows.
type SampleBlock struct {
	Samples        []int
	Products       *mat.Dense // of each with those before it and itself
	Linear, Weight *mat.Dense // their columns of B and W, samples × k
}

// SampleBlocks divides samples into blocks, given the inner products of all, and B and W, k×n.
func SampleBlocks(samples []int, products, b, w *mat.Dense) (blocks []SampleBlock) {
	k, _ := w.Dims()
	for part := range slices.Chunk(samples, blockSamples) {
		n := len(part)
		block := SampleBlock{part, mat.NewDense(n, n, nil), mat.NewDense(n, k, nil), mat.NewDense(n, k, nil)}
		for a, i := range part {
			row, to := products.RawRowView(i), block.Products.RawRowView(a)
			for c, j := range part[:a+1] {
				to[c] = row[j]
			}
		}
		ReadColumns(block.Linear, b, part)
		ReadColumns(block.Weight, w, part)
		blocks = append(blocks, block)
	}
	return blocks
}

// ReadColumns writes some columns of a to the first rows of dst.
func ReadColumns(dst, a *mat.Dense, columns []int) {
	k, _ := a.Dims()
	to := dst.RawMatrix()
	for r := range k {
		row, at := a.RawRowView(r), r
		for _, i := range columns {
			to.Data[at] = row[i]
			at += to.Stride
		}
	}
}

// A WeightBlock moves the weights of some samples one after another. Its rows are as long as simd.Width says.
type WeightBlock struct {
	Kw               *mat.Dense // samples × k
	gram             *mat.Dense // k×k
	gradient, before []float64  // of a sample, and its weights before
	numbers          []int      // 0, 1, …
	// Of each basis vector the samples whose weights have moved, and by how much.
	At [][]int
	By [][]float64
}

func NewWeightBlock(k int) *WeightBlock {
	width := simd.Width(k)
	b := &WeightBlock{
		Kw: mat.NewDense(blockSamples, width, nil), gram: mat.NewDense(width, width, nil),
		gradient: make([]float64, width), before: make([]float64, k),
		At: make([][]int, k), By: make([][]float64, k),
	}
	for i := range width {
		b.numbers = append(b.numbers, i)
	}
	return b
}

// SetGram sets the matrix of the quadratic term, k×k.
func (b *WeightBlock) SetGram(m *mat.Dense) {
	for r := range b.At {
		copy(b.gram.RawRowView(r), m.RawRowView(r))
	}
}

// Move moves the weights of the first count samples, given B, samples × k, and the inner products of each with those
// before it and itself, and W·K in Kw with them. It tells whether any moved.
func (b *WeightBlock) Move(linear, weights, products *mat.Dense, count int) (moved bool) {
	for r := range b.At {
		b.At[r], b.By[r] = b.At[r][:0], b.By[r][:0]
	}
	kw, product := b.Kw.RawMatrix(), products.RawMatrix()
	for a := range count {
		weight := weights.RawRowView(a)
		for r, x := range linear.RawRowView(a) {
			b.gradient[r] = -x
		}
		simd.AddRows(b.gradient, kw.Data[a*kw.Stride:][:kw.Cols], b.gram.RawMatrix().Data, b.numbers)
		copy(b.before, weight)
		if !b.moveWeights(weight, product.Data[a*product.Stride+a]) {
			continue
		}
		moved = true
		for r, x := range weight {
			by := x - b.before[r]
			if by == 0 {
				continue
			}
			b.At[r], b.By[r] = append(b.At[r], a), append(b.By[r], by)
			from, to := product.Data[a:], kw.Data[r:]
			for c := a + 1; c < count; c++ {
				to[c*kw.Stride] += by * from[c*product.Stride]
			}
		}
	}
	return moved
}

// moveWeights moves the weights of a sample by coordinate descent, and the gradient, and tells whether they moved.
// The second derivative is size·gram. Weights that stay cost a look at their gradient (as in RcppML, DeBruine,
// Melcher and Triche 2021).
func (b *WeightBlock) moveWeights(w []float64, size float64) (moved bool) {
	gram, gradient := b.gram.RawMatrix(), b.gradient
	var first float64
	for t := range MostSweeps {
		var step float64
		for r, x := range w {
			g := gradient[r]
			if x == 0 && g >= 0 {
				continue
			}
			row := gram.Data[r*gram.Stride:][:len(gradient)]
			curvature := size * row[r]
			if !(curvature >= algebra.LeastDenominator) {
				continue
			}
			y := x - g*(1/curvature) // the division does not wait for g
			if !(y >= algebra.Floor) {
				y = 0
			}
			if y == x {
				continue
			}
			by := y - x
			w[r] = y
			algebra.Axpy(size*by, row, gradient)
			step += curvature * by * by
		}
		if t == 0 {
			first = step
		}
		if step == 0 {
			break
		}
		if moved = true; step <= StillShare*first {
			break
		}
	}
	return moved
}
