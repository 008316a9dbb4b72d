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
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/results"
)

// The files of an outcome in a folder of results, beside those of the protocol's experiment.
const (
	TextFile     = "reproduction.txt"
	MarkdownFile = "reproduction.md"
	JSONFile     = "reproduction.json"
)

// variantsFolder has a folder of results for each variant and reading.
const variantsFolder = "variants"

// Locate returns where the data of a recipe are, "" where they are generated. set takes the place of
// the recipe's own data, and root is the folder of the known sets; both may be "". Data that are no
// known set are a folder of their name here or in root.
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
		return "", fmt.Errorf("the data %s of %s are not here, nor in %s. %s", name, r.Name, root, r.Get)
	}
	return path, nil
}

// Runner runs recipes.
type Runner struct {
	// Draws is the most draws, and Budget the time for the trials of a recipe. Quick runs no readings.
	Draws  int
	Budget time.Duration
	Quick  bool
	// Workers is the number of trials at once, 0 for one for each processor.
	Workers int
	// Set and Root say where the data are: see Recipe.Locate.
	Set, Root string
	// Program is the version of the program, and Pages are what Publish writes.
	Program string
	Pages   []string

	// Check reports files of these names in dir that would replace what an experiment reads.
	Check func(e *pipeline.Experiment, dir string, names []string) error
	// Prepare makes the inputs of an experiment. The function that it returns gives them back.
	Prepare func(e *pipeline.Experiment) (*pipeline.Inputs, func(), error)
	// Publish writes the pages of an experiment. What was learned is nil where trials are missing.
	Publish func(folder *results.Folder, shown *pipeline.Illustrations) error
	// Progress hears how far the trials are, and Warn what should be known.
	Progress func(what string, done, total int)
	Warn     func(string)
}

// inProgress is a recipe's protocol, or a variant or reading of it, that is run.
type inProgress struct {
	name    string // "" for the protocol itself
	e       *pipeline.Experiment
	in      *pipeline.Inputs
	release func()
	folder  *results.Folder
	plan    *pipeline.Plan
	run     Run
}

func (r *Runner) open(recipe *Recipe, v *Variant, out string) (_ *inProgress, err error) {
	p := &inProgress{e: recipe.Experiment(v), release: func() {}}
	p.e.Data.Set = cmp.Or(r.Set, p.e.Data.Set)
	if _, known := catalogue.Lookup(p.e.Data.Set); !known {
		if p.e.Data.Set, err = recipe.Locate(r.Set, r.Root); err != nil {
			return nil, err
		}
	}
	p.e.Data.Root, p.e.Data.Labelled = r.Root, true
	p.e.Command, p.e.Program = "partwise reproduce "+recipe.Name, r.Program
	if v != nil {
		p.name, out = v.Name, filepath.Join(out, variantsFolder, v.Folder())
	}
	pages := append([]string{TextFile, MarkdownFile, JSONFile}, r.Pages...)
	if err := r.Check(p.e, out, append(results.Files(), pages...)); err != nil {
		return nil, err
	}
	if p.folder, err = results.Open(out, p.e, pages...); err != nil {
		return nil, err
	}
	if p.in, p.release, err = r.Prepare(p.e); err != nil {
		return nil, errors.Join(err, p.folder.Close())
	}
	return p, nil
}

func (p *inProgress) close() error {
	p.release()
	return p.folder.Close()
}

// draw runs the trials of the first draws that the folder does not have yet.
func (r *Runner) draw(ctx context.Context, p *inProgress, draws int) error {
	e := *p.e
	e.Repeats = draws
	plan, err := pipeline.NewPlan(ctx, &e, p.in)
	if err != nil {
		return err
	}
	p.plan = plan
	p.run.Classes = len(p.in.Set.Classes)
	p.run.Records, err = p.folder.Run(ctx, plan, pipeline.RunOptions{Workers: r.Workers, Progress: func(what string, done, total int) {
		if p.name != "" {
			what = p.name + ", " + what
		}
		r.Progress(what, done, total)
	}})
	return err
}

// Run makes draws of a recipe until all its claims are decided, or the draws or the budget are spent,
// and writes what was found to the folder out. It goes on from the trials that the folder has.
func (r *Runner) Run(ctx context.Context, recipe *Recipe, out string) (_ *Outcome, err error) {
	var protocols []*inProgress
	defer func() {
		for _, p := range protocols {
			err = errors.Join(err, p.close())
		}
	}()
	for i := range len(recipe.Variants) + 1 {
		var v *Variant
		if i > 0 {
			v = &recipe.Variants[i-1]
		}
		p, err := r.open(recipe, v, out)
		if err != nil {
			return nil, err
		}
		protocols = append(protocols, p)
	}
	limited, cancel := context.WithTimeout(ctx, r.Budget)
	defer cancel()
	runs, err := r.decide(limited, recipe, protocols, out)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("stopped: the trials that are done are in %s, and running the same again goes on from there", out)
	case err != nil:
		return nil, err
	case limited.Err() != nil:
		r.Warn(fmt.Sprintf("%s: the budget of %s is spent; running the same again goes on from there", recipe.Name, r.Budget))
	}
	o := recipe.Judge(runs)
	return o, r.publish(ctx, protocols[0], o)
}

// decide runs the protocols draw by draw, and the readings where they are of use. It is no error if the
// context ends.
func (r *Runner) decide(ctx context.Context, recipe *Recipe, protocols []*inProgress, out string) (map[string]Run, error) {
	runs := map[string]Run{}
	looks := Looks(r.Draws)
	if len(looks) == 0 {
		looks = []int{r.Draws}
	}
	read := r.Quick
	for _, draws := range looks {
		for _, p := range protocols {
			err := r.draw(ctx, p, draws)
			runs[p.name] = p.run
			if err != nil && ctx.Err() == nil {
				return nil, err
			}
		}
		o := recipe.Judge(runs)
		if !read && o.Surprising() && ctx.Err() == nil {
			read = true
			if err := r.read(ctx, recipe, out, runs); err != nil && ctx.Err() == nil {
				return nil, err
			}
		}
		if o.Decided() || ctx.Err() != nil && o.Draws < draws { // what is in the log counts
			break
		}
	}
	return runs, nil
}

// read runs the readings.
func (r *Runner) read(ctx context.Context, recipe *Recipe, out string, runs map[string]Run) error {
	for i := range recipe.Readings {
		v := &recipe.Readings[i]
		if v.Free {
			continue
		}
		p, err := r.open(recipe, v, out)
		if err == nil {
			err = r.draw(ctx, p, min(r.Draws, Look(0)))
			runs[v.Name] = p.run
			err = errors.Join(err, p.close())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}

// publish writes the pages and what was found.
func (r *Runner) publish(ctx context.Context, p *inProgress, o *Outcome) error {
	var shown *pipeline.Illustrations
	if p.plan != nil && len(p.run.Records) == p.plan.Len() {
		var err error
		models, _ := results.Models(p.folder.Dir(), p.plan.Summary()) // the report names those that cannot be read
		if shown, err = p.plan.Illustrate(ctx, models); err != nil {
			return err
		}
	}
	if err := r.Publish(p.folder, shown); err != nil {
		return err
	}
	text, err := toJSON(o)
	return errors.Join(err,
		p.folder.Write(TextFile, []byte(o.Text(100, 0))),
		p.folder.Write(MarkdownFile, []byte(o.Markdown(1))),
		p.folder.Write(JSONFile, text))
}
