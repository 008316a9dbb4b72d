package descent

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Sweeps over a problem stop when one lowers the objective by at most StillShare of the first sweep's decrease, which
// is a step of 3 % of the first, or after MostSweeps.
const (
	StillShare = 9e-4
	MostSweeps = 20
)

// Sweeps calls sweep, which returns its decrease of the objective, until it converges, at most the given number of times.
func Sweeps(most int, sweep func() float64) {
	var first float64
	for t := range most {
		lowered := sweep()
		if t == 0 {
			first = lowered
		}
		if lowered <= StillShare*first {
			return
		}
	}
}

// MinimiseRows minimises ½·tr(θᵀHθ) − tr(Bᵀθ) over θ ≥ 0, k×p, by coordinate descent over rows (Cichocki and Phan
// 2009), starting at the positive part of from, which may be theta. H is k×k and positive semidefinite. Columns are
// independent problems, solved in panels.
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
	workers := parallel.Cores()
	buffers := make([]float64, 2*workers*k*columns)
	return parallel.Blocks(ctx, workers, p, columns, func(worker, at, end int) {
		v, linear := buffers[2*worker*k*columns:][:k*columns], buffers[(2*worker+1)*k*columns:][:k*columns]
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

// descend sweeps the first count columns of v, k×SweepColumns, until each has converged.
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

// blockSamples is the number of samples whose weights change before W·K is updated.
const blockSamples = 32

// A SampleBlock is a block of samples whose weights change before W·K is updated.
type SampleBlock struct {
	Samples        []int
	Products       *mat.Dense // inner products with earlier samples of the block and itself
	Linear, Weight *mat.Dense // the samples' columns of B and W, as rows: samples × k
}

// SampleBlocks divides samples into blocks, given the Gram matrix products of all samples, and b and w, k×n.
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

// ReadColumns copies the given columns of a to the first rows of dst.
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

// A WeightBlock minimises over the weights of the samples of a block, one sample at a time. Rows are padded to simd.Width.
type WeightBlock struct {
	Kw               *mat.Dense // samples × k
	gram             *mat.Dense // k×k
	gradient, before []float64  // gradient and previous weights of the current sample
	numbers          []int      // 0, 1, …
	// At and By hold, for each basis vector, the samples whose weights changed and the changes.
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

// SetGram sets the k×k matrix of the quadratic term.
func (b *WeightBlock) SetGram(m *mat.Dense) {
	for r := range b.At {
		copy(b.gram.RawRowView(r), m.RawRowView(r))
	}
}

// Move updates the weights of the first count samples, and Kw with them, given B, samples × k, and the inner products of
// each sample with earlier samples and itself. It reports whether any weight changed.
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

// moveWeights updates the weights of one sample by coordinate descent, with the gradient, and reports whether any
// changed. The second derivative is size·gram. An unchanged weight costs one comparison (as in RcppML, DeBruine, Melcher
// and Triche 2021).
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
			y := x - g*(1/curvature) // 1/curvature does not depend on g, so the two overlap
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

const (
	KLFloor = 1e-16 // least entry of a column of sum 1, because a multiplicative step cannot leave 0
	klPanel = 32    // columns at a time
)

// KLRows is the data of the columns of a factor: the rows of X for coefficients, its columns for the basis.
type KLRows struct {
	Totals     []float64   // Σ x of each row
	Dense      *mat.Dense  // nil for sparse data
	transposed bool        // the rows are the columns of Dense
	stored     *sparse.CSR // nil for dense data
}

// KLData returns the data of d by feature and by sample.
func KLData(d view.Data) (features, samples KLRows) {
	n, m := d.Dims()
	features.Totals, samples.Totals = make([]float64, m), make([]float64, n)
	d.Each(func(i, j int, x float64) {
		features.Totals[j] += x
		samples.Totals[i] += x
	})
	if s, ok := d.(*view.Sparse); ok {
		features.stored, samples.stored = s.ByFeature().CSR, s.X
	} else {
		whole := d.Matrix().(*mat.Dense)
		features.Dense, features.transposed, samples.Dense = whole, true, whole
	}
	return features, samples
}

// KLHalf minimises the divergence over theta, k×p, without its first Fixed rows, with other, k×q, fixed.
type KLHalf struct {
	Fixed        int
	x            KLRows
	theta, other *mat.Dense
	k, p, q      int
	sums         []float64 // row sums of other
	width        int       // row length of unit: k for sparse data, q for dense, padded
	// unit is other with rows scaled to sum 1: k rows for dense data; for sparse data its q columns and a zero one.
	unit    []float32
	workers []*klWorker
}

type klWorker struct {
	x, y, u []float32 // values of x and of the approximation; for sparse data, the rows of unit gathered
	at      []int
	z       []float64 // klPanel×k
	z32     []float32
}

func NewKLHalf(x KLRows, theta, other *mat.Dense) *KLHalf {
	h := &KLHalf{x: x, theta: theta, other: other}
	h.k, h.p = theta.Dims()
	_, h.q = other.Dims()
	h.sums = make([]float64, h.k)
	if x.stored != nil {
		h.width = simd.Width(h.k)
		h.unit = make([]float32, (h.q+1)*h.width)
	} else {
		h.width = lanes32(h.q)
		h.unit = make([]float32, h.k*h.width)
	}
	h.workers = make([]*klWorker, parallel.Cores())
	for i := range h.workers {
		w := &klWorker{z: make([]float64, klPanel*h.k), z32: make([]float32, max(klPanel*h.k, simd.Width(h.k)))}
		if h.workers[i] = w; h.x.stored == nil {
			w.x, w.y = make([]float32, klPanel*h.width), make([]float32, klPanel*h.width)
		}
	}
	return h
}

func lanes32(n int) int { return (n + simd.Lanes32 - 1) / simd.Lanes32 * simd.Lanes32 }

// Scale multiplies each column of theta by the factor that minimises its cost.
func (h *KLHalf) Scale() {
	h.readOther()
	z := make([]float64, h.k)
	for i := range h.p {
		h.readColumns(z, i, i+1)
		h.writeColumn(z, i)
	}
}

// Sweep updates every entry of theta once.
func (h *KLHalf) Sweep(ctx context.Context) error {
	h.readOther()
	return parallel.Blocks(ctx, len(h.workers), h.p, klPanel, func(worker, lo, hi int) {
		w := h.workers[worker]
		h.readColumns(w.z, lo, hi)
		if h.x.stored != nil {
			h.sparsePanel(w, lo, hi)
		} else {
			h.densePanel(w, lo, hi)
		}
		for c := range hi - lo {
			h.writeColumn(w.z[c*h.k:][:h.k], lo+c)
		}
	})
}

func (h *KLHalf) readOther() {
	algebra.RowSums(h.sums, h.other)
	row, next := h.width, 1
	if h.x.stored != nil {
		row, next = next, row
	}
	for r, sum := range h.sums {
		by := 1 / max(sum, algebra.LeastDenominator)
		for j, x := range h.other.RawRowView(r) {
			h.unit[r*row+j*next] = float32(x * by)
		}
	}
}

// readColumns writes columns lo to hi of theta to z, each scaled to sum 1, the sum with the least cost. With Fixed rows, it
// scales them as the data.
func (h *KLHalf) readColumns(z []float64, lo, hi int) {
	for r, s := range h.sums {
		for c, x := range h.theta.RawRowView(r)[lo:hi] {
			z[c*h.k+r] = x * s
		}
	}
	for c := range hi - lo {
		column := z[c*h.k:][:h.k]
		sum := h.x.Totals[lo+c]
		if h.Fixed == 0 {
			sum = elementary.Sum(column)
		}
		floats.Scale(1/max(sum, algebra.LeastDenominator), column)
	}
}

// writeColumn scales z back and writes it to column i of theta, except entries whose row of other is 0.
func (h *KLHalf) writeColumn(z []float64, i int) {
	for r, s := range h.sums {
		if s >= algebra.LeastDenominator && r >= h.Fixed {
			h.theta.Set(r, i, algebra.FlooredProduct(z[r]*h.x.Totals[i]/s, 1))
		}
	}
}

// layOut writes columns of dense data to dst, each scaled to sum 1.
func (h *KLHalf) layOut(dst []float32, lo, hi int) {
	var by [klPanel]float64
	for c, total := range h.x.Totals[lo:hi] {
		by[c] = 1 / max(total, algebra.LeastDenominator)
	}
	x := h.x.Dense.RawMatrix()
	column, next := x.Stride, 1
	if h.x.transposed {
		column, next = next, column
	}
	for j := range h.q {
		for c := range hi - lo {
			dst[c*h.width+j] = float32(x.Data[(lo+c)*column+j*next] * by[c])
		}
	}
}

func (h *KLHalf) densePanel(w *klWorker, lo, hi int) {
	h.layOut(w.x, lo, hi)
	for i, x := range w.z[:(hi-lo)*h.k] {
		w.z32[i] = float32(x)
	}
	blas.Multiply(algebra.NoTrans, algebra.NoTrans, 1,
		blas.Of[float32]{Rows: hi - lo, Cols: h.k, Stride: h.k, Data: w.z32},
		blas.Of[float32]{Rows: h.k, Cols: h.width, Stride: h.width, Data: h.unit}, 0,
		blas.Of[float32]{Rows: hi - lo, Cols: h.width, Stride: h.width, Data: w.y})
	for c := range hi - lo {
		from, to := c*h.width, (c+1)*h.width
		h.descend(w.z[c*h.k:][:h.k], w.y[from:to], w.x[from:to], h.unit, h.width)
	}
}

func (h *KLHalf) sparsePanel(w *klWorker, lo, hi int) {
	for c := range hi - lo {
		cols, vals := h.x.stored.Row(lo + c)
		z := w.z[c*h.k:][:h.k]
		if len(cols) == 0 {
			clear(z)
			continue
		}
		size := lanes32(len(cols))
		if len(w.x) < size {
			w.x, w.y, w.u, w.at = make([]float32, size), make([]float32, size), make([]float32, size*h.width), make([]int, size)
		}
		by := 1 / max(h.x.Totals[lo+c], algebra.LeastDenominator) // stored values may all be 0
		for p, x := range vals {
			w.x[p], w.at[p] = float32(x*by), cols[p]
		}
		for p := len(vals); p < size; p++ {
			w.x[p], w.at[p] = 0, h.q
		}
		for r, x := range z {
			w.z32[r] = float32(x)
		}
		simd.Gather(w.u, size, w.y, w.z32[:h.width], h.unit, w.at[:size])
		h.descend(z, w.y[:size], w.x[:size], w.u, size)
	}
}

// descend sweeps over the entries of z after the fixed ones.
func (h *KLHalf) descend(z []float64, y, x, u []float32, stride int) {
	if h.Fixed < h.k {
		simd.Descend(z[h.Fixed:], y, x, u[h.Fixed*stride:], stride, KLFloor)
	}
}
