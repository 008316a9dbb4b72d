package descent

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// blockSamples is how many samples' weights move before W·K follows.
const blockSamples = 32

// A sampleBlock is samples whose weights move before W·K follows.
type SampleBlock struct {
	Samples  []int
	Products *mat.Dense // of them with each other; of each with those before it and itself
	// Their columns of B and W, samples × k.
	Linear, Weight *mat.Dense
}

// NewSampleBlocks returns blocks with room for n samples and k basis vectors.
func NewSampleBlocks(n, k int) []SampleBlock {
	blocks := make([]SampleBlock, parallel.Count(n, blockSamples))
	for at := range blocks {
		size := min(blockSamples, n-at*blockSamples)
		blocks[at] = SampleBlock{Products: mat.NewDense(size, size, nil), Linear: mat.NewDense(size, k, nil), Weight: mat.NewDense(size, k, nil)}
	}
	return blocks
}

// TakeSamples gives the first of the blocks the samples, and returns these blocks.
func TakeSamples(blocks []SampleBlock, samples []int, k *mat.Dense) []SampleBlock {
	count := parallel.Count(len(samples), blockSamples)
	for at := range count {
		b := &blocks[at]
		b.Samples = samples[at*blockSamples : min((at+1)*blockSamples, len(samples))]
		for a, i := range b.Samples {
			row, products := k.RawRowView(i), b.Products.RawRowView(a)
			for c, j := range b.Samples[:a+1] {
				products[c] = row[j]
			}
		}
	}
	return blocks[:count]
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

// A weightBlock moves the weights of some samples one after another. Its rows are as long as simd.Width
// says.
type WeightBlock struct {
	Kw               *mat.Dense // samples × k
	gram             *mat.Dense // k×k
	gradient, before []float64  // of a sample, and its weights before
	at               []int      // of each basis vector: the samples whose weights have moved, k × blockSamples
	by               []float64  // and by how much
	count            []int      // and how many
	numbers          []int      // 0, 1, …
	k                int
}

func NewWeightBlock(k int) *WeightBlock {
	width := simd.Width(k)
	b := &WeightBlock{
		Kw: mat.NewDense(blockSamples, width, nil), gram: mat.NewDense(width, width, nil),
		gradient: make([]float64, width), before: make([]float64, k),
		at: make([]int, k*blockSamples), by: make([]float64, k*blockSamples), count: make([]int, k),
		numbers: make([]int, width), k: k,
	}
	for i := range b.numbers {
		b.numbers[i] = i
	}
	return b
}

// SetGram sets the matrix of the quadratic term, k×k.
func (b *WeightBlock) SetGram(m *mat.Dense) {
	for r := range b.k {
		copy(b.gram.RawRowView(r), m.RawRowView(r))
	}
}

// Changed returns the samples whose weights in basis vector r have moved, and by how much.
func (b *WeightBlock) Changed(r int) (at []int, by []float64) {
	from, count := r*blockSamples, b.count[r]
	return b.at[from:][:count], b.by[from:][:count]
}

// Move moves the weights of the first count samples, given B, samples × k, and the inner products of the
// samples, each with those before it and itself, and W·K in kw with them. It tells whether any moved.
func (b *WeightBlock) Move(linear, weights, products *mat.Dense, count int) (moved bool) {
	clear(b.count)
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
			place := r*blockSamples + b.count[r]
			b.at[place], b.by[place] = a, by
			b.count[r]++
			from, to := product.Data[a:], kw.Data[r:]
			for c := a + 1; c < count; c++ {
				to[c*kw.Stride] += by * from[c*product.Stride]
			}
		}
	}
	return moved
}

// moveWeights moves the weights of a sample by coordinate descent, and the gradient with them, and tells
// whether they have moved. The second derivative is size·gram. Weights that stay cost nothing but a look
// at their gradient (as in RcppML, DeBruine, Melcher and Triche 2021).
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
