package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// RunOptions say how trials are run. They do not change any result.
type RunOptions struct {
	Workers int // how many trials run at once; 0 means one for each processor
	// Progress, if set, is called before the first trial and after each with how
	// many "trials" are done, from this run or an earlier one.
	Progress input.Progress
}

// Sink takes the results of a run and keeps them where a later run finds them. Its
// methods are called one at a time; an error of one ends the run.
type Sink interface {
	// Begin is called before the first trial, with the summary of the plan. It
	// returns the records that are there by trial, which are not run again.
	Begin(s *Summary) (done map[string]record.Record, err error)
	// HasModel tells whether the model of the name, one of Summary.Models, is there.
	HasModel(name string) bool
	// Put takes the record of a finished trial and, where its model is kept, the model and its name, or nil
	// and "". Where only the model was missing, the record is one of those that Begin returned.
	Put(rec *record.Record, name string, m *models.Model) error
}

// nowhere is the sink that keeps nothing.
type nowhere struct{}

func (nowhere) Begin(*Summary) (map[string]record.Record, error)       { return nil, nil }
func (nowhere) HasModel(string) bool                                   { return true }
func (nowhere) Put(*record.Record, string, *models.Model) (none error) { return nil }

// TrialsError says that some trials failed while the others were run.
type TrialsError struct {
	// Failed is how many, and First what the first of them in the plan says.
	Failed int
	First  error
}

func (e *TrialsError) Error() string {
	if e.Failed == 1 {
		return e.First.Error()
	}
	return fmt.Sprintf("%v (and %d more trials failed)", e.First, e.Failed-1)
}

// Unwrap returns the first error.
func (e *TrialsError) Unwrap() error { return e.First }

// Run runs the trials of the plan that the sink does not have yet, gives it each when it is done, and returns
// the records of all trials of the plan in its order. Without a sink the records are all there is. A trial
// that fails, be it by a panic, does not keep the others from being run; the error is then a *TrialsError.
// When Run ends early, the records are those there are.
//
// A trial waits for its share of the memory budget of the context. A plan with a trial that would need more
// than there is for it is refused before anything is run and before the sink is asked.
func (p *Plan) Run(ctx context.Context, to Sink, opt RunOptions) ([]record.Record, error) {
	budget := memory.FromContext(ctx)
	release, err := budget.Keep(p.shared(), fmt.Sprintf("the results of %d trials", len(p.trials)))
	if err != nil {
		return nil, err
	}
	defer release()
	if err := p.checkMemory(budget); err != nil {
		return nil, err
	}
	if opt.Workers <= 0 {
		opt.Workers = parallel.Cores()
	}
	if release, p.draws.share = p.keepDirections(budget, opt.Workers); p.draws.share {
		defer release()
	}
	if to == nil {
		to = nowhere{}
	}
	done, err := to.Begin(p.Summary())
	if err != nil {
		return nil, err
	}
	defer timing.Start(ctx, timing.Trials)()
	r := &run{plan: p, to: to, done: map[string]record.Record{}, workers: opt.Workers, progress: &input.Reporter{To: opt.Progress}}
	defer r.progress.End()
	maps.Copy(r.done, done)
	err = r.all(ctx)
	var records []record.Record
	for _, t := range p.trials {
		if rec, ok := r.done[t.id]; ok {
			records = append(records, rec)
		}
	}
	return records, err
}

type run struct {
	plan     *Plan
	to       Sink
	workers  int
	progress *input.Reporter

	mu   sync.Mutex // of all below, and of the sink
	done map[string]record.Record
}

// all runs the trials that are missing. Where there are several ranks, the best of
// them and so the models to keep are known then: their trials are run once more.
func (r *run) all(ctx context.Context) error {
	todo := func(new bool) (some []trial) {
		for _, t := range r.plan.trials {
			_, done := r.done[t.id]
			lacksModel := done && r.plan.keepsModel(t) && !r.to.HasModel(r.plan.modelFile(t))
			if lacksModel || new && !done {
				some = append(some, t)
			}
		}
		return some
	}
	err := r.trials(ctx, todo(true))
	var some *TrialsError
	if len(r.plan.Experiment.Rank) < 2 || err != nil && !errors.As(err, &some) {
		return err
	}
	r.plan.best = r.plan.bestRanks(r.done)
	r.progress.End()
	return errors.Join(err, r.trials(ctx, todo(false)))
}

// trials runs some trials, several at once, repeat by repeat: a run that is stopped has whole repeats of all
// numbers of classes and ranks, not all repeats of some. Trials that run at once are of different draws, so that
// none waits for a value that the other makes for both.
func (r *run) trials(ctx context.Context, todo []trial) error {
	p := r.plan
	slices.SortStableFunc(todo, func(a, b trial) int { return cmp.Compare(a.repeat, b.repeat) })
	order := map[drawID]int{}
	for _, t := range todo {
		if _, known := order[t.draw()]; !known {
			order[t.draw()] = len(order)
		}
	}
	slices.SortStableFunc(todo, func(a, b trial) int {
		return cmp.Or(order[a.draw()]/r.workers-order[b.draw()]/r.workers, a.method-b.method)
	})
	count := len(p.trials) - len(todo) // of those that are done
	r.progress.Tell("trials", count, len(p.trials))
	p.draws.expect(todo)
	defer p.draws.expect(nil)
	failed := make([]error, len(todo))
	g, working := errgroup.WithContext(ctx)
	g.SetLimit(r.workers)
	for i, t := range todo {
		if working.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := working.Err(); err != nil {
				return err
			}
			done, err := p.run(working, t)
			var model *models.Model
			var name string
			if err == nil && done.res != nil && p.keepsModel(t) {
				name = p.modelFile(t)
				model, err = p.model(working, t, done.res)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if working.Err() != nil {
				return working.Err() // what it says now is of being stopped
			}
			if err != nil {
				rank := fmt.Sprint(t.rank)
				if auto := p.auto(); auto != nil {
					rank = auto.String()
				}
				failed[i] = fmt.Errorf("%s with %d classes, rank %s, repeat %d: %w", p.Experiment.Methods[t.method].Label(), t.k, rank, t.repeat+1, err)
				return nil
			}
			if err := r.to.Put(done.rec, name, model); err != nil {
				return err
			}
			if _, known := r.done[t.id]; !known {
				r.done[t.id] = *done.rec
			}
			count++
			r.progress.Tell("trials", count, len(p.trials))
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	failed = slices.DeleteFunc(failed, func(err error) bool { return err == nil })
	if len(failed) > 0 {
		return &TrialsError{len(failed), failed[0]}
	}
	return nil
}

// keepsModel picks the trials whose models are kept. Where there are several
// ranks these are known when all trials are done.
func (p *Plan) keepsModel(t trial) bool {
	if p.methods[t.method].Factoriser == nil || !p.isModelled(t) {
		return false
	}
	return len(p.Experiment.Rank) < 2 || p.best != nil && p.best[t.method] == t.rank
}

// isModelled tells whether a trial is of the draw whose models are kept.
func (p *Plan) isModelled(t trial) bool { return t.repeat == 0 && t.k == p.most() }

func (p *Plan) model(ctx context.Context, t trial, res *factor.Result) (*models.Model, error) {
	d := p.draws.modelled()
	seen, err := d.features(ctx)
	if err != nil {
		return nil, err
	}
	m, err := models.ModelOfRows(ctx, p.Inputs, d.rows, seen.Learned, p.Experiment.Methods[t.method].String(), res)
	if err == nil {
		m.Program = p.Experiment.Program
	}
	return m, err
}

// modelFile names the model by method and trial, so that the model of other settings does not pass for it.
func (p *Plan) modelFile(t trial) string {
	return filename.Safe(p.Experiment.Methods[t.method].Label()) + "-" + t.id + ".npz"
}

// Learned returns what was learned for the features of the kept models.
func (p *Plan) Learned(ctx context.Context) (l input.Learned, err error) {
	if p.Inputs.Bag == nil && p.Inputs.Features.Joined == nil {
		return l, nil
	}
	seen, err := p.draws.modelled().features(ctx)
	if err != nil {
		return l, err
	}
	return seen.Learned, nil
}

// Illustrate shows the visual words and the methods' saved models, some of which may be nil, on some of
// their photographs. It returns nil for features that are neither visual words nor those of places.
func (p *Plan) Illustrate(ctx context.Context, kept []factor.Model) (*models.Illustrations, error) {
	if !models.Illustrates(p.Inputs) {
		return nil, nil
	}
	d := p.draws.modelled()
	seen, err := d.features(ctx)
	if err != nil {
		return nil, err
	}
	var fitted []models.Learned
	for _, t := range p.trials {
		if p.keepsModel(t) && kept[t.method] != nil {
			fitted = append(fitted, models.Learned{Method: p.Experiment.Methods[t.method].Label(), Model: kept[t.method]})
		}
	}
	return models.Illustrate(ctx, p.Inputs, seen, d.rows, d.truth, fitted)
}

// bestRanks returns the rank of the best mean score of each method with the most
// classes, the smaller of two that are as good.
func (p *Plan) bestRanks(done map[string]record.Record) []int {
	score := eval.MainScore(p.Experiment.Task)
	k := p.most()
	type cell struct{ method, rank int }
	scores := map[cell][]float64{}
	for _, t := range p.trials {
		if r, ok := done[t.id]; ok && t.k == k {
			at := cell{t.method, t.rank}
			scores[at] = append(scores[at], r.Scores[score.Name])
		}
	}
	best := make([]int, len(p.Experiment.Methods))
	for m := range best {
		level := math.NaN()
		for _, r := range p.Experiment.Rank {
			of := scores[cell{m, r.Of(k)}]
			if len(of) == 0 {
				continue
			}
			if mean := elementary.Sum(of) / float64(len(of)); math.IsNaN(level) || score.Better(mean, level) {
				best[m], level = r.Of(k), mean
			}
		}
	}
	return best
}
