package pipeline

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/timing"
)

// method is a method of an experiment that is built, with all that its name and its
// settings stand for.
type method struct {
	Method
	needs needs
	// factoriser is nil for a method that takes the features as they are.
	factoriser factor.Method
	// cluster is how points are put into groups: what the method makes of the
	// samples, or the features themselves.
	cluster Cluster
	// recode tells whether training samples are represented as the test samples. It
	// is then said in the settings, where it is the default too.
	recode bool
}

// resolve builds the method for an experiment of the task that clusters so.
func resolve(m Method, task Task, how Cluster) (*method, error) {
	r := &method{Method: m, needs: m.needs(), cluster: how}
	if r.recode = r.needs.Concept; m.Recode != nil {
		r.recode = *m.Recode
	}
	r.recode = r.recode && task == Classification
	if r.recode {
		r.Recode = &r.recode
	}
	if _, own := builtin(m.Name); own {
		r.cluster.By = m.Name
		return r, nil
	}
	r.cluster.By = cmp.Or(m.By, how.By)
	var err error
	r.factoriser, err = m.build()
	return r, err
}

// options returns those of a fit that the settings say. best leaves to the library what lowers the
// objective, where they say nothing of it: otherwise that is the papers' rule.
func (m *method) options(best bool) factor.Options {
	opt := factor.Options{Init: m.Init, Solver: m.Solver.Solver(), Iterations: m.Iterations, Tolerance: m.Tolerance}
	if opt.Solver == nil && factor.Serves(factor.Multiplicative{}, m.factoriser) == nil {
		switch {
		case !best:
			opt.Solver = factor.Multiplicative{}
		case opt.Tolerance == 0 && opt.Iterations == 0 && factor.Serves(factor.Fast{}, m.factoriser) == nil:
			opt.Tolerance = bestTolerance
		}
	}
	return opt
}

// work is what a method is given: some samples and what is known of them. It fits
// the method to them, and then groups them or classifies others. Run and Find have
// this in common.
type work struct {
	*method
	in    *Inputs
	rows  []int             // of the inputs, nil for all
	x     func() mat.Matrix // a sample a row
	known factor.Known
	// seed returns the seed of a step.
	seed        func(step string) uint64
	onIteration func(i int, objective float64)
	// trace is that of the fit's options, or nil.
	trace func(i int) bool
	// best is that of its options.
	best bool
	// start are initial factors, or nil.
	start *factor.Start
}

// bestTolerance is that of the solver fast where the settings say nothing: its iterations
// are few, and those that lower the objective by less change little.
const bestTolerance = 1e-5

// fit returns what the method makes of the samples, nil where it takes them as they
// are.
func (w *work) fit(ctx context.Context, rank int) (*factor.Result, error) {
	if w.factoriser == nil {
		return nil, nil
	}
	defer timing.Start(ctx, timing.Factorising)()
	opt := w.options(w.best)
	opt.Rank, opt.Seed, opt.Start = rank, w.seed("initial factors"), w.start
	opt.OnIteration, opt.Trace = w.onIteration, w.trace
	res, err := factor.ForImages(w.factoriser, w.in.image()).Fit(ctx, w.x(), w.known, opt)
	return res, w.in.nameRows(err, w.rows)
}

// points returns what is grouped, or what a classification learns from.
func (w *work) points(res *factor.Result) mat.Matrix {
	if res == nil {
		return w.x()
	}
	return res.Coefficients
}

// group puts the samples into k groups.
func (w *work) group(ctx context.Context, res *factor.Result, k int) ([]int, error) {
	defer timing.Start(ctx, timing.Grouping)()
	return clusterRows(ctx, w.cluster, w.points(res), k, cluster.Known(w.known), w.seed("k-means"))
}

// classify finds the classes of other samples, rows of the inputs with the features
// test, by what learns from the samples, whose classes are truth.
func (w *work) classify(ctx context.Context, res *represented, by func(ctx context.Context, train mat.Matrix, truth []int, test mat.Matrix) ([]int, error), truth []int, test func() mat.Matrix, rows []int) ([]int, error) {
	defer timing.Start(ctx, timing.Grouping)()
	if res == nil {
		return by(ctx, w.x(), truth, test())
	}
	if res.Model == nil {
		return nil, fmt.Errorf("%s finds no model that represents test samples: it is for clustering", w.Label())
	}
	train := res.Coefficients
	var err error
	if w.recode {
		if train, err = res.Model.Transform(ctx, w.x()); err != nil {
			return nil, w.in.nameRows(err, w.rows)
		}
	}
	coefficients := res.test
	if coefficients == nil {
		coefficients, err = res.Model.Transform(ctx, test())
	}
	if err != nil {
		return nil, w.in.nameRows(err, rows)
	}
	find := func() ([]int, error) { return by(ctx, train, truth, coefficients) }
	if res.found == nil {
		return find()
	}
	_, k := coefficients.Dims()
	return res.found[k].get(ctx, find)
}

// checkSigns refuses data with negative values for methods that do not take
// them, with the value and the column, from 1, of the data.
func checkSigns(in *Inputs, methods []*method) error {
	row, column, value, found := in.source().firstNegative()
	if !found {
		return nil
	}
	if v := in.Set.Vectors; v != nil && in.Features.Joined == nil {
		if _, m := v.Dims(); column < m && v.At(in.Rows[row], column) < 0 {
			value = v.At(in.Rows[row], column)
		}
	}
	for _, m := range methods {
		if !m.needs.Signed {
			return fmt.Errorf("%s: %s, column %d: value %v is negative, and %s needs values of 0 or more",
				in.Set.Name, in.Set.Names[in.Rows[row]], column+1, value, m.Label())
		}
	}
	return nil
}
