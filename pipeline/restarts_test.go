package pipeline

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestRestarts: the fit of the restart with the lowest objective is kept. One restart is the method without the setting.
func TestRestarts(t *testing.T) {
	set := testkit.CSV(t, 12, 10, 11)
	p := newPlan(t, `{name: x, methods: [{name: nmf, iterations: 8}, {name: nmf, as: one, iterations: 8, restarts: 1},
		{name: nmf, as: best, iterations: 8, restarts: 6}, {name: nmf, as: all, iterations: 8, restarts: 6, consensus: true}], repeats: 1, rank: 4}`, set)
	records, err := p.Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p.methods[0].Params, p.methods[1].Params) || p.methods[1].Restarts != 0 {
		t.Errorf("restarts: 1 is %+v", p.methods[1].Method)
	}
	if one := records[1]; !reflect.DeepEqual(one.Scores, records[0].Scores) || !reflect.DeepEqual(one.Curve, records[0].Curve) || one.Consensus != nil {
		t.Errorf("restarts: 1 gives %+v, want %+v", one, records[0])
	}
	// Each restart as a fit of its own.
	d := newSharedDraw(p, drawID{3, 0})
	seen, err := d.features(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	least, at := math.Inf(1), 0
	var runs [][]int
	for restart := range 6 {
		w := p.work(p.methods[0], d.draw, seen)
		if seed := w.Seed; restart > 0 {
			w.Seed = func(step string) uint64 {
				if step == "initial factors" {
					return rng.Seed(seed(step), "restart", restart)
				}
				return seed(step)
			}
		}
		res, err := w.Fit(t.Context(), 4)
		if err != nil {
			t.Fatal(err)
		}
		found, stability, err := w.Group(t.Context(), res, 3)
		if err != nil || stability != nil {
			t.Fatal(err, stability)
		}
		if runs = append(runs, found); res.Objective[8] < least {
			least, at = res.Objective[8], restart
		}
	}
	if at == 0 {
		t.Fatal("the first restart is the best; the test needs other data")
	}
	labels, want := cluster.Consensus(runs, 3)
	for i, found := range [][]int{runs[at], labels} {
		r := records[2+i]
		if got := r.Curve[len(r.Curve)-1].Objective; got != least {
			t.Errorf("%s: objective %v, want %v", r.Method, got, least)
		}
		if means := cluster.MeanConsensus(runs, found); !slices.Equal(r.Consensus, means) {
			t.Errorf("%s: mean consensus %v, want %v", r.Method, r.Consensus, means)
		}
		if r.Scores["cophenetic"] != want.Cophenetic || r.Scores["dispersion"] != want.Dispersion {
			t.Errorf("%s: scores %v, want %+v", r.Method, r.Scores, want)
		}
	}
}

// TestRestartsClassify: a classification uses the best fit.
func TestRestartsClassify(t *testing.T) {
	p := newPlan(t, `{name: x, task: classify, methods: [{name: nmf, iterations: 5}, {name: nmf, as: best, iterations: 5, restarts: 4}], repeats: 1, train: 6, test: 4}`, testkit.CSV(t, 12, 10, 11))
	records, err := p.Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	last := func(i int) float64 { return records[i].Curve[len(records[i].Curve)-1].Objective }
	if last(1) > last(0) || records[1].Consensus != nil {
		t.Errorf("objective %v of four restarts, %v of one; consensus %v", last(1), last(0), records[1].Consensus)
	}
}

// TestRestartsMemory: a consensus counts the matrix of all pairs, and the best fit only 1,000 samples.
func TestRestartsMemory(t *testing.T) {
	p := newPlan(t, `{name: x, methods: [nmf, {name: nmf, as: best, restarts: 2}, {name: nmf, as: all, restarts: 2, consensus: true}]}`, testkit.CSV(t, 12, 10))
	s := p.largestProblem(2, 2)
	s.N = 20_000
	need := func(m int) int64 { return p.methods[m].Need(s, p.Experiment.Task, p.Experiment.Classifier) }
	if one, best, all := need(0), need(1), need(2); best-one < 8e6 || best-one > 2e7 || all-one < 3.2e9 {
		t.Errorf("%d, %d and %d bytes", one, best, all)
	}
}
