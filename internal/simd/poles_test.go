package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPoles: the terms of poles, their ratios and their sums are those of plain loops.
func TestPoles(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 7))
	for n := range 40 {
		z, d, p := numbers(n, src.NormFloat64), numbers(n, src.NormFloat64), numbers(n, src.NormFloat64)
		origin, tau, pole := src.NormFloat64(), 1e-9*src.NormFloat64(), src.NormFloat64()
		terms, ratios := make([]float64, n), slices.Clone(p)
		PoleTerms(terms, z, d, origin, tau)
		PoleRatios(ratios, d, origin, tau, pole)
		var want, sizes [3]float64
		for i, x := range d {
			x = x - origin - tau
			if term := z[i] / x; terms[i] != term || ratios[i] != p[i]*(x/(d[i]-pole)) {
				t.Fatalf("%d poles: term %d is %v, want %v, and the ratio %v, want %v", n, i, terms[i], term, ratios[i], p[i]*(x/(d[i]-pole)))
			}
			for s, x := range []float64{z[i] * terms[i], terms[i] * terms[i], float64(i) * z[i] * terms[i]} {
				want[s] += x
				sizes[s] += math.Abs(x)
			}
		}
		var got [3]float64
		got[0], got[1], got[2] = PoleSums(z, d, origin, tau)
		for s := range got {
			if !(math.Abs(got[s]-want[s]) <= 1e-14*sizes[s]) {
				t.Errorf("%d poles: sum %d is %v, want %v", n, s, got[s], want[s])
			}
		}
	}
}
