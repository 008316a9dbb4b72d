package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/filename"
)

// ModelDir is the folder, in that of an experiment, of the saved models: for
// each method that of the first repeat with the most classes.
const ModelDir = "models"

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

// Run runs the trials of the plan that are not yet in the result log in dir,
// appends each to it when it is done, and returns the records of all trials of
// the plan in its order. A trial that fails does not keep the others from being
// run; the error is then a *TrialsError. When Run ends early, what is done is in
// the log, and running again goes on from there; the records are then those
// there are.
func Run(ctx context.Context, p *Plan, dir string, opt RunOptions) ([]Record, error) {
	if err := os.MkdirAll(filepath.Join(dir, ModelDir), 0o777); err != nil {
		return nil, err
	}
	log, err := openLog(dir)
	if err != nil {
		return nil, err
	}
	defer log.unlock()
	runErr := p.Summary().write(dir)
	if runErr == nil {
		runErr = p.runAll(ctx, log, dir, opt)
	}
	err = log.file.Close()
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

func (p *Plan) runAll(ctx context.Context, log *log, dir string, opt RunOptions) error {
	var todo []trial
	for _, t := range p.trials {
		if _, done := log.done[t.id]; !done || p.lacksModel(t, dir) {
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
				if err := saveModel(filepath.Join(dir, ModelDir, p.modelFile(t)), res); err != nil {
					return err
				}
			}
			if _, known := log.done[t.id]; !known {
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

// keepsModel picks the trials whose models are saved.
func (p *Plan) keepsModel(t trial) bool {
	last := p.trials[len(p.trials)-1]
	_, own := builtin(p.Experiment.Methods[t.method].Name)
	return t.repeat == 0 && t.k == last.k && t.rank == last.rank && !own
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

func saveModel(path string, res *factor.Result) error {
	var text bytes.Buffer
	if err := res.Save(&text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return writeFile(path, text.Bytes())
}
