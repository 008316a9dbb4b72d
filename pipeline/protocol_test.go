package pipeline

import (
	"context"
	"math"
	"testing"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestPaperProtocols: the averages of the CCF and the CNMF paper's protocols
// are those of an implementation written apart from this one, in another
// language, from the methods' formulas (100 repeats, standard errors of the
// average over k from 0.3 to 0.6 points). The tolerance is four standard errors
// of what is run here.
func TestPaperProtocols(t *testing.T) {
	root := testkit.NeedFolder(t, testkit.DataFolder)
	testkit.Slow(t)
	const (
		ccf  = "labels: 30%, rank: k+1, cluster: {distance: cosine}"
		cnmf = "labels: 10%, rank: k"
	)
	for _, c := range []struct {
		set, protocol string
		want          map[string][2]float64 // AC and NMI in percent
	}{
		{"yale", ccf, map[string][2]float64{"kmeans": {51.0, 37.0}, "nmf": {58.6, 45.0}, "semi-gnmf": {50.2, 37.5}, "cf": {51.0, 35.9}, "ccf": {61.4, 50.0}}},
		{"yale", cnmf, map[string][2]float64{"nmf-ncw": {53.1, 38.3}, "gnmf": {45.4, 31.3}, "cnmf": {56.6, 43.2}, "cnmf-kl": {60.0, 49.0}}},
		{"orl", ccf, map[string][2]float64{"nmf": {79.9, 77.3}, "cf": {47.8, 33.2}, "ccf": {78.2, 75.2}}},
		{"orl", cnmf, map[string][2]float64{"nmf-ncw": {76.6, 72.7}, "cnmf": {79.9, 76.4}, "semi-gnmf": {72.6, 70.7}}},
	} {
		text := "{name: x, data: " + c.set + ", classes: [2, 4, 6, 8, 10], repeats: 6, seed: 11, " + c.protocol + ", methods: ["
		for m := range c.want {
			if m == "ccf" {
				m = "{name: ccf, init: nmf}"
			}
			text += m + ", "
		}
		e, err := Parse([]byte(text + "]}"))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Root = root
		in, err := Prepare(context.Background(), e, PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(t.Context(), e, in)
		if err != nil {
			t.Fatal(err)
		}
		records, err := p.Run(context.Background(), nil, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for m, want := range c.want {
			for i, score := range []string{"AC", "NMI"} {
				got, se := average(records, m, score)
				if d := got - want[i]; d > 4*se || d < -4*se {
					t.Errorf("%s, %s: %s of %s is %.1f ± %.1f, want about %.1f", c.set, c.protocol, score, m, got, se, want[i])
				}
			}
		}
	}
}

// average returns the mean over numbers of classes of a method's score in
// percent, and its standard error. The numbers 2, 4, …, 10 stand for 2, 3, …,
// 10: scores fall nearly in a straight line between.
func average(records []Record, method, score string) (mean, se float64) {
	by := map[int][]float64{}
	for _, r := range records {
		if r.Method == method {
			by[r.Classes] = append(by[r.Classes], 100*r.Scores[score])
		}
	}
	var variance float64
	for _, x := range by {
		m, sd := eval.MeanSD(x)
		mean += m / float64(len(by))
		variance += sd * sd / float64(len(x)) / float64(len(by)*len(by))
	}
	return mean, math.Sqrt(variance)
}
