package factor

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

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
// samples and the others over those that have weights. The inner products of all
// samples are formed; where they are not, [fastSelected] takes its place.
type fastConcept struct {
	f     *Factorisation
	m     *conceptModel
	order []int // of the samples, which is not that of the data
	since int   // iterations since all was computed

	block        *weightBlock
	kw, products *mat.Dense // of a block: the columns of W·K, samples × k, and the inner products of its samples
	at           []int      // samples whose weights in a basis vector have moved
	by           []float64  // and by how much
	isIn         []bool     // whether a sample has weights
	some         []int      // those that have, in order

	largest []float64 // the longest that went into each basis vector since all was computed
}

func startFastConcept(f *Factorisation) func(context.Context) error {
	m := f.model.(*conceptModel)
	scaleStart(f)
	if m.k == nil {
		return startFastSelected(f, m)
	}
	k, n := m.w.Dims()
	block := min(blockSamples, n)
	s := &fastConcept{
		f: f, m: m, order: f.sampleOrder(),
		kw: mat.NewDense(block, k, nil), products: mat.NewDense(block, block, nil),
		block: newWeightBlock(k), largest: make([]float64, k), isIn: make([]bool, n),
	}
	m.condense()
	s.restart()
	return s.iterate
}

// sampleOrder orders the samples by what they are, so that the answer does not depend on
// the order in which they come.
func (f *Factorisation) sampleOrder() []int {
	n := len(f.ties.group)
	key := make([]float64, n)
	if f.kernel != nil && f.kernel.samples == nil {
		denseData{f.kernel.values}.each(func(i, j int, x float64) {
			if i != j {
				key[i] += x
			}
		})
	} else {
		_, m := f.whole.dims()
		share := make([]float64, m)
		for j := range share {
			_, share[j] = math.Modf(float64(j+1) * math.Phi)
		}
		switch x := f.whole.(type) {
		case denseData:
			eachRow(x.x, 1, func(i int, row []float64) {
				key[i] = dot(row, share)
			})
		default:
			x.each(func(i, j int, v float64) { key[i] += v * share[j] })
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(key[i], key[j]) })
	return order
}

func (s *fastConcept) iterate(context.Context) error {
	f, m := s.f, s.m
	before := f.Objective()
	f.Keep()
	m.basisProducts()
	samples := s.order
	for range weightSweeps {
		if !s.sweepWeights(samples) {
			break
		}
		samples = s.haveWeights()
	}
	m.haveU = false
	m.h, f.known = nil, false
	m.condense()
	if s.since++; s.since == refreshAfter || s.shrunk() {
		f.Moved(0)
		m.condense()
		s.restart()
	}
	minimiseRows(m.v, m.v, m.lin, m.h, coefficientSweeps)
	f.Moved(1)
	if !(f.Objective() <= before) { // by rounding
		f.Restore()
		m.condense()
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

// haveWeights returns the samples that have weights, in their order.
func (s *fastConcept) haveWeights() []int {
	clear(s.isIn)
	k, _ := s.m.w.Dims()
	for r := range k {
		for i, x := range s.m.w.RawRowView(r) {
			if x != 0 {
				s.isIn[i] = true
			}
		}
	}
	s.some = s.some[:0]
	for _, i := range s.order {
		if s.isIn[i] {
			s.some = append(s.some, i)
		}
	}
	return s.some
}

// sweepWeights goes once over the samples, and tells whether any weight has moved.
func (s *fastConcept) sweepWeights(samples []int) (moved bool) {
	m, n := s.m, len(samples)
	k, _ := m.w.Dims()
	for from := 0; from < n; from += blockSamples {
		block := samples[from:min(from+blockSamples, n)]
		s.read(block)
		of := s.block
		of.resize(len(block))
		gemm(of.gradient, s.kw.Slice(0, len(block), 0, k).(*mat.Dense), noTrans, m.vv, noTrans)
		for r := range k {
			kv, w := m.kv.RawRowView(r), m.w.RawRowView(r)
			for a, i := range block {
				of.gradient.Set(a, r, of.gradient.At(a, r)-kv[i])
				of.weight.Set(a, r, w[i])
			}
		}
		moves, _ := of.move(m.vv, s.products)
		if len(moves) == 0 {
			continue
		}
		moved = true
		for _, a := range moves {
			i, size := block[a], s.products.At(a, a)
			for r, x := range of.weight.RawRowView(a) {
				m.w.Set(r, i, x)
				s.largest[r] = max(s.largest[r], x*math.Sqrt(size))
			}
		}
		s.follow(block, moves)
	}
	return moved
}

// follow brings W·K up to date once weights of a block have moved. Most entries of W are 0
// and stay so, and of a sample that has moved few have.
func (s *fastConcept) follow(block, moves []int) {
	k := s.m.k.RawMatrix()
	for r := range len(s.largest) {
		s.at, s.by = s.at[:0], s.by[:0]
		for to, a := range moves {
			if by := s.block.change.At(to, r); by != 0 {
				s.at, s.by = append(s.at, block[a]), append(s.by, by)
			}
		}
		row := s.m.kw.RawRowView(r)
		if k.Stride == len(row) && simd.Width(len(row)) == len(row) {
			simd.AddRows(row, s.by, k.Data, s.at)
			continue
		}
		for at, i := range s.at {
			axpy(s.by[at], k.Data[i*k.Stride:][:len(row)], row)
		}
	}
}

// read reads the columns of W·K of a block and the inner products of its samples.
func (s *fastConcept) read(block []int) {
	for r := range len(s.largest) {
		row := s.m.kw.RawRowView(r)
		for a, i := range block {
			s.kw.Set(a, r, row[i])
		}
	}
	for a, i := range block {
		row := s.m.k.RawRowView(i)
		for b, j := range block {
			s.products.Set(a, b, row[j])
		}
	}
}

// A weightBlock is some samples whose weights move one after another, the gradients of the
// later ones with them: samples × k. What changes of the weights that have moved stands in
// the first rows of change.
type weightBlock struct {
	gradient, weight, change *mat.Dense
	before                   []float64
	moves                    []int
}

func newWeightBlock(k int) *weightBlock {
	return &weightBlock{before: make([]float64, k), gradient: mat.NewDense(blockSamples, k, nil)}
}

// resize makes room for so many samples.
func (b *weightBlock) resize(samples int) {
	k := len(b.before)
	b.gradient, b.weight, b.change = resized(b.gradient, samples, k), resized(b.weight, samples, k), resized(b.change, samples, k)
}

// move moves the weights, given the inner products of the samples. It returns which of the
// samples' have moved, and about how much that lowers the objective, twice.
func (b *weightBlock) move(gram, products *mat.Dense) (moves []int, step float64) {
	count, _ := b.weight.Dims()
	b.moves = b.moves[:0]
	for a := range count {
		products := products.RawRowView(a)[:count]
		size := products[a]
		change, gradient, weight := b.change.RawRowView(len(b.moves)), b.gradient.RawRowView(a), b.weight.RawRowView(a)
		copy(change, weight)
		copy(b.before, gradient)
		if !moveWeights(weight, gradient, gram, size) {
			continue
		}
		for r, x := range weight {
			change[r] = x - change[r]
			b.before[r] = gradient[r] - b.before[r]
			step += change[r] * b.before[r]
		}
		for c := a + 1; c < count; c++ {
			axpy(products[c]/size, b.before, b.gradient.RawRowView(c))
		}
		b.moves = append(b.moves, a)
	}
	return b.moves, step
}

// moveWeights moves the weights of a sample by coordinate descent, and the gradient with
// them, and tells whether they have moved. The second derivative is size·m. Weights that
// stay cost nothing but a look at their gradient (as in RcppML, DeBruine, Melcher and
// Triche 2021).
func moveWeights(w, gradient []float64, m *mat.Dense, size float64) (moved bool) {
	var first float64
	for t := range mostSweeps {
		var step float64
		for r, x := range w {
			g := gradient[r]
			if x == 0 && g >= 0 {
				continue
			}
			row := m.RawRowView(r)
			curvature := size * row[r]
			if !(curvature >= leastDenominator) {
				continue
			}
			y := max(0, x-g/curvature)
			if y < floor {
				y = 0
			}
			if y == x {
				continue
			}
			w[r] = y
			axpy(size*(y-x), row, gradient)
			step += curvature * (y - x) * (y - x)
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

// gathered returns the rows of a, in buf where there is room.
func gathered(buf, a *mat.Dense, rows []int) *mat.Dense {
	_, m := a.Dims()
	buf = resized(buf, len(rows), m)
	for to, i := range rows {
		copy(buf.RawRowView(to), a.RawRowView(i))
	}
	return buf
}
