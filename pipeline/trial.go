package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// run does one trial. The result is nil for a method that makes no
// representation; what such a method gives is the same for all ranks, and it is
// run once for a draw. A panic is an error.
func (p *Plan) run(ctx context.Context, t trial) (rec *Record, res *factor.Result, err error) {
	err = guard.Call(func() error {
		rec, res, err = p.runOnce(ctx, t)
		return err
	})
	return rec, res, err
}

func (p *Plan) runOnce(ctx context.Context, t trial) (*Record, *factor.Result, error) {
	if _, own := builtin(p.Experiment.Methods[t.method].Name); !own {
		return p.score(ctx, t)
	}
	once, err := p.unranked.get(fitID{drawID{t.k, t.repeat}, t.method}, func() (*Record, error) {
		rec, _, err := p.score(ctx, t)
		return rec, err
	})
	if err != nil {
		return nil, nil, err
	}
	rec := *once
	rec.Trial, rec.Row = t.id, p.row(t)
	return &rec, nil, nil
}

// score does one trial: representation, then clustering or classification, then
// scores.
func (p *Plan) score(ctx context.Context, t trial) (*Record, *factor.Result, error) {
	e := p.Experiment
	d := p.draw(t.k, t.repeat)
	m := e.Methods[t.method]
	rec := &Record{
		Trial: t.id, Row: p.row(t), Classes: t.k, Repeat: t.repeat, Method: m.Label(),
		Samples: len(d.rows), Tested: len(d.testRows), Build: Build(),
	}
	for _, c := range d.labels {
		if c >= 0 {
			rec.Labelled++
		}
	}
	var seen *view
	var err error
	if p.Inputs.X == nil {
		// Images are described here, which wait for shares of their own.
		if seen, err = p.Inputs.view(ctx, d, e.Seed); err != nil {
			return nil, nil, err
		}
	}
	release, err := p.acquire(ctx, t, d)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	if seen == nil {
		if seen, err = p.Inputs.view(ctx, d, e.Seed); err != nil {
			return nil, nil, err
		}
	}
	x := seen.x
	var res *factor.Result
	if _, own := builtin(m.Name); !own {
		if res, err = p.represent(ctx, t, d, x); err != nil {
			return nil, nil, err
		}
		rec.Rank = t.rank
		rec.Iterations, rec.Stop, rec.Curve = res.Iterations(), string(res.Stop), thin(res.Objective, res.Penalty)
		if m.needsLabels() && e.Labels.Count == 1 {
			rec.Warnings = append(rec.Warnings, "one labelled sample in a class ties nothing")
		}
	}
	if e.Task == Classification {
		return rec, res, p.classify(ctx, rec, d, m, seen, res)
	}
	points := x
	if res != nil {
		points = res.Coefficients
	}
	how := e.Cluster
	if res == nil {
		how.By = m.Name
	}
	how.By = cmp.Or(m.By, how.By)
	clusters, err := how.groups(ctx, points, t.k, d.known(), rng.Seed(uint64(e.Seed), "k-means", t.k, t.repeat))
	if err != nil {
		return nil, nil, err
	}
	rec.Scores, err = eval.Compute(eval.Clustering, eval.Outcome{Truth: d.truth, Found: clusters, Labels: d.labels}, e.Scores...)
	return rec, res, err
}

// row is the rank where the rows of the tables are ranks, or 0.
func (p *Plan) row(t trial) int {
	if len(p.Experiment.Rank) > 1 {
		return t.rank
	}
	return 0
}

// fit fits a method to the rows drawn.
func (p *Plan) fit(ctx context.Context, m Method, rank int, d draw, x mat.Matrix) (*factor.Result, error) {
	method, err := m.build()
	if err != nil {
		return nil, err
	}
	res, err := method.Fit(ctx, x, d.known(), factor.Options{
		Rank: rank, Init: m.Init, Iterations: m.Iterations, Tolerance: m.Tolerance,
		Seed:   rng.Seed(uint64(p.Experiment.Seed), "initial factors", d.id.k, d.id.repeat),
		Height: p.Inputs.imageHeight(), Width: p.Inputs.Width,
	})
	return res, p.Inputs.nameRows(err, d.rows)
}

// classify finds the classes of the test samples by their nearest training
// samples, and scores them and the parts that were found.
func (p *Plan) classify(ctx context.Context, rec *Record, d draw, m Method, seen *view, res *factor.Result) error {
	train, test := seen.x, seen.test
	outcome := eval.Outcome{Truth: d.testTruth, Classes: d.truth}
	if res != nil {
		if res.Model == nil {
			return fmt.Errorf("%s finds no model that represents test samples: it is for clustering", m.Label())
		}
		var err error
		if train = res.Coefficients; m.recodes() {
			if train, err = res.Model.Transform(ctx, seen.x); err != nil {
				return p.Inputs.nameRows(err, d.rows)
			}
		}
		if test, err = res.Model.Transform(ctx, test); err != nil {
			return p.Inputs.nameRows(err, d.testRows)
		}
		outcome.Coefficients, outcome.Basis = res.Coefficients, res.Basis
	}
	var err error
	outcome.Found, err = p.Experiment.Neighbours.knn().Classify(ctx, train, d.truth, test)
	if err != nil {
		return err
	}
	if rec.Scores, err = eval.Compute(eval.Classification, outcome, p.Experiment.Scores...); err != nil {
		return err
	}
	confusion, err := eval.NewConfusion(d.testTruth, outcome.Found, rec.Classes)
	if err != nil {
		return err
	}
	rec.Confusion, rec.Drawn = confusion.Counts, p.drawn(d, rec.Classes)
	return nil
}

// drawn returns which class of the data each class of a draw is, or nil where
// all k were drawn.
func (p *Plan) drawn(d draw, k int) []int {
	if k == len(p.members) {
		return nil
	}
	out := make([]int, k)
	for i, row := range d.rows {
		out[d.truth[i]] = p.labels[row]
	}
	return out
}

// thin keeps the objective, and the penalty in it where there is one, of the
// first iterations, of some forty between, and of the last.
func thin(objective, penalty []float64) []Point {
	var out []Point
	next := 0.0
	for i, o := range objective {
		if float64(i) >= next || i == len(objective)-1 {
			point := Point{Iteration: i, Objective: o}
			if penalty != nil {
				point.Penalty = penalty[i]
			}
			out = append(out, point)
			next = max(float64(i)+1, math.Ceil(float64(i)*1.12))
		}
	}
	return out
}
