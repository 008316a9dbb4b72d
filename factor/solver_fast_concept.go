package factor

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// How often an iteration goes over the weights of all samples, how often it sweeps the
// coefficients at most, and how many samples' weights move between two products with the
// data. After refreshAfter iterations what is brought up to date bit by bit is computed
// anew.
const (
	weightSweeps      = 3
	coefficientSweeps = 10
	weightBlock       = 32
	refreshAfter      = 50
	shrunkShare       = 1e-3
)

// fastConcept lowers the Frobenius cost of a concept basis, which in W is
// ½·tr(MWKWᵀ) − tr(WBᵀ), M = VVᵀ and B = VK (in the papers' orientation VᵀV and KV). The
// weights w of one sample after another move nearly to the minimum of
// ½κ·wᵀMw − lᵀw over w ≥ 0, κ being the sample's inner product with itself. Samples are
// taken in blocks: within a block the gradients of the later ones follow what moves, and
// those of all others follow by one product once the block is done.
type fastConcept struct {
	f     *Factorisation
	m     *conceptModel
	order []int // of the samples, which is not that of the data
	sums  conceptSums
	since int // iterations since all was computed

	// Of a block, samples × k: the columns of W·K, the gradients, the weights and what
	// they have changed by; and the inner products of its samples.
	kw, gradient, weight, change, products *mat.Dense
	before                                 []float64

	largest []float64 // the longest that went into each basis vector since all was computed
}

// conceptSums keeps the inner products of W·X with the samples up to date while W moves.
type conceptSums interface {
	// read writes those with the samples of a block to the rows of kw, and the inner
	// products of these samples. at is the block's number.
	read(kw, products *mat.Dense, at int, block []int)
	// add follows the changes of the weights of the samples: a row each.
	add(change *mat.Dense, samples []int)
	// finish brings the model's W·K up to date.
	finish()
	// restart begins with the model's W.
	restart()
}

func startFastConcept(f *Factorisation) func(context.Context) error {
	m := f.model.(*conceptModel)
	scaleStart(f)
	k, n := m.w.Dims()
	block := min(weightBlock, n)
	s := &fastConcept{
		f: f, m: m, order: f.sampleOrder(),
		kw: mat.NewDense(block, k, nil), gradient: mat.NewDense(block, k, nil), weight: mat.NewDense(block, k, nil),
		change: mat.NewDense(block, k, nil), products: mat.NewDense(block, block, nil),
		before: make([]float64, k), largest: make([]float64, k),
	}
	switch x := m.x.(type) {
	case denseData:
		s.sums = &denseSums{m: m, x: x.x}
	case *sparseData:
		s.sums = &sparseSums{m: m, x: x}
	}
	if m.k != nil {
		s.sums = &formedSums{m: m}
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
		f.whole.each(func(i, j int, x float64) {
			_, share := math.Modf(float64(j+1) * math.Phi)
			key[i] += x * share
		})
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
	for range weightSweeps {
		if !s.sweepWeights() {
			break
		}
	}
	s.sums.finish()
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
	s.sums.restart()
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

// sweepWeights goes once over all samples, and tells whether any weight has moved.
func (s *fastConcept) sweepWeights() (moved bool) {
	m, n := s.m, len(s.order)
	k, _ := m.w.Dims()
	for from := 0; from < n; from += weightBlock {
		block := s.order[from:min(from+weightBlock, n)]
		s.sums.read(s.kw, s.products, from/weightBlock, block)
		gemm(s.gradient, s.kw, noTrans, m.vv, noTrans)
		for r := range k {
			kv, w := m.kv.RawRowView(r), m.w.RawRowView(r)
			for a, i := range block {
				s.gradient.Set(a, r, s.gradient.At(a, r)-kv[i])
				s.weight.Set(a, r, w[i])
			}
		}
		var samples []int
		for a, i := range block {
			products := s.products.RawRowView(a)
			size := products[a]
			change, gradient, weight := s.change.RawRowView(len(samples)), s.gradient.RawRowView(a), s.weight.RawRowView(a)
			copy(change, weight)
			copy(s.before, gradient)
			if !moveWeights(weight, gradient, m.vv, size) {
				continue
			}
			for r, x := range weight {
				m.w.Set(r, i, x)
				s.largest[r] = max(s.largest[r], x*math.Sqrt(size))
				change[r] = x - change[r]
				s.before[r] = gradient[r] - s.before[r]
			}
			for b := a + 1; b < len(block); b++ {
				axpy(products[b]/size, s.before, s.gradient.RawRowView(b))
			}
			samples = append(samples, i)
		}
		if len(samples) > 0 {
			s.sums.add(s.change.Slice(0, len(samples), 0, k).(*mat.Dense), samples)
			moved = true
		}
	}
	return moved
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

// formedSums has the inner products of all samples.
type formedSums struct {
	m    *conceptModel
	rows *mat.Dense // of some samples
}

func (s *formedSums) restart() {}

func (s *formedSums) finish() { s.m.haveU = false }

func (s *formedSums) read(kw, products *mat.Dense, _ int, block []int) {
	k, _ := s.m.kw.Dims()
	for r := range k {
		row := s.m.kw.RawRowView(r)
		for a, i := range block {
			kw.Set(a, r, row[i])
		}
	}
	for a, i := range block {
		row := s.m.k.RawRowView(i)
		for b, j := range block {
			products.Set(a, b, row[j])
		}
	}
}

func (s *formedSums) add(change *mat.Dense, samples []int) {
	s.rows = gathered(s.rows, s.m.k, samples)
	blas.Gemm(trans, noTrans, 1, change.RawMatrix(), s.rows.RawMatrix(), 1, s.m.kw.RawMatrix())
}

// gathered returns the rows of a, in buf where there is room.
func gathered(buf, a *mat.Dense, rows []int) *mat.Dense {
	_, m := a.Dims()
	var data []float64
	if buf != nil {
		data = buf.RawMatrix().Data
	}
	data = slices.Grow(data[:0], len(rows)*m)[:len(rows)*m]
	buf = mat.NewDense(len(rows), m, data)
	for a0, i := range rows {
		copy(buf.RawRowView(a0), a.RawRowView(i))
	}
	return buf
}

// denseSums keeps U = W·X of samples that are stored whole.
type denseSums struct {
	m        *conceptModel
	x        *mat.Dense
	u        *mat.Dense // k×m
	rows     *mat.Dense // of some samples
	products []*mat.Dense
}

func (s *denseSums) restart() { s.u = mat.DenseCopyOf(s.m.vectors()) }

func (s *denseSums) finish() {
	s.m.u.Copy(s.u)
	s.m.haveU = true
	s.m.x.timesBasis(s.m.kw, s.m.u)
}

func (s *denseSums) read(kw, products *mat.Dense, at int, block []int) {
	s.rows = gathered(s.rows, s.x, block)
	b := len(block)
	k, _ := s.u.Dims()
	gemm(kw.Slice(0, b, 0, k).(*mat.Dense), s.rows, noTrans, s.u, trans)
	if at == len(s.products) {
		s.products = append(s.products, selfGram(s.rows))
	}
	products.Slice(0, b, 0, b).(*mat.Dense).Copy(s.products[at])
}

func (s *denseSums) add(change *mat.Dense, samples []int) {
	s.rows = gathered(s.rows, s.x, samples)
	blas.Gemm(trans, noTrans, 1, change.RawMatrix(), s.rows.RawMatrix(), 1, s.u.RawMatrix())
}

// sparseSums is denseSums of samples of which only the values other than 0 are stored.
type sparseSums struct {
	m        *conceptModel
	x        *sparseData
	u        byColumn // U by features
	row      []float64
	products []*mat.Dense
}

func (s *sparseSums) restart() {
	s.u.read(s.m.vectors())
	s.row = make([]float64, s.u.width)
}

func (s *sparseSums) finish() {
	s.u.write(s.m.u)
	s.m.haveU = true
	s.m.x.timesBasis(s.m.kw, s.m.u)
}

func (s *sparseSums) read(kw, products *mat.Dense, at int, block []int) {
	for a, i := range block {
		cols, vals := s.x.x.Row(i)
		clear(s.row)
		simd.AddRows(s.row, vals, s.u.data, cols)
		copy(kw.RawRowView(a), s.row)
	}
	if at == len(s.products) {
		_, m := s.x.dims()
		sample, own := make([]float64, m), mat.NewDense(len(block), len(block), nil)
		for a, i := range block {
			cols, vals := s.x.x.Row(i)
			for p, j := range cols {
				sample[j] = vals[p]
			}
			for b := range a + 1 {
				var sum float64
				others, values := s.x.x.Row(block[b])
				for p, j := range others {
					sum += values[p] * sample[j]
				}
				own.Set(a, b, sum)
				own.Set(b, a, sum)
			}
			for _, j := range cols {
				sample[j] = 0
			}
		}
		s.products = append(s.products, own)
	}
	products.Slice(0, len(block), 0, len(block)).(*mat.Dense).Copy(s.products[at])
}

func (s *sparseSums) add(change *mat.Dense, samples []int) {
	for a, i := range samples {
		by := change.RawRowView(a)
		cols, vals := s.x.x.Row(i)
		for p, j := range cols {
			axpy(vals[p], by, s.u.row(j))
		}
	}
}
