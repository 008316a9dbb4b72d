package factor

import "github.com/seed4492f2cd/partwise/factor/internal/view"

// Size says how large a problem is, for [Memory].
type Size struct {
	// Samples, Features and Rank are n, m and k.
	Samples, Features, Rank int
	// Stored is how many values a sparse matrix stores, 0 of a dense one.
	Stored int
	// Labelled is how many labels are known, and Links how many pairs.
	Labelled, Links int
	// Signed tells whether there are negative values.
	Signed bool
	// Init is that of Options.
	Init Init
}

// Memory returns about how many bytes Fit takes at most beside x: what the method's own
// Memory(Size) int64 says, or the estimate for factorisations or for linear embeddings, and 0
// of another method.
func Memory(method Method, s Size) int64 {
	switch m := method.(type) {
	case interface{ Memory(Size) int64 }:
		return m.Memory(s)
	case Composition:
		return m.AsParts().Memory(s)
	}
	if NeedsOf(method).Direct {
		return s.embedding()
	}
	return 0
}

// Memory is the estimate for factorisations: factors, parts of gradients, and copies of the data
// or inner products where the parts need them. Penalties can have a method Memory(Size) int64.
func (p Parts) Memory(s Size) int64 {
	n, m, k, factors := s.floats()
	need := 13*factors + 8*view.GramRows*(n+m) + 64*k*k
	if s.Stored > 0 { // the transpose, and factors in rows of four and more
		need += 16*float64(s.Stored) + 3*factors + 192*(n+m)
	}
	condensed := p.Tie == TieLabels || p.Weighting == WeightingNormalisedCut
	if condensed {
		need += s.data()
	}
	switch s.Init {
	case InitNMF:
		need += 2 * factors
	case InitNNDSVDa:
		need += 6*factors + 80*(n+m)
	}
	if p.Basis == BasisConcept {
		products := 0.0 // matrices of n×n
		switch {
		case !p.Kernel.Features():
			products = 6
		case s.Signed:
			products = 3
		case formsProducts(s.Samples, s.Features, true):
			products = 1
		}
		if condensed && products > 0 {
			products++
		}
		need += 64*k*n + products*8*n*n
	}
	if p.HeldOut != nil {
		held := 0
		for _, columns := range p.HeldOut {
			held += len(columns)
		}
		need += s.heldOut(float64(held))
	}
	for _, penalty := range p.Penalties {
		need += (450+32*k)*(n+m) + 250*float64(s.Links)
		if own, ok := penalty.(interface{ Memory(Size) int64 }); ok {
			need += float64(own.Memory(s))
		}
	}
	return view.Bytes(need)
}

// floats returns n, m and k, and the bytes of both factors.
func (s Size) floats() (n, m, k, factors float64) {
	n, m, k = float64(s.Samples), float64(s.Features), float64(s.Rank)
	return n, m, k, 8 * k * (n + m)
}

// data is the size of a copy of the data.
func (s Size) data() float64 {
	if s.Stored > 0 {
		return 80 * float64(s.Stored)
	}
	return 8 * float64(s.Samples) * float64(s.Features)
}

// heldOut is the size of held-out entries: the data without them, the entries in both orders, and
// what they add to gradients.
func (s Size) heldOut(held float64) float64 {
	n, m, _, factors := s.floats()
	return s.data() + 40*held + 5*factors + 192*(n+m)
}

// graph is the size of a neighbourhood graph.
func (s Size) graph(h Neighbourhood) float64 {
	n := float64(s.Samples)
	return 8*view.GramRows*n + 450*n*float64(min(h.neighbours(), s.Samples))
}

// embedding is the estimate for linear embeddings: the samples, dense, their principal directions,
// scatter matrices in them, and graphs over the samples.
func (s Size) embedding() int64 {
	n, m, _, factors := s.floats()
	r := min(n, m)
	return view.Bytes(16*n*m + 24*m*r + 24*n*r + 72*r*r + 2*factors + 9000*n)
}
