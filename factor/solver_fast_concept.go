package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// The most sweeps of an iteration, and after how many iterations everything is computed anew.
const (
	weightSweeps      = 5
	coefficientSweeps = 10
	refreshAfter      = 50
	shrunkShare       = 1e-3
)

// fastConcept lowers the Frobenius cost of a concept basis, which in W is ½·tr(MWKWᵀ) − tr(WBᵀ), M = VVᵀ
// and B = VK (in the papers' orientation VᵀV and KV). The weights w of one sample after another move nearly
// to the minimum of ½κ·wᵀMw − lᵀw over w ≥ 0, κ being the sample's inner product with itself. Within a block
// of samples gradients follow each move; W·K follows once a block is done.
type fastConcept struct {
	f     *Factorisation
	m     *conceptModel
	order []int // of the samples, which is not that of the data
	since int   // iterations since all was computed

	block   *descent.WeightBlock
	at      []int     // samples whose weights in a basis vector have moved
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
	k, _ := m.w.Dims()
	s := &fastConcept{f: f, m: m, order: order, block: descent.NewWeightBlock(k), largest: make([]float64, k)}
	m.condense()
	s.restart()
	return s.iterate, nil
}

// sampleOrder orders the samples by their values, so that the answer does not depend on their order.
func (f *Factorisation) sampleOrder() []int {
	n := len(f.ties.Group)
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
		if x, ok := f.whole.(view.Dense); ok {
			algebra.EachRow(x.X, 1, func(i int, row []float64) { key[i] = algebra.Dot(row, share) })
		} else {
			f.whole.Each(func(i, j int, v float64) { key[i] += v * share[j] })
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
	s.block.SetGram(m.vv)
	moved := s.sweepWeights(ctx, descent.SampleBlocks(s.order, m.k, m.kv, m.w))
	var weighted []int
	for _, i := range s.order {
		if mat.Max(m.w.ColView(i)) > 0 {
			weighted = append(weighted, i)
		}
	}
	some := descent.SampleBlocks(weighted, m.k, m.kv, m.w)
	for sweep := 1; moved && sweep < weightSweeps; sweep++ {
		moved = s.sweepWeights(ctx, some)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.haveU = false
	m.h, f.known = nil, false
	m.condense()
	if s.since++; s.since == refreshAfter || s.shrunk() {
		f.Moved(0)
		m.condense()
		s.restart()
	}
	if err := descent.MinimiseRows(ctx, m.v, m.v, m.lin, m.h, coefficientSweeps); err != nil {
		return err
	}
	f.Moved(1)
	if !(f.Objective() <= before) { // by rounding
		f.Restore()
		m.condense()
		s.restart()
	}
	return nil
}

// length is that of basis vector r.
func (s *fastConcept) length(r int) float64 { return math.Sqrt(max(s.m.h.At(r, r), 0)) }

// restart begins to follow W·K from where the model is.
func (s *fastConcept) restart() {
	s.since = 0
	for r := range s.largest {
		s.largest[r] = s.length(r)
	}
}

// shrunk tells whether a basis vector is so short beside the longest that went into it that its part of W·K
// has lost digits.
func (s *fastConcept) shrunk() bool {
	for r, largest := range s.largest {
		if s.length(r) < shrunkShare*largest {
			return true
		}
	}
	return false
}

// sweepWeights goes once over the samples, or until ctx ends, and tells whether any weight has moved.
func (s *fastConcept) sweepWeights(ctx context.Context, blocks []descent.SampleBlock) (moved bool) {
	for _, block := range blocks {
		if ctx.Err() != nil {
			return false
		}
		descent.ReadColumns(s.block.Kw, s.m.kw, block.Samples)
		if s.block.Move(block.Linear, block.Weight, block.Products, len(block.Samples)) {
			moved = true
			s.follow(block)
		}
	}
	return moved
}

// follow brings W and W·K up to date once weights of a block have moved, most of which are 0 and stay so.
func (s *fastConcept) follow(block descent.SampleBlock) {
	k, kw, products, weight := s.m.k.RawMatrix(), s.m.kw.RawMatrix(), block.Products.RawMatrix(), block.Weight.RawMatrix()
	whole := k.Stride == kw.Stride && simd.Width(k.Stride) == k.Stride
	for r := range s.largest {
		moved, by := s.block.At[r], s.block.By[r]
		if len(moved) == 0 {
			continue
		}
		s.at = s.at[:0]
		to := s.m.w.RawRowView(r)
		for _, a := range moved {
			i, x := block.Samples[a], weight.Data[a*weight.Stride+r]
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
