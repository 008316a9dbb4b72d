package significance

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// reference holds results of SciPy 1.17.1, statsmodels 0.15.0 and baycomp 1.0.3 for differences with and without ties:
// t distributions of scipy.stats.t; the exact Wilcoxon test without ties, and the one with both corrections for more
// than 25 differences; Holm's correction of multipletests; the statistic of friedmanchisquare, converted to the one of
// Iman and Davenport; and baycomp's SignedRankTest with 200,000 samples and a prior of 1.
type reference struct {
	Paired []struct {
		A, B                                        []float64
		Ratio, Rope, Mean, SD, P, Low, High, Effect float64
		Biserial                                    float64
		TTest, Wilcoxon                             *float64
		BayesT, BayesSR                             [3]float64
	}
	Holm     []struct{ P, Want []float64 }
	Friedman []struct {
		Scores [][]float64
		Ranks  []float64
		P      float64
	}
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref reference
	if err := json.Unmarshal(text, &ref); err != nil {
		t.Fatal(err)
	}
	if len(ref.Paired) == 0 || len(ref.Holm) == 0 || len(ref.Friedman) == 0 {
		t.Fatal("no numbers to compare with")
	}
	check := func(i int, what string, got, want, tolerance float64) {
		t.Helper()
		if !near(got, want, tolerance) {
			t.Errorf("%d: %s is %v, want %v", i, what, got, want)
		}
	}
	for i, c := range ref.Paired {
		r := NewResampled(c.A, c.B, c.Ratio)
		low, high, ok := r.Interval(0.95)
		effect, known := r.Standardised()
		if !ok || !known {
			t.Errorf("%d: no interval or no effect", i)
		}
		check(i, "the mean", r.Mean, c.Mean, 1e-12)
		check(i, "the deviation", r.SD, c.SD, 1e-12)
		check(i, "p", r.P(), c.P, 1e-9)
		check(i, "the interval's begin", low, c.Low, 1e-7)
		check(i, "the interval's end", high, c.High, 1e-7)
		check(i, "the effect", effect, c.Effect, 1e-8)
		check(i, "the rank-biserial correlation", RankBiserial(c.A, c.B), c.Biserial, 1e-12)
		if c.TTest != nil {
			check(i, "p of the plain t-test", r.P(), *c.TTest, 1e-9)
		}
		if c.Wilcoxon != nil {
			check(i, "Wilcoxon's p", Wilcoxon(c.A, c.B), *c.Wilcoxon, 1e-9)
		}
		b := r.Beyond(c.Rope)
		s := BayesSignedRank(c.A, c.B, c.Rope, 1)
		for at, got := range []Probabilities{b, s} {
			want, tolerance := c.BayesT, 1e-9
			if at == 1 {
				want, tolerance = c.BayesSR, 0.02
			}
			check(i, "below", got.Below, want[0], tolerance)
			check(i, "within", got.Within, want[1], tolerance)
			check(i, "above", got.Above, want[2], tolerance)
		}
	}
	for i, c := range ref.Holm {
		for j, p := range Holm(c.P, nil) {
			check(i, "the corrected p", p, c.Want[j], 1e-12)
		}
	}
	more := func(a, b float64) bool { return a > b }
	for i, c := range ref.Friedman {
		for j, r := range Ranks(c.Scores, more) {
			check(i, "the rank", r, c.Ranks[j], 1e-12)
		}
		ranks := make([][]int, len(c.Scores))
		for j, of := range c.Scores {
			for _, r := range ranksOf(of, more) {
				ranks[j] = append(ranks[j], int(2*r))
			}
		}
		check(i, "Friedman's p", imanDavenport(ranks), c.P, 1e-9)
	}
}
