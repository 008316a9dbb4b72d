package factor

import (
	"context"
	"math"

	"github.com/seed4492f2cd/partwise/internal/memory"
)

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

// Memory returns about how many bytes Fit takes at most beside x: what the method's
// own Memory(Size) int64 says, or its [Parts] do, and 0 if there is neither.
func Memory(method Method, s Size) int64 {
	switch m := method.(type) {
	case interface{ Memory(Size) int64 }:
		return m.Memory(s)
	case Composition:
		return m.AsParts().Memory(s)
	}
	return 0
}

// Memory returns about how many bytes Fit takes at most beside x: with penalties what
// those say that have a method Memory(Size) int64.
func (p Parts) Memory(s Size) int64 {
	condensed := p.Tie == TieLabels || p.Weighting == WeightingNormalisedCut
	need := s.additive(condensed)
	if p.Basis == BasisConcept {
		need = s.concept(condensed, p.Kernel)
	}
	if p.Cost == CostFrobenius && !p.gram() {
		need += s.laidOut()
	}
	if p.Cost == CostKL {
		need += s.laidOut() / 2 // of fast, in single precision
	}
	if p.HeldOut != nil {
		held := 0
		for _, columns := range p.HeldOut {
			held += len(columns)
		}
		need += s.heldOut(float64(held))
	}
	for _, penalty := range p.Penalties {
		if m, ok := penalty.(interface{ Memory(Size) int64 }); ok {
			need += float64(m.Memory(s))
		}
	}
	return byteCount(need)
}

// byteCount is a number of bytes that may be beyond all numbers.
func byteCount(need float64) int64 { return int64(min(need, math.MaxInt64/2)) }

// factors is the size of both factors.
func (s Size) factors() float64 {
	return 8 * float64(s.Rank) * (float64(s.Samples) + float64(s.Features))
}

// similarities is the size of an n×n matrix.
func (s Size) similarities() float64 { return 8 * float64(s.Samples) * float64(s.Samples) }

// panels is the size of what goes along samples a few rows at a time.
func (s Size) panels() float64 {
	return 8 * gramRows * (float64(s.Samples) + float64(s.Features))
}

// additive is what the engine takes with a free basis: both factors, how they
// start, the parts of their gradients, the result and what scales them, what a solver
// remembers, and where the data is condensed, a copy of it.
func (s Size) additive(condensed bool) float64 {
	k := float64(s.Rank)
	need := 13*s.factors() + s.panels() + 64*k*k
	copies := 8 * float64(s.Samples) * float64(s.Features)
	if s.Stored > 0 {
		// The transpose, and transposed factors, in rows of four and more.
		stored := float64(s.Stored)
		need += 16*stored + 3*s.factors() + 3*64*(float64(s.Samples)+float64(s.Features))
		copies = 80 * stored
	}
	if condensed {
		need += copies
	}
	switch s.Init {
	case InitNMF:
		need += 2*s.factors() + s.laidOut()
	case InitNNDSVDa:
		need += 6*s.factors() + 80*(float64(s.Samples)+float64(s.Features))
	}
	return need
}

// laidOut is the size of dense data laid out for products with both factors.
func (s Size) laidOut() float64 {
	if s.Stored > 0 || !kept(s.Samples, s.Features) {
		return 0
	}
	return 2 * 8 * float64(s.Samples) * float64(s.Features)
}

// heldOut is what so many entries that are held out take: a copy of the data without them, they
// themselves in both orders, and what they add to the parts of the gradients.
func (s Size) heldOut(held float64) float64 {
	data := 8 * float64(s.Samples) * float64(s.Features)
	if s.Stored > 0 {
		data = 64 * float64(s.Stored)
	}
	return data + 40*held + 5*s.factors() + 3*64*(float64(s.Samples)+float64(s.Features))
}

// concept is what the engine takes with a concept basis.
func (s Size) concept(condensed bool, kernel Kernel) float64 {
	need := s.additive(condensed) + 64*float64(s.Rank)*float64(s.Samples)
	products := 0.0 // matrices of n×n
	switch {
	case !kernel.features():
		products = 6
	case s.Signed:
		products = 3
	case s.Samples <= 2*s.Features && s.Samples <= mostFormed, s.Samples <= mostFormedForFast:
		products = 1
	}
	if condensed && products > 0 {
		products++
	}
	if products > 0 && kept(s.Samples, s.Samples) {
		products++
		if condensed {
			products++
		}
	}
	return need + products*s.similarities()
}

// graph is what a neighbourhood graph and its penalty take.
func (s Size) graph(h Neighbourhood) float64 {
	p := h.Neighbours
	if p == 0 {
		p = 5
	}
	n := float64(s.Samples)
	need := s.panels() + 450*n*float64(min(p, s.Samples)) + 32*float64(s.Rank)*n
	return need
}

// links is what a penalty on links takes.
func (s Size) links() float64 {
	return 250*float64(s.Links) + 32*float64(s.Rank)*float64(s.Samples)
}

// embedding is what a linear embedding takes that learns from n samples:
// these, dense, their principal directions and scatter matrices in them.
func (s Size) embedding(samples int) float64 {
	n, m := float64(samples), float64(s.Features)
	r := min(n, m)
	return 16*n*m + 24*m*r + 16*n*r + 72*r*r + 2*s.factors() + 8*float64(s.Samples)*r
}

// checkMemory reports that a number of rows×columns matrices does not fit into the memory
// that the context allows. what is what they are called.
func checkMemory(ctx context.Context, what string, matrices, rows, columns int) error {
	need := byteCount(8 * float64(matrices) * float64(rows) * float64(columns))
	return memory.FromContext(ctx).Check(need, what)
}
