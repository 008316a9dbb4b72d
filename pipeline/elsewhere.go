package pipeline

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Draws are written to files for programs elsewhere, whose results enter the experiment as a method. A result names its
// draw by the draw's identity.

// DrawFormats are the formats of WriteDraws.
var DrawFormats = []string{"npz", "mat"}

func (id drawID) String() string { return fmt.Sprintf("k%d-draw%03d", id.k, id.repeat+1) }

// DrawFiles returns the names of the files that WriteDraws writes for an experiment on a set.
func DrawFiles(e *spec.Experiment, set *datasets.Set, format string) (names []string) {
	p := &Plan{Experiment: e, ks: drawnCounts(e, set)}
	for id := range p.eachDraw {
		names = append(names, id.String()+"."+format)
	}
	return names
}

func drawnCounts(e *spec.Experiment, set *datasets.Set) []int {
	if len(e.Classes) == 0 {
		return []int{len(set.Classes)}
	}
	return e.Classes
}

// drawName names a draw without its content.
func (p *Plan) drawName(id drawID) string { return filename.Safe(p.set.Name) + "-" + id.String() }

// identity returns the draw's name with a digest of everything that its samples, labels, links and features depend on.
func (p *Plan) identity(id drawID) string {
	e := p.Experiment
	return p.drawName(id) + "-" + p.digest([]any{p.data, id.k, id.repeat, e.Task, e.Labels, e.Train, e.Test, e.Links})
}

func (p *Plan) eachDraw(yield func(id drawID) bool) {
	for _, k := range p.ks {
		for repeat := range p.Experiment.RepeatCount() {
			if !yield(drawID{k, repeat}) {
				return
			}
		}
	}
}

// WriteDraws writes each draw to the folder dir as a file of the format, such as k5-draw001.npz, and returns the number of
// files. docs/reference/data.md lists their content.
func (p *Plan) WriteDraws(ctx context.Context, dir, format string, progress input.Progress) (done int, err error) {
	shown := &input.Reporter{To: progress}
	for id := range p.eachDraw {
		shown.Report("writing draws", done, len(p.ks)*p.Experiment.RepeatCount())
		if err := p.writeDraw(ctx, id, filepath.Join(dir, id.String()+"."+format)); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}

// writeDraw writes the training samples and then the test samples. Classes of unlabelled and test samples are unknown.
func (p *Plan) writeDraw(ctx context.Context, id drawID, path string) (err error) {
	defer guard.Catch(&err)
	size := p.largestProblem(id.k, 1)
	release := guard.Must(memory.FromContext(ctx).Acquire(ctx, int64(min(2*size.Input(), math.MaxInt64/2)), "a draw"))
	defer release()
	d := p.draw(id.k, id.repeat)
	seen := guard.Must(p.view(ctx, d))
	k := id.k
	if of := p.Experiment.Cluster.K; !of.Auto {
		k, _ = of.Within(len(d.rows), k, !p.Experiment.Labels.None())
	}
	c := &vectorfile.Content{
		Vectors: seen.Both(), Labels: slices.Concat(d.labels, slices.Repeat([]int{-1}, len(d.testRows))), Classes: make([]string, id.k),
		Lists: []vectorfile.List{{Name: "draw", Words: []string{p.identity(id)}}},
	}
	c.Names = matrix.Take(p.set.Names, matrix.Take(p.rows, slices.Concat(d.rows, d.testRows)))
	for i, row := range d.rows {
		c.Classes[d.truth[i]] = p.set.Classes[p.labels[row]]
	}
	if p.Inputs.Channels == 1 {
		c.Height, c.Width = p.Inputs.Height, p.Inputs.Width
	}
	add := func(name string, numbers ...int) {
		if numbers != nil {
			values := lists.Map(numbers, func(number int) float64 { return float64(number) })
			c.Lists = append(c.Lists, vectorfile.List{Name: name, Integers: true, Numbers: values})
		}
	}
	if w, ok := c.Vectors.(*factor.Weighted); ok {
		c.Vectors, c.Missing = w.Matrix, true
		weights := w.Samples
		if w.Entries != nil {
			weights = w.Entries.RawMatrix().Data
		}
		if weights != nil {
			c.Lists = append(c.Lists, vectorfile.List{Name: "weights", Numbers: weights})
		}
	}
	fromOne := func(pairs [][2]int) (rows []int) {
		for _, pair := range pairs {
			rows = append(rows, pair[0]+1, pair[1]+1)
		}
		return rows
	}
	add("k", k)
	add("seed", int(rng.Seed(p.Experiment.Seed, "elsewhere", id.k, id.repeat)>>33))
	add("must", fromOne(d.must)...)
	add("cannot", fromOne(d.cannot)...)
	return vectorfile.Write(ctx, path, c)
}

// result is a file with the result of one draw, whose identity is draw.
type result struct{ path, draw, sum string }

func openResult(ctx context.Context, path string) (r result, vars []vectorfile.Variable, err error) {
	sum, _, err := atomicfile.Sum(ctx, path)
	if err == nil {
		vars, err = vectorfile.Variables(ctx, path)
	}
	if err != nil {
		return r, nil, err
	}
	for _, v := range vars {
		if v.Name == "draw" && len(v.Text) == 1 {
			return result{path, v.Text[0], fmt.Sprintf("%x", sum[:8])}, vars, nil
		}
	}
	return r, nil, fmt.Errorf("%s: no array draw with a name; copy draw from the file of the draw", path)
}

// findResults finds and checks the files with the results of other programs, one for each draw. It leaves out results of
// other sets, numbers of classes and repeats. Without the features it does not check the identities of the draws.
func (p *Plan) findResults(ctx context.Context) {
	p.results = make([]map[drawID]result, len(p.methods))
	ids := map[string]drawID{}
	for id := range p.eachDraw {
		ids[p.drawName(id)] = id
	}
	for i, m := range p.methods {
		if m.Results == "" {
			continue
		}
		found := map[drawID]result{}
		for _, path := range m.ResultFiles() {
			r, vars, err := openResult(ctx, path)
			guard.Check(err)
			id, wanted := ids[r.draw[:max(0, strings.LastIndexByte(r.draw, '-'))]]
			if !wanted {
				continue
			}
			other, twice := found[id]
			guard.FailIf(twice, "%s and %s are both results of %s for the draw %s", other.path, path, m.Label(), p.drawName(id))
			if p.fixed != nil && r.draw != p.identity(id) {
				guard.Fail("%s: draw is %q, but the experiment has %q: data, features, labels, links or seed changed; write the draws again with partwise draws",
					path, r.draw, p.identity(id))
			}
			guard.Within(func() { p.parseResult(vars, p.draw(id.k, id.repeat)) }, "%s", path)
			found[id] = r
		}
		for id := range p.eachDraw {
			_, ok := found[id]
			guard.FailIf(!ok, "%s: no file %s has the result of the draw %s; partwise draws writes the draws", m.Label(), m.Results, p.drawName(id))
		}
		p.results[i] = found
	}
}

// readResult returns the result of a method on a draw from the file that findResults read.
func (p *Plan) readResult(ctx context.Context, method int, d draw) *fitting.Represented {
	want := p.results[method][d.id]
	r, vars, err := openResult(ctx, want.path)
	guard.Check(err)
	guard.FailIf(r != want, "%s changed during the run", want.path)
	return p.parseResult(vars, d)
}

// parseResult returns the one array among the variables that is a result: groups of the samples, predicted classes of
// the test samples, or coefficients V of both. It ignores variables of other names. It and its callers call guard.Fail.
func (p *Plan) parseResult(vars []vectorfile.Variable, d draw) *fitting.Represented {
	n, tested := len(d.rows), len(d.testRows)
	list, size, first, least, most := "groups", n, 0, -1<<53, 1<<53
	if p.Experiment.Task == spec.Classification {
		list, size, first, least, most = "predicted", tested, 1, 1, d.id.k
	}
	vars = slices.DeleteFunc(slices.Clone(vars), func(v vectorfile.Variable) bool { return v.Name != list && v.Name != "V" })
	if len(vars) != 1 || vars[0].Value == nil || strings.Contains(vars[0].Class, "sparse") {
		guard.Fail("expected one dense array of numbers, %s or V", list)
	}
	v, x := &vars[0], mat.DenseCopyOf(vars[0].Value)
	rows, columns := x.Dims()
	isList, expected, out := v.Name == list, "a finite number", &fitting.Represented{Result: &factor.Result{}}
	switch {
	case isList && (min(rows, columns) != 1 || rows*columns != size):
		guard.Fail("%s: expected %d values, one for each sample of the draw", v, size)
	case isList:
		expected = fmt.Sprintf("an integer from %d to %d", least, most)
	case rows != n+tested:
		guard.Fail("%s: expected %d rows, one for each sample of the draw", v, n+tested)
	default:
		out.Coefficients = mat.DenseCopyOf(x.Slice(0, n, 0, columns))
		if tested > 0 {
			out.Test = mat.DenseCopyOf(x.Slice(n, rows, 0, columns))
		}
	}
	for i, value := range x.RawMatrix().Data {
		if math.IsNaN(value-value) || isList && (value != math.Trunc(value) || value < float64(least) || value > float64(most)) {
			guard.Fail("%s: value %d is %v; expected %s", v, i+1, value, expected)
		}
		if isList {
			out.Found = append(out.Found, int(value)-first)
		}
	}
	return out
}
