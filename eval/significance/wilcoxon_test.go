package significance

import (
	"cmp"
	"math"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// plainWilcoxon enumerates all signs of the differences.
func plainWilcoxon(a, b []float64) float64 {
	var d []float64
	for i := range a {
		if a[i] != b[i] {
			d = append(d, a[i]-b[i])
		}
	}
	rank := make([]float64, len(d))
	for i := range d {
		for j := range d {
			switch c := cmp.Compare(math.Abs(d[j]), math.Abs(d[i])); {
			case c < 0:
				rank[i]++
			case c == 0:
				rank[i] += 0.5
			}
		}
		rank[i] += 0.5
	}
	sum := func(positive func(i int) bool) (s float64) {
		for i, r := range rank {
			if positive(i) {
				s += r
			} else {
				s -= r
			}
		}
		return math.Abs(s)
	}
	seen := sum(func(i int) bool { return d[i] > 0 })
	extreme := 0
	for signs := range 1 << len(d) {
		if sum(func(i int) bool { return signs>>i&1 == 1 }) >= seen {
			extreme++
		}
	}
	return float64(extreme) / float64(int(1)<<len(d))
}

func TestWilcoxonMatchesPlain(t *testing.T) {
	random := rng.New(1, "wilcoxon")
	for trial := range 200 {
		n := random.IntN(11)
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			// Small integers often tie or are 0.
			a[i], b[i] = float64(random.IntN(6)), float64(random.IntN(6))
			if trial%2 == 0 {
				a[i] = random.Float64() * 9
			}
		}
		if got, want := Wilcoxon(a, b), plainWilcoxon(a, b); !near(got, want, 1e-12) {
			t.Errorf("p = %v, want %v for %v and %v", got, want, a, b)
		}
		if Wilcoxon(a, b) != Wilcoxon(b, a) {
			t.Errorf("p depends on the side for %v and %v", a, b)
		}
	}
}

func TestWilcoxonValues(t *testing.T) {
	count := func(n int, v func(i int) float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = v(i)
		}
		return x
	}
	zero := func(int) float64 { return 0 }
	for _, test := range []struct {
		name string
		a, b []float64
		want float64
	}{
		{"nothing", nil, nil, 1},
		{"all equal", []float64{1, 2, 3}, []float64{1, 2, 3}, 1},
		{"one difference", []float64{1, 2}, []float64{1, 3}, 1},
		{"ten of one sign", count(10, func(i int) float64 { return float64(i + 1) }), count(10, zero), 2. / 1024},
		// Tied except for rounding: all ranks are 2, so two or more of three equal signs are certain.
		{"rounding", []float64{0.8, 0.6, 0.1}, []float64{0.7, 0.5, 0.2}, 1},
		{"25 of one sign", count(25, func(i int) float64 { return float64(i + 1) }), count(25, zero), 2. / (1 << 25)},
		// Above 25: W = 0, mean 26·27/4, variance 26·27·53/24.
		{"26 of one sign", count(26, func(i int) float64 { return float64(i + 1) }), count(26, zero),
			math.Erfc((175.5 - 0.5) / math.Sqrt(26*27*53/24.) / math.Sqrt2)},
		// 30 ties: variance 30·31·61/24 − (30³ − 30)/48; 20 are positive.
		{"30 tied", count(30, func(i int) float64 { return float64(1 - 2*(i%3/2)) }), count(30, zero),
			math.Erfc((77.5 - 0.5) / math.Sqrt(30*31*61/24.-(30*30*30-30)/48.) / math.Sqrt2)},
		{"balanced", count(40, func(i int) float64 { return float64(1 - 2*(i%2)) }), count(40, zero), 1},
	} {
		if got := Wilcoxon(test.a, test.b); !near(got, test.want, 1e-12*max(test.want, 1e-3)) {
			t.Errorf("%s: p = %v, want %v", test.name, got, test.want)
		}
	}
}

// TestWilcoxonApproximation compares the approximation with the exact p at the largest exact size.
func TestWilcoxonApproximation(t *testing.T) {
	random := rng.New(1, "approximation")
	for range 50 {
		a, b := make([]float64, 26), make([]float64, 26)
		for i := range a {
			a[i] = random.NormFloat64() + 0.3
		}
		ranks, positive := signedRanks(a, b)
		sum, total := 0, 0
		for i, r := range ranks {
			total += r
			if positive[i] {
				sum += r
			}
		}
		if got, want := Wilcoxon(a, b), exactP(ranks, total, min(sum, total-sum)); !near(got, want, 0.01) {
			t.Errorf("p = %v, exactly %v", got, want)
		}
	}
}
