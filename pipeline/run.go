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

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// RunOptions are the options of Plan.Run. They do not change any result.
type RunOptions struct {
	Workers int // the number of trials at once; 0 means one for each processor
	// Shard, if Of > 0, runs only this part of the draws.
	Shard vectorfile.Shard
	// Progress, if set, is called with "trials" before the first trial and after each one. done counts the trials of
	// earlier runs too.
	Progress input.Progress
}

// Sink stores the results of a run, so that a later run can continue. Its methods are called one at a time. An error of
// a method ends the run.
type Sink interface {
	// Begin is called before the first trial, with the summary of the plan. It returns the stored records by trial,
	// which are not run again.
	Begin(s *Summary) (done map[string]record.Record, err error)
	// HasModel reports whether the sink has the model called name, one of Summary.Models.
	HasModel(name string) bool
	// Put stores the record of a finished trial, and its model m under name. m is nil and name "" for a model that is
	// not saved. The record is one that Begin returned if only the model was missing.
	Put(rec *record.Record, name string, m *models.Model) error
}

type discard struct{}

func (discard) Begin(*Summary) (map[string]record.Record, error)       { return nil, nil }
func (discard) HasModel(string) bool                                   { return true }
func (discard) Put(*record.Record, string, *models.Model) (none error) { return nil }

// TrialsError is returned if some trials failed and the others ran.
type TrialsError struct {
	// Failed is the number of failed trials, and First the error of the first one in the plan.
	Failed int
	First  error
}

func (e *TrialsError) Error() string {
	if e.Failed == 1 {
		return e.First.Error()
	}
	return fmt.Sprintf("%v (and %d more trials failed)", e.First, e.Failed-1)
}

// Unwrap returns First.
func (e *TrialsError) Unwrap() error { return e.First }

// Run runs the trials of the plan that the sink lacks, puts each record into the sink, and returns the records of all
// trials in the order of the plan. Without a sink it only returns the records. A failed or panicking trial does not
// stop the others; the error is then a *TrialsError. If Run ends early, it returns the records so far.
//
// A trial waits for its memory in the budget of the context. Run refuses a plan with a trial that exceeds the budget
// before it calls the sink.
func (p *Plan) Run(ctx context.Context, to Sink, opt RunOptions) (_ []record.Record, err error) {
	defer guard.Catch(&err)
	budget := memory.FromContext(ctx)
	release := guard.Must(budget.Keep(p.sharedMemory(), fmt.Sprintf("the results of %d trials", len(p.trials))))
	defer release()
	guard.Check(p.checkMemory(budget))
	if opt.Workers <= 0 {
		opt.Workers = parallel.Cores()
	}
	if release, p.share = p.reserveDirections(budget, opt.Workers); p.share {
		defer release()
	}
	if to == nil {
		to = discard{}
	}
	done := guard.Must(to.Begin(p.Summary()))
	defer timing.Start(ctx, timing.Trials)()
	r := &run{plan: p, sink: to, done: map[string]record.Record{}, workers: opt.Workers, shard: opt.Shard, progress: &input.Reporter{To: opt.Progress}}
	defer r.progress.End()
	maps.Copy(r.done, done)
	err = r.runMissing(ctx)
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
	sink     Sink
	workers  int
	shard    vectorfile.Shard
	progress *input.Reporter

	mu   sync.Mutex // guards the fields below, and the sink
	done map[string]record.Record
}

// runMissing runs the missing trials. With several ranks, the best rank of each method is known only after them, so the
// trials whose models are saved run once more.
func (r *run) runMissing(ctx context.Context) error {
	todo := func(new bool) (some []trial) {
		for _, t := range r.plan.trials {
			draw := t.repeat*len(r.plan.ks) + slices.Index(r.plan.ks, t.k) // the same for more repeats
			if r.shard.Of > 0 && draw%r.shard.Of != r.shard.Index {
				continue
			}
			_, done := r.done[t.id]
			lacksModel := done && r.plan.savesModel(t) && !r.sink.HasModel(r.plan.modelFile(t))
			if lacksModel || new && !done {
				some = append(some, t)
			}
		}
		return some
	}
	err := r.runTrials(ctx, todo(true))
	var some *TrialsError
	if r.shard.Of > 0 || len(r.plan.Experiment.Rank) < 2 || err != nil && !errors.As(err, &some) {
		return err
	}
	r.plan.best = r.plan.bestRanks(r.done)
	r.progress.End()
	return errors.Join(err, r.runTrials(ctx, todo(false)))
}

// runTrials runs trials concurrently, repeat by repeat, so that a stopped run has complete repeats of all numbers of
// classes and ranks. Concurrent trials belong to different draws, so that none waits for a value that another computes.
func (r *run) runTrials(ctx context.Context, todo []trial) (err error) {
	defer guard.Catch(&err)
	p := r.plan
	slices.SortStableFunc(todo, func(a, b trial) int { return cmp.Compare(a.repeat, b.repeat) })
	order := map[drawID]int{}
	for _, t := range todo {
		if _, known := order[t.drawID]; !known {
			order[t.drawID] = len(order)
		}
	}
	slices.SortStableFunc(todo, func(a, b trial) int {
		return cmp.Or(order[a.drawID]/r.workers-order[b.drawID]/r.workers, a.method-b.method, a.rank-b.rank)
	})
	count := len(p.trials) - len(todo) // trials that are done
	r.progress.Report("trials", count, len(p.trials))
	draws, failed := p.drawsOf(todo), make([]error, len(todo))
	g, working := errgroup.WithContext(ctx)
	g.SetLimit(r.workers)
	for i, t := range todo {
		if working.Err() != nil {
			break
		}
		draw := draws[i]
		draws[i] = nil
		g.Go(func() error {
			if err := working.Err(); err != nil {
				return err
			}
			done, err := p.runTrial(working, t, draw)
			var model *models.Model
			var name string
			if err == nil && done.res != nil && p.savesModel(t) {
				name = p.modelFile(t)
				model, err = p.model(working, t, done)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if working.Err() != nil {
				return working.Err() // the trial's error is about the interruption
			}
			if err != nil {
				rank := fmt.Sprint(t.rank)
				if auto := p.autoRank(); auto != nil {
					rank = auto.String()
				}
				failed[i] = fmt.Errorf("%s with %d classes, rank %s, repeat %d: %w", p.Experiment.Methods[t.method].Label(), t.k, rank, t.repeat+1, err)
				return nil
			}
			if err := r.sink.Put(done.rec, name, model); err != nil {
				return err
			}
			if _, known := r.done[t.id]; !known {
				r.done[t.id] = *done.rec
			}
			count++
			r.progress.Report("trials", count, len(p.trials))
			return nil
		})
	}
	guard.Check(g.Wait())
	guard.Check(ctx.Err())
	failed = slices.DeleteFunc(failed, func(err error) bool { return err == nil })
	if len(failed) > 0 {
		return &TrialsError{len(failed), failed[0]}
	}
	return nil
}

// savesModel reports whether the model of a trial is saved. With several ranks that is known after all trials.
func (p *Plan) savesModel(t trial) bool {
	if p.methods[t.method].Factoriser == nil || !p.isModelled(t) {
		return false
	}
	return len(p.Experiment.Rank) < 2 || p.best != nil && p.best[t.method] == t.rank
}

// isModelled reports whether a trial belongs to the draw whose models are saved.
func (p *Plan) isModelled(t trial) bool { return t.repeat == 0 && t.k == p.mostClasses() }

func (p *Plan) model(ctx context.Context, t trial, done *finished) (*models.Model, error) {
	d := p.modelled()
	seen, err := d.features(ctx)
	if err != nil {
		return nil, err
	}
	method := p.Experiment.Methods[t.method].String()
	if done.rec.Tuned != nil {
		method += ": " + done.rec.Tuned.String()
	}
	m, err := models.ModelOfRows(ctx, p.Inputs, d.rows, seen.Learned, method, done.res)
	if err == nil {
		m.Program = p.Experiment.Program
	}
	return m, err
}

// modelFile names a model by method and trial, so that a model of other settings has another name.
func (p *Plan) modelFile(t trial) string {
	return filename.Safe(p.Experiment.Methods[t.method].Label()) + "-" + t.id + ".npz"
}

// Learned returns the learned parts of the features of the saved models.
func (p *Plan) Learned(ctx context.Context) (l input.Learned, err error) {
	if p.Inputs.Bag == nil && p.Inputs.Features.Joined == nil {
		return l, nil
	}
	seen, err := p.modelled().features(ctx)
	if err != nil {
		return l, err
	}
	return seen.Learned, nil
}

// Illustrate shows the visual words and the saved models, some of which may be nil, on some photographs. It returns nil
// for features that are neither visual words nor local network features.
func (p *Plan) Illustrate(ctx context.Context, kept []factor.Model) (*models.Illustrations, error) {
	if !models.Illustrates(p.Inputs) {
		return nil, nil
	}
	d := p.modelled()
	seen, err := d.features(ctx)
	if err != nil {
		return nil, err
	}
	var fitted []models.Learned
	for _, t := range p.trials {
		if p.savesModel(t) && kept[t.method] != nil {
			fitted = append(fitted, models.Learned{Method: p.Experiment.Methods[t.method].Label(), Model: kept[t.method]})
		}
	}
	return models.Illustrate(ctx, p.Inputs, seen, d.rows, d.truth, fitted)
}

// bestRanks returns for each method the rank with the best mean score at the most classes, the smaller of equal ones.
func (p *Plan) bestRanks(done map[string]record.Record) []int {
	score := eval.MainScore(p.Experiment.Task)
	k := p.mostClasses()
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
