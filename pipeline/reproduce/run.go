package reproduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// The files of an outcome in a folder of results, beside the files of the protocol's experiment.
const (
	TextFile     = "reproduction.txt"
	MarkdownFile = "reproduction.md"
	JSONFile     = "reproduction.json"
)

// variantsFolder has a folder of results for each variant and reading.
const variantsFolder = "variants"

// Locate returns the path of the data of a recipe, "" for generated data. set replaces the recipe's data, and root is
// the folder of the known sets; both may be "". Data that are not a known set are a folder of their name, in the
// current folder or in root.
func (r *Recipe) Locate(set, root string) (string, error) {
	own := r.experiment.Data
	name := cmp.Or(set, own.Set)
	if info, known := catalogue.Lookup(name); known {
		return catalogue.Find(info.Name, root, own.From)
	}
	if _, err := os.Stat(name); err == nil || set != "" {
		return name, err
	}
	if root == "" {
		var err error
		if root, err = catalogue.DataDir(); err != nil {
			return "", err
		}
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the data %s of %s were not found in the working folder or in %s. %s", name, r.Name, root, r.Get)
	}
	return path, nil
}

// Runner runs recipes.
type Runner struct {
	// Draws is the largest number of draws, Budget the time for the trials of a recipe, and Quick skips readings.
	Draws     int
	Budget    time.Duration
	Quick     bool
	Workers   int    // the number of trials at once; 0 means one for each processor
	Set, Root string // the place of the data: see Recipe.Locate
	// Shard, if Of > 0, is the part of the draws to run. From names the results folders of
	// the shards: Run takes their trials.
	Shard vectorfile.Shard
	From  []string
	// Program is the version of the program, and Pages are the files that Publish writes.
	Program string
	Pages   []string

	// Check returns an error if writing the files names to dir would replace files that an experiment reads.
	Check func(e *spec.Experiment, dir string, names []string) error
	// Prepare makes the inputs of an experiment, and a function that releases them.
	Prepare func(e *spec.Experiment) (*input.Inputs, func(), error)
	// Publish writes the pages of an experiment. shown is nil if trials are missing.
	Publish func(folder *results.Folder, shown *models.Illustrations) error
	// Progress receives the progress of the trials, and Warn receives warnings.
	Progress func(what string, done, total int)
	Warn     func(string)
}

// running is a running variant, reading or protocol.
type running struct {
	name       string
	experiment *spec.Experiment
	in         *input.Inputs
	release    func()
	folder     *results.Folder
	plan       *pipeline.Plan
	run        Run
}

func (r *Runner) open(recipe *Recipe, v *Variant, out string) (_ *running, err error) {
	defer guard.Catch(&err)
	e := *v.experiment
	e.Data.Set = cmp.Or(r.Set, e.Data.Set)
	if _, known := catalogue.Lookup(e.Data.Set); !known {
		e.Data.Set = guard.Must(recipe.Locate(r.Set, r.Root))
	}
	e.Data.Root, e.Data.Labelled = r.Root, true
	e.Command, e.Program = "partwise reproduce "+recipe.Name, r.Program
	in := ""
	if v.Name != "" {
		in = filepath.Join(variantsFolder, v.Folder())
	}
	out = filepath.Join(out, in)
	pages := append([]string{TextFile, MarkdownFile, JSONFile}, r.Pages...)
	guard.Check(r.Check(&e, out, append(results.Files(), pages...)))
	p := &running{name: v.Name, experiment: &e}
	p.folder = guard.Must(results.Open(out, &e, pages...))
	for _, from := range r.From {
		from = filepath.Join(from, in)
		s, err := results.ReadSummary(from)
		if err == nil {
			err = s.CheckSame(&e)
		} else if _, missing := os.Stat(from); missing != nil && in != "" { // --quick runs no readings
			continue
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("--join: %w", err), p.folder.Close())
		}
		p.folder.From = append(p.folder.From, from)
	}
	if p.in, p.release, err = r.Prepare(&e); err != nil {
		return nil, errors.Join(err, p.folder.Close())
	}
	return p, nil
}

func (p *running) close() error {
	p.release()
	return p.folder.Close()
}

// addDraws runs the missing trials of the first draws.
func (r *Runner) addDraws(ctx context.Context, p *running, draws int) (err error) {
	e := *p.experiment
	e.Repeats = draws
	if p.plan, err = pipeline.NewPlan(ctx, &e, p.in); err != nil {
		return err
	}
	p.run.Classes = len(p.in.Set.Classes)
	p.run.Records, err = p.folder.Run(ctx, p.plan, pipeline.RunOptions{Workers: r.Workers, Shard: r.Shard, Progress: func(what string, done, total int) {
		if p.name != "" {
			what = p.name + ", " + what
		}
		r.Progress(what, done, total)
	}})
	return err
}

// Run adds draws until all claims are decided, or the draws or the budget are used up, and writes the outcome to the
// folder out. It continues from the trials in the folder. A shard runs its part of all draws and readings, and has no
// outcome.
func (r *Runner) Run(ctx context.Context, recipe *Recipe, out string) (o *Outcome, err error) {
	var protocols []*running
	defer func() {
		for _, p := range protocols {
			err = errors.Join(err, p.close())
		}
	}()
	defer guard.Catch(&err)
	for _, v := range recipe.protocols() {
		protocols = append(protocols, guard.Must(r.open(recipe, v, out)))
	}
	limited, cancel := context.WithTimeout(ctx, r.Budget)
	defer cancel()
	runs, err := r.decide(limited, recipe, protocols, out)
	guard.FailIf(ctx.Err() != nil, "stopped: finished trials are in %s; run the same command again to resume", out)
	guard.Check(err)
	if limited.Err() != nil {
		r.Warn(fmt.Sprintf("%s: the budget of %s is spent; run the same command again to resume", recipe.Name, r.Budget))
	}
	if r.Shard.Of > 0 {
		return nil, nil
	}
	o, p := recipe.Judge(runs), protocols[0]
	var shown *models.Illustrations
	if p.plan != nil && len(p.run.Records) == p.plan.Len() {
		models, _ := results.Models(p.folder.Dir(), p.plan.Summary()) // the report lists unreadable models
		shown = guard.Must(p.plan.Illustrate(ctx, models))
	}
	guard.Check(r.Publish(p.folder, shown))
	text, err := toJSON(o)
	return o, errors.Join(err,
		p.folder.Write(TextFile, []byte(o.Text(100, 0))),
		p.folder.Write(MarkdownFile, []byte(o.Markdown(1))),
		p.folder.Write(JSONFile, text))
}

// decide runs the protocols look by look, and the readings if a result is surprising. A shard runs all draws and readings.
// It returns no error if the context ends.
func (r *Runner) decide(ctx context.Context, recipe *Recipe, protocols []*running, out string) (runs map[string]Run, err error) {
	defer guard.Catch(&err)
	runs = map[string]Run{}
	check := func(err error) {
		if ctx.Err() == nil {
			guard.Check(err)
		}
	}
	read := r.Quick
	for look := 0; look == 0 || Look(look) <= r.Draws; look++ {
		draws := min(Look(look), r.Draws)
		if r.Shard.Of > 0 {
			draws = r.Draws
		}
		for _, p := range protocols {
			err := r.addDraws(ctx, p, draws)
			runs[p.name] = p.run
			check(err)
		}
		o := recipe.Judge(runs)
		if !read && (o.Surprising() || r.Shard.Of > 0) && ctx.Err() == nil {
			read = true
			check(r.runReadings(ctx, recipe, out, runs))
		}
		if r.Shard.Of > 0 || o.Decided() || ctx.Err() != nil && o.Draws < draws { // the trials of the log count
			break
		}
	}
	return runs, nil
}

func (r *Runner) runReadings(ctx context.Context, recipe *Recipe, out string, runs map[string]Run) error {
	for i := range recipe.Readings {
		v := &recipe.Readings[i]
		if v.Free {
			continue
		}
		p, err := r.open(recipe, v, out)
		if err == nil {
			err = r.addDraws(ctx, p, min(r.Draws, Look(0)))
			runs[v.Name] = p.run
			err = errors.Join(err, p.close())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}
