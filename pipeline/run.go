package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/filename"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/output"
)

// ModelDir is the folder, in that of an experiment, of the saved models: for
// each method that of the first repeat with the most classes and, where there are
// several ranks, with the one that has the best mean score.
const ModelDir = "models"

// WordsFile is the file among them of the visual words that they are of.
const WordsFile = "words.npz"

// RunOptions say how trials are run. They do not change any result.
type RunOptions struct {
	// Workers is how many trials run at once; 0 means one for each processor.
	Workers int
	// Progress, if set, is called before the first trial and after each, with
	// how many are done, from this run or an earlier one. Calls do not overlap.
	Progress func(done, total int)
}

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

// Run opens the folder dir by OpenResults, runs the plan in it, and closes it.
func Run(ctx context.Context, p *Plan, dir string, opt RunOptions) ([]Record, error) {
	r, err := OpenResults(dir, p.Experiment)
	if err != nil {
		return nil, err
	}
	records, err := r.Run(ctx, p, opt)
	return records, errors.Join(err, r.Close())
}

// Run runs the trials of the plan that are not yet in the result log, appends
// each to it when it is done, and returns the records of all trials of the plan
// in its order. Pages that show other trials are removed first. A trial that
// fails, be it by a panic, does not keep the others from being run; the error is
// then a *TrialsError. When Run ends early, what is done is in the log, and
// running again goes on from there; the records are then those there are.
//
// A trial waits for its share of the memory budget of the context. A plan with a
// trial that would need more than there is for it is refused before anything is
// run or written.
func (r *Results) Run(ctx context.Context, p *Plan, opt RunOptions) ([]Record, error) {
	budget := memory.FromContext(ctx)
	release, err := budget.Keep(p.shared(), fmt.Sprintf("what %d trials leave behind", len(p.trials)))
	if err != nil {
		return nil, err
	}
	defer release()
	if err := p.checkMemory(budget); err != nil {
		return nil, err
	}
	if err := r.begin(p); err != nil {
		return nil, err
	}
	log, err := openLog(r.Dir())
	if err != nil {
		return nil, err
	}
	runErr := p.runAll(ctx, log, r.folder, opt)
	var some *TrialsError
	if runErr == nil || errors.As(runErr, &some) {
		runErr = errors.Join(runErr, p.saveBest(ctx, log, r.folder), p.saveWords(ctx, r.folder))
	}
	lost := log.inPlace()
	err = log.close()
	if lost != nil {
		return nil, lost // and with it all else that went wrong
	}
	if runErr == nil {
		runErr = err
	}
	order := make([]string, len(p.trials))
	var records []Record
	for i, t := range p.trials {
		order[i] = t.id
		if r, ok := log.done[t.id]; ok {
			records = append(records, r)
		}
	}
	if runErr != nil {
		return records, runErr
	}
	return records, log.settle(order)
}

func (p *Plan) runAll(ctx context.Context, log *log, to *output.Folder, opt RunOptions) error {
	var todo []trial
	for _, t := range p.trials {
		if _, done := log.done[t.id]; !done || p.lacksModel(t, to.Dir()) {
			todo = append(todo, t)
		}
	}
	var mu sync.Mutex
	done := len(p.trials) - len(todo)
	report := func() {
		if opt.Progress != nil {
			opt.Progress(done, len(p.trials))
		}
	}
	report()

	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	failed := make([]error, len(todo))
	g, working := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i, t := range todo {
		if working.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := working.Err(); err != nil {
				return err
			}
			rec, res, err := p.run(working, t)
			mu.Lock()
			defer mu.Unlock()
			if working.Err() != nil {
				return working.Err() // what it says now is of being stopped
			}
			if err != nil {
				failed[i] = fmt.Errorf("%s with %d classes, rank %d, repeat %d: %w", p.Experiment.Methods[t.method].Label(), t.k, t.rank, t.repeat+1, err)
				return nil
			}
			if res != nil && p.keepsModel(t) {
				if err := p.saveModel(to, t, res); err != nil {
					return err
				}
			}
			if _, known := log.done[t.id]; !known {
				if err := to.Held(); err != nil { // another process may write to the log
					return err
				}
				if err := log.append(rec); err != nil {
					return err
				}
			}
			done++
			report()
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	trouble := &TrialsError{}
	for _, err := range failed {
		if err != nil {
			trouble.Failed++
			trouble.First = cmp.Or(trouble.First, err)
		}
	}
	if trouble.Failed > 0 {
		return trouble
	}
	return nil
}

// keepsModel picks the trials whose models are saved. Where there are several
// ranks these are known when all trials are done.
func (p *Plan) keepsModel(t trial) bool {
	if _, own := builtin(p.Experiment.Methods[t.method].Name); own || t.repeat > 0 || t.k != p.ks[len(p.ks)-1] {
		return false
	}
	return len(p.Experiment.Rank) < 2 || p.best != nil && p.best[t.method] == t.rank
}

// saveBest finds the best rank of each method, where there are several, and saves
// its models.
func (p *Plan) saveBest(ctx context.Context, log *log, to *output.Folder) error {
	if len(p.Experiment.Rank) < 2 {
		return p.Summary().write(to)
	}
	p.best = p.bestRanks(log.done)
	for _, t := range p.trials {
		if _, done := log.done[t.id]; !done || !p.lacksModel(t, to.Dir()) {
			continue
		}
		_, res, err := p.run(ctx, t)
		if err != nil {
			return err
		}
		if err := p.saveModel(to, t, res); err != nil {
			return err
		}
	}
	return p.Summary().write(to)
}

// saveWords saves the visual words, where there are, that the saved models are
// of.
func (p *Plan) saveWords(ctx context.Context, to *output.Folder) error {
	if p.Inputs.bag == nil {
		return nil
	}
	seen, err := p.Inputs.view(ctx, p.draw(p.ks[len(p.ks)-1], 0), p.Experiment.Seed)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := seen.vocabulary.Save(&text); err != nil {
		return err
	}
	return to.Write(ModelDir+"/"+WordsFile, text.Bytes())
}

// bestRanks returns the rank of the best mean score of each method with the most
// classes, the smaller of two that are as good.
func (p *Plan) bestRanks(done map[string]Record) []int {
	score := eval.MainScore(eval.Clustering)
	if p.Experiment.Task == Classification {
		score = eval.MainScore(eval.Classification)
	}
	k := p.ks[len(p.ks)-1]
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
			if mean := stat.Mean(of, nil); math.IsNaN(level) || score.Better(mean, level) {
				best[m], level = r.Of(k), mean
			}
		}
	}
	return best
}

func (p *Plan) lacksModel(t trial, dir string) bool {
	if !p.keepsModel(t) {
		return false
	}
	_, err := loadModel(filepath.Join(dir, ModelDir, p.modelFile(t)))
	return err != nil && !errors.Is(err, factor.ErrNoModel)
}

// modelFile names the model by method and trial, so that the model of other
// settings does not pass for it.
func (p *Plan) modelFile(t trial) string {
	return filename.Safe(p.Experiment.Methods[t.method].Label()) + "-" + t.id + ".npz"
}

func (p *Plan) saveModel(to *output.Folder, t trial, res *factor.Result) error {
	name := ModelDir + "/" + p.modelFile(t)
	var text bytes.Buffer
	if err := res.Save(&text); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(to.Dir(), filepath.FromSlash(name)), err)
	}
	return to.Write(name, text.Bytes())
}
