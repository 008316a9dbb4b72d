package factor

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// SymNMF is symmetric NMF of the samples' similarities (Kuang, Ding and Park 2012),
//
//	min ‖A − VVᵀ‖², A = D^-½·S·D^-½, V ≥ 0
//
// S holds the similarities, n×n, and D is the diagonal matrix of their row sums. A step is V ← V∘[(AV)/(VVᵀV)]^⅓, with which
// the objective never rises (He, Xie, Zdunek, Zhou and Cichocki 2011). The largest coefficient of a sample is its cluster.
// Result.Basis and Model are nil. Labels and links have no effect; see [SSNMF] for these.
type SymNMF struct {
	// Similarity is the source of S.
	Similarity Similarity `setting:"similarity" help:"similarities: graph (of nearest neighbours) or kernel"`
	Neighbourhood
	Kernel
	// Given, if set, is A itself, symmetric n×n with values ≥ 0.
	Given *mat.Dense
}

// Similarity is the source of the similarities of [SymNMF].
type Similarity int

const (
	SimilarityGraph  Similarity = iota // the weights of the graph of Neighbourhood
	SimilarityKernel                   // the values of Kernel, which must be ≥ 0
)

var similarityNames = enum.Of[Similarity]("similarity", "graph", "kernel")

// String returns the name of the similarities in settings.
func (s Similarity) String() string                   { return similarityNames.String(s) }
func (s *Similarity) UnmarshalText(name []byte) error { return similarityNames.UnmarshalText(s, name) }
func (s Similarity) MarshalText() ([]byte, error)     { return similarityNames.MarshalText(s) }
func (Similarity) Values() []string                   { return similarityNames.Values() }

func (m SymNMF) Needs() Needs {
	return Needs{NoModel: true, Signed: m.Given != nil || m.Similarity == SimilarityGraph || m.Kernel.Function == KernelRBF}
}

func (m SymNMF) Memory(s Size) int64 {
	n := float64(s.Samples)
	similarities := 40 * n * n
	if m.Given == nil && m.Similarity == SimilarityGraph {
		similarities = 2 * s.graph(m.Neighbourhood)
	}
	return view.Bytes(float64(Parts{}.Memory(s)) + similarities)
}

// Fit implements [Method].
func (m SymNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	if err := checkEnums(m.Similarity); err != nil {
		return nil, err
	}
	d, err := newOwnRuleData(x, known, opt)
	if err != nil {
		return nil, err
	}
	a, err := m.similarities(ctx, x, d)
	if err != nil {
		return nil, err
	}
	n, _ := d.Dims()
	first, err := Parts{}.initial(ctx, x, d, view.NewCondensation(n, nil, nil, 2), opt)
	if err != nil {
		return nil, err
	}
	f := &similarityFactors{a: a, g: first.v, power: 1. / 3, sumSquares: view.SumSquares(a)}
	f.scale()
	return f.fit(ctx, opt)
}

// similarities returns A.
func (m SymNMF) similarities(ctx context.Context, x mat.Matrix, d view.Data) (view.Data, error) {
	n, _ := d.Dims()
	switch {
	case m.Given != nil:
		a, err := checkedSymmetric(m.Given, n, "the similarities", 0, nil)
		if err == nil {
			err = checkLargest(a)
		}
		return view.Dense{X: a}, err
	case m.Similarity == SimilarityGraph:
		s, err := m.Neighbourhood.graph(ctx, d)
		if err != nil {
			return nil, err
		}
		a := view.NewSparse(s)
		degree := inverseRoots(a)
		for i := range n {
			columns, values := s.Row(i)
			for p, j := range columns {
				values[p] *= degree[i] * degree[j]
			}
		}
		return view.NewSparse(s), nil
	}
	var s *mat.Dense
	if m.Kernel.isLinear() {
		var err error
		if s, err = innerProducts(ctx, d); err != nil {
			return nil, err
		}
	} else {
		k, err := m.Kernel.bind(ctx, x, d)
		if err != nil {
			return nil, err
		}
		s = k.values
	}
	if err := checkSimilarities(s); err != nil {
		return nil, err
	}
	degree := inverseRoots(view.Dense{X: s})
	s.Apply(func(i, j int, x float64) float64 { return x * degree[i] * degree[j] }, s)
	return view.Dense{X: s}, nil
}

// inverseRoots returns the inverse square roots of the row sums, 0 for rows of zeros.
func inverseRoots(s view.Data) []float64 {
	n, _ := s.Dims()
	out := make([]float64, n)
	s.Each(func(i, _ int, x float64) { out[i] += x })
	for i, x := range out {
		if x > 0 {
			out[i] = 1 / math.Sqrt(x)
		}
	}
	return out
}

// scale multiplies V by the factor that minimises the objective.
func (f *similarityFactors) scale() {
	ga := algebra.Like(f.g)
	f.a.TimesBasis(ga, f.g)
	gg := algebra.SelfGram(f.g)
	if by := math.Sqrt(algebra.Inner(ga, f.g) / algebra.Inner(gg, gg)); by > 0 && algebra.FiniteNumber(by) {
		f.g.Scale(by, f.g)
	}
}
