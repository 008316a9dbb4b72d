package significance

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// same returns n values x.
func same(n int, x float64) []float64 { return slices.Repeat([]float64{x}, n) }

// TestFewAndSame checks that with too few or equal differences, p-values are defined and intervals are not ok.
func TestFewAndSame(t *testing.T) {
	for name, c := range map[string]struct {
		a, b     []float64
		ratio    float64
		p        float64
		interval bool
		effect   bool
	}{
		"none":                      {nil, nil, 0, 1, false, false},
		"one":                       {[]float64{0.7}, []float64{0.6}, 0, 1, false, false},
		"two of one size":           {same(2, 0.7), same(2, 0.6), 0, 0.5, false, false},
		"ten of one size":           {same(10, 0.7), same(10, 0.6), 0.3, 1. / 512, false, false},
		"of one size but rounding":  {[]float64{0.8, 0.6, 0.1}, []float64{0.7, 0.5, 0}, 0, 0.25, false, false},
		"no difference":             {same(10, 0.7), same(10, 0.7), 0, 1, false, true},
		"a ratio beyond all bounds": {[]float64{1, 2, 3}, []float64{0, 0, 0.5}, math.Inf(1), 1, false, true},
		"a mean of 0":               {[]float64{1, 0, 3}, []float64{0, 1, 3}, 0, 1, true, true},
		"two":                       {[]float64{1, 0}, []float64{0, 0.5}, 0, 0.7951672353008666, true, true},
	} {
		r := NewResampled(c.a, c.b, c.ratio)
		low, high, ok := r.Interval(0.95)
		effect, known := r.Standardised()
		beyond := r.Beyond(0.01)
		signed := BayesSignedRank(c.a, c.b, 0.01, 3)
		if !near(r.P(), c.p, 1e-12) || ok != c.interval || known != c.effect {
			t.Errorf("%s: p = %v, an interval %v, an effect %v", name, r.P(), ok, known)
		}
		for _, x := range []float64{r.Mean, r.SD, r.P(), low, high, effect, beyond.Below, beyond.Within, beyond.Above, signed.Below, signed.Within, signed.Above, Wilcoxon(c.a, c.b), RankBiserial(c.a, c.b)} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%s: %v among %+v, [%v, %v], %v, %v, %v", name, x, r, low, high, effect, beyond, signed)
			}
		}
		for _, p := range []Probabilities{beyond, signed} {
			if !near(p.Below+p.Within+p.Above, 1, 1e-9) {
				t.Errorf("%s: %v do not add up to 1", name, p)
			}
		}
	}
}

// TestConstantBayes has n equal differences beyond the rope and the prior's difference of 0. The weight of 0 has a
// beta distribution, and above wins if it is below √½.
func TestConstantBayes(t *testing.T) {
	for _, n := range []int{1, 2, 5, 10} {
		want := 1 - math.Pow(1-math.Sqrt(0.5), float64(n))
		if got := NewResampled(same(n, 0.9), same(n, 0.5), 0.2).Beyond(0.01).Above; !near(got, want, 0.01) {
			t.Errorf("%d differences: got %v, want %v", n, got, want)
		}
	}
}

func TestBayesSeed(t *testing.T) {
	a, b := []float64{0.5, 0.7, 0.6, 0.9}, []float64{0.4, 0.72, 0.5, 0.8}
	if BayesSignedRank(a, b, 0.01, 1) != BayesSignedRank(a, b, 0.01, 1) {
		t.Error("one seed gives two numbers")
	}
	if BayesSignedRank(a, b, 0.01, 1) == BayesSignedRank(a, b, 0.01, 2) {
		t.Error("two seeds give the same numbers")
	}
	p, q := BayesSignedRank(a, b, 0.01, 1), BayesSignedRank(b, a, 0.01, 1)
	if !near(p.Above, q.Below, 0.02) || !near(p.Within, q.Within, 0.02) {
		t.Errorf("%v and %v are not each other's mirror images", p, q)
	}
}

// TestRatio compares the ratios with the covariances of simulated draws, in which each class has an effect.
func TestRatio(t *testing.T) {
	for _, d := range []Draws{
		{Classes: []int{3}, Of: 10}, {Classes: []int{9}, Of: 10}, {Classes: []int{2, 3, 4}, Of: 10}, {Classes: []int{2, 10}, Of: 10},
	} {
		// A score is the mean effect of the drawn classes, averaged over the numbers of classes. Draws are independent
		// of each other.
		random := rng.New(1, "ratio")
		weights := func() []float64 {
			w := make([]float64, d.Of)
			for _, k := range d.Classes {
				for _, c := range random.Perm(d.Of)[:k] {
					w[c] += 1 / float64(k*len(d.Classes))
				}
			}
			return w
		}
		var within, between float64
		const n = 200_000
		for range n {
			a, b := weights(), weights()
			for c := range a {
				within += a[c] * a[c] / n
				between += a[c] * b[c] / n
			}
		}
		rho := between / within
		if got, want := d.Ratio(), rho/(1-rho); math.Abs(got/want-1) > 0.05 {
			t.Errorf("%+v: got ratio %v, want %v from the draws", d, got, want)
		}
	}
	for _, c := range []struct {
		d      Draws
		ratio  float64
		beyond string
	}{
		{Draws{Classes: []int{5}, Of: 15}, 0.5, "classes like these"},
		{Draws{Classes: []int{15}, Of: 15}, 0, "these samples"},
		{Draws{Classes: []int{15}, Of: 15, Learned: 90, Scored: 45}, 0.5, "samples like these"},
		{Draws{Classes: []int{5}, Of: 15, Learned: 90, Scored: 45}, 0.5, "classes like these"},
		{Draws{}, 0, "these samples"},
	} {
		if got := c.d.Ratio(); !near(got, c.ratio, 1e-12) || c.d.Beyond() != c.beyond {
			t.Errorf("%+v: %v, %s", c.d, got, c.d.Beyond())
		}
	}
}

func TestFriedmanEdges(t *testing.T) {
	more := func(a, b float64) bool { return a > b }
	for name, c := range map[string]struct {
		scores [][]float64
		ranks  []float64
		p      float64
	}{
		"none":          {nil, nil, 1},
		"one set":       {[][]float64{{1, 2, 3}}, []float64{3, 2, 1}, 1},
		"one method":    {[][]float64{{1}, {2}}, []float64{1}, 1},
		"all tied":      {[][]float64{{1, 1}, {2, 2}, {3, 3}}, []float64{1.5, 1.5}, 1},
		"all agree":     {[][]float64{{1, 2}, {2, 3}, {3, 4}}, []float64{2, 1}, 2 / 8.},
		"a tie":         {[][]float64{{1, 2}, {2, 2}, {3, 4}, {4, 5}}, []float64{1.875, 1.125}, 2 / 8.},
		"two sets":      {[][]float64{{1, 2, 3}, {4, 5, 6}}, []float64{3, 2, 1}, 1 / 6.},
		"one of each":   {[][]float64{{1, 2}, {2, 1}}, []float64{1.5, 1.5}, 1},
		"ties share it": {[][]float64{{2, 2, 1}}, []float64{1.5, 1.5, 3}, 1},
	} {
		if d := cmp.Diff(c.ranks, Ranks(c.scores, more)); d != "" {
			t.Errorf("%s: ranks -want +got:\n%s", name, d)
		}
		if p, exact := Friedman(c.scores, more); !near(p, c.p, 1e-12) || !exact {
			t.Errorf("%s: p = %v, exact: %v", name, p, exact)
		}
	}
}

// TestFriedmanExact compares with the probabilities of χ² for three methods in tables 5 and 6 of Friedman 1937, and
// with the F distribution if both apply.
func TestFriedmanExact(t *testing.T) {
	more := func(a, b float64) bool { return a > b }
	orders := map[string][]float64{"123": {3, 2, 1}, "132": {3, 1, 2}, "213": {2, 3, 1}, "231": {2, 1, 3}, "312": {1, 3, 2}}
	for _, c := range []struct {
		sets []string
		p    float64
	}{
		{[]string{"123", "123", "123"}, 0.028},        // χ² = 6
		{[]string{"123", "123", "132"}, 0.194},        // 4.667
		{[]string{"123", "123", "123", "123"}, 0.005}, // 8
		{[]string{"123", "123", "123", "132"}, 0.042}, // 6.5
		{[]string{"123", "123", "123", "213", "213"}, 0.024},
	} {
		var scores [][]float64
		for _, order := range c.sets {
			scores = append(scores, orders[order])
		}
		if p, exact := Friedman(scores, more); !near(p, c.p, 5e-4) || !exact {
			t.Errorf("%v: p = %v, want %v, exact: %v", c.sets, p, c.p, exact)
		}
	}
	src := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		ranks := make([][]int, 12)
		for i := range ranks {
			ranks[i] = []int{2, 4, 6, 8}
			src.Shuffle(4, func(a, b int) { ranks[i][a], ranks[i][b] = ranks[i][b], ranks[i][a] })
			if i%3 > 0 {
				ranks[i] = []int{2, 4, 6, 8}
				ranks[i][i%4], ranks[i][0] = ranks[i][0], ranks[i][i%4]
			}
		}
		p, ok := friedmanExact(ranks)
		if f := imanDavenport(ranks); !ok || math.Abs(p-f) > 0.02 {
			t.Errorf("%v, p = %v, by F %v", ok, p, f)
		}
	}
	// Too many permutations for enumeration.
	many := make([][]float64, 12)
	for i := range many {
		many[i] = make([]float64, 12)
		for j := range many[i] {
			many[i][j] = src.Float64()
		}
	}
	if p, exact := Friedman(many, more); exact || !(p > 0 && p < 1) {
		t.Errorf("p = %v, exact: %v", p, exact)
	}
}

func TestGroups(t *testing.T) {
	ranks := []float64{4, 1, 2, 3, 5}
	apart := func(pairs ...[2]int) func(i, j int) bool {
		return func(i, j int) bool {
			return slices.Contains(pairs, [2]int{i, j}) || slices.Contains(pairs, [2]int{j, i})
		}
	}
	for name, c := range map[string]struct {
		differ func(i, j int) bool
		want   [][]int
	}{
		"none differ":    {apart(), [][]int{{1, 2, 3, 0, 4}}},
		"all differ":     {func(i, j int) bool { return true }, nil},
		"two that share": {apart([2]int{1, 0}, [2]int{1, 4}, [2]int{2, 4}), [][]int{{1, 2, 3}, {2, 3, 0}, {3, 0, 4}}},
		"one between":    {apart([2]int{1, 2}), [][]int{{2, 3, 0, 4}}},
	} {
		if d := cmp.Diff(c.want, Groups(ranks, c.differ)); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

// TestHolmHolds compares equal methods in 1000 tables. At most 6.5 % have a false mark with the correction, and at
// least 20 % without.
func TestHolmHolds(t *testing.T) {
	random := rng.New(5, "holm")
	const tables, methods, draws = 1000, 6, 10
	corrected, plain := 0, 0
	for range tables {
		var scores [methods][]float64
		for m := range scores {
			for range draws {
				scores[m] = append(scores[m], random.NormFloat64())
			}
		}
		var p []float64
		for i := range methods {
			for j := range i {
				p = append(p, NewResampled(scores[i], scores[j], 0).P())
			}
		}
		if slices.Min(p) < 0.05 {
			plain++
		}
		if slices.Min(Holm(p, nil)) < 0.05 {
			corrected++
		}
	}
	if corrected > tables*65/1000 || plain < tables/5 {
		t.Errorf("%d tables have a false mark, %d without the correction", corrected, plain)
	}
}

// TestHolmWeights gives one p-value and three others half of the weight each. Each family is then corrected by twice
// its own size, until a hypothesis is rejected.
func TestHolmWeights(t *testing.T) {
	for _, c := range []struct{ p, weights, want []float64 }{
		{[]float64{0.1, 0.2, 0.15, 0.3}, []float64{3, 1, 1, 1}, []float64{0.2, 0.45, 0.45, 0.45}},
		{[]float64{0.001, 0.02}, []float64{1, 3}, []float64{0.004, 0.02}}, // a rejected hypothesis leaves its weight to the others
	} {
		for i, p := range Holm(c.p, c.weights) {
			if !near(p, c.want[i], 1e-12) {
				t.Errorf("%v with %v: got %v, want %v", c.p, c.weights, p, c.want[i])
			}
		}
	}
}

// TestStratified checks that strata of equal spread have the degrees of freedom of all of them, and that one stratum
// gives the ordinary test.
func TestStratified(t *testing.T) {
	random := rng.New(2, "strata")
	draw := func() []float64 {
		x := make([]float64, 10)
		for i := range x {
			x[i] = random.NormFloat64() + 1
		}
		return x
	}
	one := NewResampled(draw(), same(10, 0), 0.3)
	if s := Stratified([]Resampled{one}, 0.3); !near(s.P(), one.P(), 1e-12) || !near(s.Mean, one.Mean, 1e-12) {
		t.Errorf("got %v, want %v", s.P(), one.P())
	}
	// With two independent samples, the test of the sum of their means is Welch's test of a against −b.
	a, b := NewResampled([]float64{1, 2, 4}, same(3, 0), 0), NewResampled([]float64{-1, 3, 5, 1}, same(4, 0), 0)
	s := Stratified([]Resampled{a, b}, 0)
	if want := 0.04048315400619526; !near(s.P(), want, 1e-9) {
		t.Errorf("p = %v, want %v", s.P(), want)
	}
	// Under the null hypothesis, 5 % of the p-values are below 0.05.
	below := 0
	for range 2000 {
		var kinds []Resampled
		for range 3 {
			kinds = append(kinds, NewResampled(draw(), draw(), 0))
		}
		if Stratified(kinds, 0).P() < 0.05 {
			below++
		}
	}
	if below < 70 || below > 130 {
		t.Errorf("%d of 2000 p-values are below 0.05", below)
	}
}
