package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// How often an iteration sweeps the weights, and the coefficients, at most, and how many
// samples' weights move before W·K follows. After refreshAfter iterations what is brought up
// to date bit by bit is computed anew.
const (
	weightSweeps      = 5
	coefficientSweeps = 10
	blockSamples      = 32
	refreshAfter      = 50
	shrunkShare       = 1e-3
)

// fastConcept lowers the Frobenius cost of a concept basis, which in W is
// ½·tr(MWKWᵀ) − tr(WBᵀ), M = VVᵀ and B = VK (in the papers' orientation VᵀV and KV). The
// weights w of one sample after another move nearly to the minimum of
// ½κ·wᵀMw − lᵀw over w ≥ 0, κ being the sample's inner product with itself. Samples are
// taken in blocks: within a block the gradients of the later ones follow what moves, and
// W·K, which those of all others come from, follows once the block is done. Few samples
// have weights at a minimum, and mostly one each: of several sweeps the first is over all
// samples and the others over those that have weights. It needs the inner
// products of all samples.
type fastConcept struct {
	f     *Factorisation
	m     *conceptModel
	order []int // of the samples, which is not that of the data
	since int   // iterations since all was computed

	all, some []sampleBlock // the samples in order, and those that have weights
	weighted  []int
	block     *weightBlock
	at        []int // samples whose weights in a basis vector have moved

	largest []float64 // the longest that went into each basis vector since all was computed
}

func startFastConcept(f *Factorisation) (func(context.Context) error, error) {
	m := f.model.(*conceptModel)
	if m.k == nil {
		n, features := m.x.Dims()
		return nil, fmt.Errorf("fast serves a concept basis of at most %d samples, or of %d if there are at most twice as many samples as features; these are %d samples of %d features: choose mu",
			mostFormedForFast, mostFormed, n, features)
	}
	order := f.sampleOrder()
	scaleStart(f)
	k, n := m.w.Dims()
	s := &fastConcept{
		f: f, m: m, order: order,
		all: newSampleBlocks(n, k), some: newSampleBlocks(n, k), weighted: make([]int, 0, n),
		block: newWeightBlock(k), largest: make([]float64, k),
	}
	takeSamples(s.all, s.order, m.k)
	m.Condense()
	s.restart()
	return s.iterate, nil
}

// sampleOrder orders the samples by what they are, so that the answer does not depend on
// the order in which they come.
func (f *Factorisation) sampleOrder() []int {
	n := len(f.ties.group)
	key := make([]float64, n)
	if f.kernel != nil && f.kernel.samples == nil {
		view.Dense{X: f.kernel.values}.Each(func(i, j int, x float64) {
			if i != j {
				key[i] += x
			}
		})
	} else {
		_, m := f.whole.Dims()
		share := make([]float64, m)
		for j := range share {
			_, share[j] = math.Modf(float64(j+1) * math.Phi)
		}
		switch x := f.whole.(type) {
		case view.Dense:
			algebra.EachRow(x.X, 1, func(i int, row []float64) {
				key[i] = algebra.Dot(row, share)
			})
		default:
			x.Each(func(i, j int, v float64) { key[i] += v * share[j] })
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(key[i], key[j]) })
	return order
}

func (s *fastConcept) iterate(ctx context.Context) error {
	f, m := s.f, s.m
	before := f.Objective()
	f.Keep()
	m.basisProducts()
	s.block.setGram(m.vv)
	s.read(s.all)
	moved := s.sweepWeights(ctx, s.all)
	s.weighted = haveWeights(s.weighted[:0], m.w, s.order)
	some := takeSamples(s.some, s.weighted, m.k)
	s.read(some)
	for sweep := 1; moved && sweep < weightSweeps; sweep++ {
		moved = s.sweepWeights(ctx, some)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.haveU = false
	m.h, f.known = nil, false
	m.Condense()
	if s.since++; s.since == refreshAfter || s.shrunk() {
		f.Moved(0)
		m.Condense()
		s.restart()
	}
	if err := minimiseRows(ctx, m.v, m.v, m.lin, m.h, coefficientSweeps); err != nil {
		return err
	}
	f.Moved(1)
	if !(f.Objective() <= before) { // by rounding
		f.Restore()
		m.Condense()
		s.restart()
	}
	return nil
}

// restart begins to follow W where the model is.
func (s *fastConcept) restart() {
	s.since = 0
	for r := range s.largest {
		s.largest[r] = s.m.length(r)
	}
}

// shrunk tells whether a basis vector has become so short beside the longest that went
// into it that its part of W·K, which has followed the weights, has lost digits.
func (s *fastConcept) shrunk() bool {
	for r, largest := range s.largest {
		if s.m.length(r) < shrunkShare*largest {
			return true
		}
	}
	return false
}

// haveWeights appends to found the samples of the order that have weights.
func haveWeights(found []int, weights *mat.Dense, order []int) []int {
	w := weights.RawMatrix()
	for _, i := range order {
		for at := i; at < len(w.Data); at += w.Stride {
			if w.Data[at] != 0 {
				found = append(found, i)
				break
			}
		}
	}
	return found
}

// A sampleBlock is samples whose weights move before W·K follows.
type sampleBlock struct {
	samples  []int
	products *mat.Dense // of them with each other; of each with those before it and itself
	// Their columns of B and W, samples × k.
	linear, weight *mat.Dense
}

// newSampleBlocks returns blocks with room for n samples and k basis vectors.
func newSampleBlocks(n, k int) []sampleBlock {
	blocks := make([]sampleBlock, parallel.Count(n, blockSamples))
	for at := range blocks {
		size := min(blockSamples, n-at*blockSamples)
		blocks[at] = sampleBlock{products: mat.NewDense(size, size, nil), linear: mat.NewDense(size, k, nil), weight: mat.NewDense(size, k, nil)}
	}
	return blocks
}

// takeSamples gives the first of the blocks the samples, and returns these blocks.
func takeSamples(blocks []sampleBlock, samples []int, k *mat.Dense) []sampleBlock {
	count := parallel.Count(len(samples), blockSamples)
	for at := range count {
		b := &blocks[at]
		b.samples = samples[at*blockSamples : min((at+1)*blockSamples, len(samples))]
		for a, i := range b.samples {
			row, products := k.RawRowView(i), b.products.RawRowView(a)
			for c, j := range b.samples[:a+1] {
				products[c] = row[j]
			}
		}
	}
	return blocks[:count]
}

// sweepWeights goes once over the samples, or until ctx ends, and tells whether any weight has moved.
func (s *fastConcept) sweepWeights(ctx context.Context, blocks []sampleBlock) (moved bool) {
	for _, block := range blocks {
		if ctx.Err() != nil {
			return false
		}
		readColumns(s.block.kw, s.m.kw, block.samples)
		if s.block.move(block.linear, block.weight, block.products, len(block.samples)) {
			moved = true
			s.follow(block)
		}
	}
	return moved
}

// follow brings W and W·K up to date once weights of a block have moved. Most entries of W are 0
// and stay so, and of a sample that has moved few have.
func (s *fastConcept) follow(block sampleBlock) {
	k, kw, products, weight := s.m.k.RawMatrix(), s.m.kw.RawMatrix(), block.products.RawMatrix(), block.weight.RawMatrix()
	whole := k.Stride == kw.Stride && simd.Width(k.Stride) == k.Stride
	for r := range s.largest {
		moved, by := s.block.changed(r)
		if len(moved) == 0 {
			continue
		}
		s.at = s.at[:0]
		to := s.m.w.RawRowView(r)
		for _, a := range moved {
			i, x := block.samples[a], weight.Data[a*weight.Stride+r]
			to[i] = x
			s.largest[r] = max(s.largest[r], x*math.Sqrt(products.Data[a*products.Stride+a]))
			s.at = append(s.at, i)
		}
		row := kw.Data[r*kw.Stride:]
		if whole {
			simd.AddRows(row[:kw.Stride], by, k.Data, s.at)
			continue
		}
		for at, i := range s.at {
			algebra.Axpy(by[at], k.Data[i*k.Stride:][:kw.Cols], row)
		}
	}
}

// read reads the columns of B and W of blocks.
func (s *fastConcept) read(blocks []sampleBlock) {
	for _, b := range blocks {
		readColumns(b.linear, s.m.kv, b.samples)
		readColumns(b.weight, s.m.w, b.samples)
	}
}

// readColumns writes some columns of a to the first rows of dst.
func readColumns(dst, a *mat.Dense, columns []int) {
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

// A weightBlock moves the weights of some samples one after another. Its rows are as long as
// simd.Width says.
type weightBlock struct {
	kw               *mat.Dense // samples × k
	gram             *mat.Dense // k×k
	gradient, before []float64  // of a sample, and its weights before
	at               []int      // of each basis vector: the samples whose weights have moved, k × blockSamples
	by               []float64  // and by how much
	count            []int      // and how many
	numbers          []int      // 0, 1, …
	k                int
}

func newWeightBlock(k int) *weightBlock {
	width := simd.Width(k)
	b := &weightBlock{
		kw: mat.NewDense(blockSamples, width, nil), gram: mat.NewDense(width, width, nil),
		gradient: make([]float64, width), before: make([]float64, k),
		at: make([]int, k*blockSamples), by: make([]float64, k*blockSamples), count: make([]int, k),
		numbers: make([]int, width), k: k,
	}
	for i := range b.numbers {
		b.numbers[i] = i
	}
	return b
}

// setGram sets the matrix of the quadratic term, k×k.
func (b *weightBlock) setGram(m *mat.Dense) {
	for r := range b.k {
		copy(b.gram.RawRowView(r), m.RawRowView(r))
	}
}

// changed returns the samples whose weights in basis vector r have moved, and by how much.
func (b *weightBlock) changed(r int) (at []int, by []float64) {
	from, count := r*blockSamples, b.count[r]
	return b.at[from:][:count], b.by[from:][:count]
}

// move moves the weights of the first count samples, given B, samples × k, and the inner products of
// the samples, each with those before it and itself, and W·K in kw with them. It tells whether any moved.
func (b *weightBlock) move(linear, weights, products *mat.Dense, count int) (moved bool) {
	clear(b.count)
	kw, product := b.kw.RawMatrix(), products.RawMatrix()
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

// moveWeights moves the weights of a sample by coordinate descent, and the gradient with
// them, and tells whether they have moved. The second derivative is size·gram. Weights that
// stay cost nothing but a look at their gradient (as in RcppML, DeBruine, Melcher and
// Triche 2021).
func (b *weightBlock) moveWeights(w []float64, size float64) (moved bool) {
	gram, gradient := b.gram.RawMatrix(), b.gradient
	var first float64
	for t := range mostSweeps {
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
		if moved = true; step <= stillShare*first {
			break
		}
	}
	return moved
}
