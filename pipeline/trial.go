package pipeline

import (
	"context"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/timing"
)

// run does one trial. The result is nil for a method that makes no
// representation; what such a method gives is the same for all ranks, and it is
// run once for a draw. A panic is an error.
func (p *Plan) run(ctx context.Context, t trial) (rec *Record, res *factor.Result, err error) {
	type outcome struct {
		rec *Record
		res *factor.Result
	}
	out, err := guard.Interruptible(ctx, func() (out outcome, err error) {
		get, done := p.useDraw(t)
		defer done()
		if p.methods[t.method].factoriser != nil {
			out.rec, out.res, err = p.score(ctx, t, get())
			return out, err
		}
		d := get()
		once, err := d.records[t.method].get(ctx, func() (*Record, error) {
			rec, _, err := p.score(ctx, t, d)
			return rec, err
		})
		if err == nil {
			own := *once
			own.Trial, own.Row = t.id, p.row(t)
			out.rec = &own
		}
		return out, err
	})
	return out.rec, out.res, err
}

// score does one trial: representation, then clustering or classification, then
// scores.
func (p *Plan) score(ctx context.Context, t trial, d *drawn) (*Record, *factor.Result, error) {
	e := p.Experiment
	m := p.methods[t.method]
	rec := &Record{
		Trial: t.id, Row: p.row(t), Classes: t.k, Repeat: t.repeat, Method: m.Label(),
		Samples: len(d.rows), Tested: len(d.testRows),
	}
	for _, c := range d.labels {
		if c >= 0 {
			rec.Labelled++
		}
	}
	seen, err := d.features(ctx) // before the trial's memory: describing images takes shares of its own
	if err != nil {
		return nil, nil, err
	}
	release, err := p.acquire(ctx, t, d.draw)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	ctx, release = parallel.Hold(ctx)
	defer release()
	ctx = timing.Of(ctx, m.Label())
	w := p.work(m, d.draw, seen)
	if !p.keepsModel(t) { // of which only the curve is seen
		w.trace = keepsPoint
	}
	if auto := p.auto(); auto != nil && m.factoriser != nil {
		// One rank for all methods of a draw.
		if rec.Choice, err = d.rank.get(ctx, func() (*RankChoice, error) {
			c, err := chooseRank(ctx, *auto, seen.x(), rng.Seed(e.Seed, "rank", d.id.k, d.id.repeat), nil)
			return c, p.Inputs.nameRows(err, d.rows)
		}); err != nil {
			return nil, nil, err
		}
		t.rank = rec.Choice.Rank
	}
	found, err := p.represent(ctx, t, w, d, seen)
	if err != nil {
		return nil, nil, err
	}
	outcome := eval.Outcome{Truth: d.truth, Labels: d.labels}
	var res *factor.Result
	if found != nil {
		res = found.Result
		rec.Rank = t.rank
		rec.Iterations, rec.Stop, rec.Curve = res.Iterations(), string(res.Stop), thin(res.Objective, res.Penalty)
		if m.needs.needsLabels && e.Labels.Count == 1 {
			rec.Warnings = append(rec.Warnings, "one labelled sample in a class ties nothing")
		}
	}
	if e.Task == Clustering {
		var k int
		if k, err = p.countGroups(ctx, d, seen, rec); err != nil {
			return nil, nil, p.Inputs.nameRows(err, d.rows)
		}
		outcome.Found, err = w.group(ctx, res, k)
	} else {
		outcome = eval.Outcome{Truth: d.testTruth, Classes: d.truth}
		if res != nil {
			outcome.Coefficients, outcome.Basis = res.Coefficients, res.Basis
		}
		outcome.Found, err = w.classify(ctx, found, classifier(e), d.truth, seen.test, d.testRows)
	}
	if err != nil {
		return nil, nil, err
	}
	defer timing.Start(ctx, timing.Scores)()
	if rec.Scores, err = eval.Compute(e.Task, outcome, e.Scores...); err != nil || e.Task == Clustering {
		return rec, res, err
	}
	rec.Drawn = p.drawn(d.draw, t.k)
	rec.Confusion, err = eval.Confusion(d.testTruth, outcome.Found, t.k)
	return rec, res, err
}

// work is what a method is given of a draw.
func (p *Plan) work(m *method, d draw, seen *view) *work {
	return &work{method: m, in: p.Inputs, rows: d.rows, x: seen.x, known: d.known(), seed: func(step string) uint64 {
		return rng.Seed(p.Experiment.Seed, step, d.id.k, d.id.repeat)
	}}
}

// row is the rank where the rows of the tables are ranks, or 0.
func (p *Plan) row(t trial) int {
	if len(p.Experiment.Rank) > 1 {
		return t.rank
	}
	return 0
}

// drawn returns which class of the data each class of a draw is, or nil where
// all k were drawn.
func (p *Plan) drawn(d draw, k int) []int {
	if k == len(p.classes) {
		return nil
	}
	out := make([]int, k)
	for i, row := range d.rows {
		out[d.truth[i]] = p.labels[row]
	}
	return out
}

// keptPoints are the iterations that thin keeps beside the last.
var keptPoints = func() (points []int) {
	for at := 0; at < math.MaxInt32; at = max(at+1, int(math.Ceil(float64(at)*1.12))) {
		points = append(points, at)
	}
	return points
}()

// keepsPoint tells whether thin keeps an iteration that is not the last.
func keepsPoint(iteration int) bool {
	_, kept := slices.BinarySearch(keptPoints, iteration)
	return kept
}

// thin keeps the objective, and the penalty in it where there is one, of the
// first iterations, of some forty between, and of the last.
func thin(objective, penalty []float64) []Point {
	var out []Point
	for i, o := range objective {
		if keepsPoint(i) || i == len(objective)-1 {
			point := Point{Iteration: i, Objective: o}
			if penalty != nil {
				point.Penalty = penalty[i]
			}
			out = append(out, point)
		}
	}
	return out
}
