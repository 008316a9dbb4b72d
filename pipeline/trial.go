package pipeline

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// finished is the record of a trial and its result, nil for a method without a representation.
type finished struct {
	rec *record.Record
	res *factor.Result
}

// runTrial runs one trial. A method without a representation has the same result for all ranks, so it runs once for a
// draw. A panic becomes an error.
func (p *Plan) runTrial(ctx context.Context, t trial, get func() *sharedDraw) (*finished, error) {
	return guard.Interruptible(ctx, func() (*finished, error) {
		d := get()
		if p.methods[t.method].Factoriser != nil {
			return p.evaluate(ctx, t, d)
		}
		once := guard.Must(d.onFeatures[t.method].Get(ctx, func() (*finished, error) { return p.evaluate(ctx, t, d) }))
		own := *once.rec
		own.Trial, own.Row = t.id, p.tableRow(t)
		return &finished{rec: &own}, nil
	})
}

// evaluate runs one trial: representation, then clustering or classification, then scores.
func (p *Plan) evaluate(ctx context.Context, t trial, d *sharedDraw) (_ *finished, err error) {
	defer guard.Catch(&err)
	e := p.Experiment
	m := p.methods[t.method]
	rec := &record.Record{
		Trial: t.id, Row: p.tableRow(t), Classes: t.k, Repeat: t.repeat, Method: m.Label(),
		Samples: len(d.rows), Tested: len(d.testRows),
	}
	rec.Labelled = len(lists.Indices(d.labels, func(c int) bool { return c >= 0 }))
	seen := guard.Must(d.features(ctx)) // before the trial acquires its memory: describing images acquires its own
	size := p.largestProblem(t.k, t.rank)
	size.N, size.Tested, size.Links = len(d.rows), len(d.testRows), len(d.must)+len(d.cannot)
	release := guard.Must(memory.FromContext(ctx).Acquire(ctx, m.Need(size, e.Task, e.Classifier), "a trial"))
	defer release()
	ctx, release = parallel.Hold(ctx)
	defer release()
	ctx = timing.Of(ctx, m.Label())
	w := p.work(m, d.draw, seen)
	if !p.savesModel(t) { // other trials only need the points of the curve
		w.Trace = record.KeepsPoint
	}
	if p.share {
		w.Shared = &d.shared
	}
	if e.Task == spec.Clustering && (m.Restarts > 1 || m.Tune != nil) {
		w.Clusters = p.countGroups(ctx, d, seen, rec)
	}
	found := p.represent(ctx, t, w, d, seen, rec)
	outcome := eval.Outcome{Truth: d.truth, Labels: d.labels}
	if e.Task == spec.Classification {
		outcome = eval.Outcome{Truth: d.testTruth, Classes: d.truth}
	}
	var res *factor.Result
	if found != nil {
		res = found.Result
		outcome.Found, outcome.Coefficients, outcome.Basis = found.Found, res.Coefficients, res.Basis
		rec.Iterations, rec.Stop, rec.Curve = res.Iterations(), string(res.Stop), record.Thin(res.Objective, res.Penalty)
		if m.Needs.NeedsLabels && e.Labels.Count == 1 {
			rec.Warnings = append(rec.Warnings, "a class with one labelled sample is not constrained")
		}
	}
	switch {
	case outcome.Found != nil:
	case e.Task == spec.Clustering:
		outcome.Found, outcome.Stability, err = w.Group(ctx, res, p.countGroups(ctx, d, seen, rec))
		rec.Consensus = w.MeanConsensus(outcome.Found)
	default:
		outcome.Found, err = w.Classify(ctx, e, found, d.truth, seen.Test, d.testRows)
	}
	guard.Check(err)
	defer timing.Start(ctx, timing.Scores)()
	if rec.Scores, err = eval.Compute(e.Task, outcome, e.Scores...); err != nil || e.Task == spec.Clustering {
		return &finished{rec, res}, err
	}
	rec.Drawn = p.drawnClasses(d.draw, t.k)
	rec.Confusion, err = eval.Confusion(d.testTruth, outcome.Found, t.k)
	return &finished{rec, res}, err
}

// represent fits the trial's method to the draw, and returns nil for a method that uses the features directly. A direct
// method is fitted once for a draw, with the largest rank; smaller ranks use its leading directions. represent records
// the rank and its choice. It calls guard.Fail.
func (p *Plan) represent(ctx context.Context, t trial, w *fitting.Work, d *sharedDraw, seen *input.View, rec *record.Record) *fitting.Represented {
	switch {
	case w.Results != "":
		return p.readResult(ctx, t.method, d.draw)
	case w.Factoriser == nil:
		return nil
	}
	if auto := p.autoRank(); auto != nil {
		// One rank for all methods of a draw.
		rec.Choice = guard.Must(d.rank.Get(ctx, func() (*spec.RankChoice, error) {
			c, err := fitting.ChooseRank(ctx, *auto, seen.X(), rng.Seed(p.Experiment.Seed, "rank", d.id.k, d.id.repeat), nil)
			return c, p.Inputs.NameRows(err, d.rows)
		}))
		t.rank = rec.Choice.Rank
	}
	rec.Rank = t.rank
	if w.Tune != nil {
		rec.Tuned = guard.Must(w.Choose(ctx, p.Experiment, t.rank))
	}
	fit := func(rank int) *fitting.Represented { return &fitting.Represented{Result: guard.Must(w.Fit(ctx, rank))} }
	ranks := p.Experiment.Rank
	if !w.Needs.Direct || len(ranks) < 2 || rec.Tuned != nil {
		return fit(t.rank)
	}
	return guard.Must(d.direct[t.method].Get(ctx, func() (whole *fitting.Represented, err error) {
		whole = fit(ranks[len(ranks)-1].Of(t.k))
		if p.Experiment.Task == spec.Classification {
			whole.Test, err = whole.Model.Transform(ctx, seen.Test())
			err = w.In.NameRows(err, d.testRows)
		}
		return whole, err
	})).Leading(t.rank)
}

func (p *Plan) work(m *fitting.Method, d draw, seen *input.View) *fitting.Work {
	known := factor.Known{Labels: d.labels, MustLink: d.must, CannotLink: d.cannot}
	return &fitting.Work{Method: m, In: p.Inputs, Rows: d.rows, X: seen.X, Known: known, Seed: func(step string) uint64 {
		return rng.Seed(p.Experiment.Seed, step, d.id.k, d.id.repeat)
	}}
}

// tableRow returns the rank if the rows of the tables are ranks, else 0.
func (p *Plan) tableRow(t trial) int {
	if len(p.Experiment.Rank) > 1 {
		return t.rank
	}
	return 0
}

// drawnClasses returns the class of the data for each class of a draw, nil if all classes were drawn.
func (p *Plan) drawnClasses(d draw, k int) []int {
	if k == len(p.classes) {
		return nil
	}
	out := make([]int, k)
	for i, row := range d.rows {
		out[d.truth[i]] = p.labels[row]
	}
	return out
}

// countGroups returns the number of groups for a draw, which all methods share, and records it. It calls guard.Fail.
func (p *Plan) countGroups(ctx context.Context, d *sharedDraw, seen *input.View, rec *record.Record) int {
	e := p.Experiment
	from, to := e.Cluster.K.Within(len(d.rows), d.id.k, !e.Labels.None())
	if e.Cluster.K == (spec.GroupCount{}) {
		return from
	}
	rec.Groups = from
	if e.Cluster.K.Auto {
		count, err := d.count.Get(ctx, func() (*spec.CountChoice, error) {
			return fitting.ChooseCount(ctx, seen.X(), from, to, rng.Seed(e.Seed, "number of groups", d.id.k, d.id.repeat))
		})
		guard.Check(p.Inputs.NameRows(err, d.rows))
		rec.Count, rec.Groups = count, count.K
	}
	return rec.Groups
}

// sharedDraw is a draw with everything that its trials share. Each part is computed for the first trial that needs it,
// and released with the draw after its last trial.
type sharedDraw struct {
	draw
	plan   *Plan
	view   fitting.Once[*input.View]
	rank   fitting.Once[*spec.RankChoice]
	count  fitting.Once[*spec.CountChoice]
	shared factor.Shared // the principal directions that direct methods share
	// By method: the fit of a direct method, which serves all ranks, and the trial of a method that clusters the
	// features, which has no rank.
	direct     []fitting.Once[*fitting.Represented]
	onFeatures []fitting.Once[*finished]
}

func newSharedDraw(p *Plan, id drawID) *sharedDraw {
	many := len(p.methods)
	return &sharedDraw{
		draw: p.draw(id.k, id.repeat), plan: p,
		direct: make([]fitting.Once[*fitting.Represented], many), onFeatures: make([]fitting.Once[*finished], many),
	}
}

// features returns the features of the draw's samples. Trials share them if they are learned.
func (d *sharedDraw) features(ctx context.Context) (*input.View, error) {
	if !d.plan.Inputs.PerDraw() && !d.plan.share {
		return d.plan.view(ctx, d.draw)
	}
	return d.view.Get(ctx, func() (*input.View, error) { return d.plan.view(ctx, d.draw) })
}

func (p *Plan) view(ctx context.Context, d draw) (*input.View, error) {
	return p.Inputs.View(ctx, d.rows, d.testRows, d.id.k, rng.Seed(p.Experiment.Seed, "words", d.id.k, d.id.repeat))
}

// drawsOf returns for each trial a function that makes its draw at the first call. All trials of a draw get the same one,
// which the last of them releases.
func (p *Plan) drawsOf(todo []trial) []func() *sharedDraw {
	made := map[drawID]func() *sharedDraw{{p.mostClasses(), 0}: p.modelled}
	return lists.Map(todo, func(t trial) func() *sharedDraw {
		if made[t.drawID] == nil {
			made[t.drawID] = sync.OnceValue(func() *sharedDraw { return newSharedDraw(p, t.drawID) })
		}
		return made[t.drawID]
	})
}

// reserveDirections reserves memory for the features and principal directions that two or more direct methods share in
// each draw. ok is false if the trials themselves need the memory.
func (p *Plan) reserveDirections(budget *memory.Budget, workers int) (release func(), ok bool) {
	direct := lists.Indices(p.methods, func(m *fitting.Method) bool { return m.Needs.Direct })
	if len(direct) < 2 {
		return nil, false
	}
	s := p.largestProblem(p.mostClasses(), 1)
	n, m := float64(s.N), float64(s.M)
	need := int64(8*(n*m+3*min(n, m)*min(n, m)) + float64(s.Input()))
	release, err := budget.Keep(need*int64(workers+1), "the features and principal directions of draws")
	if err != nil {
		return nil, false
	}
	if p.checkMemory(budget) != nil {
		release()
		return nil, false
	}
	return release, true
}

// drawLinks draws a share of all pairs of samples, and links each by the classes in truth.
func drawLinks(l spec.Links, truth []int, src *rand.ChaCha8) (must, cannot [][2]int) {
	if l.Share == 0 {
		return nil, nil
	}
	n := len(truth)
	all := n * (n - 1) / 2
	for _, at := range rand.New(src).Perm(all)[:int(math.Round(l.Share*float64(all)))] {
		// Pair number at of (1,0), (2,0), (2,1), (3,0), …
		i := int((1 + math.Sqrt(float64(1+8*at))) / 2)
		for i*(i-1)/2 > at {
			i--
		}
		for i*(i+1)/2 <= at {
			i++
		}
		pair := [2]int{at - i*(i-1)/2, i}
		if truth[pair[0]] == truth[pair[1]] {
			must = append(must, pair)
		} else {
			cannot = append(cannot, pair)
		}
	}
	return must, cannot
}
