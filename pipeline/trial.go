package pipeline

import (
	"context"
	"math"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// run does one trial: representation, clustering, scores. The result is nil
// for a method that makes no representation.
func (p *Plan) run(ctx context.Context, t trial) (*Record, *factor.Result, error) {
	e := p.Experiment
	d := p.draw(t.k, t.repeat)
	m := e.Methods[t.method]
	x := selectRows(p.Inputs.X, d.rows)
	rec := &Record{Trial: t.id, Classes: t.k, Repeat: t.repeat, Method: m.Label(), Samples: len(d.rows)}
	for _, c := range d.labels {
		if c >= 0 {
			rec.Labelled++
		}
	}

	points := x
	var res *factor.Result
	if m.Name != KMeans {
		method, err := m.build()
		if err != nil {
			return nil, nil, err
		}
		rec.Rank = e.Rank.Of(t.k)
		res, err = method.Fit(ctx, x, factor.Known{Labels: d.labels}, factor.Options{
			Rank: rec.Rank, Init: m.Init, Iterations: m.Iterations, Tolerance: m.Tolerance,
			Seed:   rng.Seed(e.Seed, "initial factors", t.k, t.repeat),
			Height: p.Inputs.Height, Width: p.Inputs.Width,
		})
		if err != nil {
			return nil, nil, p.Inputs.nameRows(err, d.rows)
		}
		points = res.Coefficients
		rec.Iterations, rec.Stop, rec.Curve = res.Iterations(), string(res.Stop), thin(res.Objective)
		if m.needsLabels() && rec.Labelled <= t.k && e.Labels.Count == 1 {
			rec.Warnings = append(rec.Warnings, "one labelled sample in a class ties nothing")
		}
	}
	clusters, err := e.Cluster.kMeans(t.k, rng.Seed(e.Seed, "k-means", t.k, t.repeat)).Fit(ctx, points)
	if err != nil {
		return nil, nil, err
	}
	rec.Scores = scores(d, clusters.Labels)
	return rec, res, nil
}

// scores compares clusters with the truth, over all samples and over those
// whose label was not told.
func scores(d draw, clusters []int) map[string]float64 {
	out := map[string]float64{}
	put := func(suffix string, s eval.Clustering) {
		out["AC"+suffix], out["NMI"+suffix], out["ARI"+suffix], out["purity"+suffix] = s.AC, s.NMI, s.ARI, s.Purity
	}
	put("", eval.Score(d.truth, clusters))
	var truth, free []int
	for i, c := range d.labels {
		if c < 0 {
			truth, free = append(truth, d.truth[i]), append(free, clusters[i])
		}
	}
	if 0 < len(free) && len(free) < len(clusters) {
		put(" free", eval.Score(truth, free))
	}
	return out
}

// thin keeps the objective of the first iterations, of some forty between, and
// of the last.
func thin(objective []float64) []Point {
	var out []Point
	next := 0.0
	for i, o := range objective {
		if float64(i) >= next || i == len(objective)-1 {
			out = append(out, Point{i, o})
			next = max(float64(i)+1, math.Ceil(float64(i)*1.12))
		}
	}
	return out
}
