package grouping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Fit is one factorisation of a set, without clustering.
type Fit struct {
	// Method is the method. Its solver is fast, unless its settings name another or fast does not support it.
	Method spec.Method
	Rank   int // k, the number of basis vectors
	// UseLabels gives the method the set's classes as labels, and Links its must-links and cannot-links.
	UseLabels bool
	Links     datasets.Links
	Start     *factor.Start // the initial factors, or nil for the method's own
	Seed      uint64
	// Batch is as in Groups. Coefficients, if set, then receives the coefficients instead of memory.
	Batch        int
	Coefficients factor.Stored
	// OnIteration, if set, is called after each iteration.
	OnIteration func(iteration int, objective float64)
}

// Check returns an error, before features are computed, for a method that is no factorisation or that cannot start from
// Start. With a set, it also checks the set's sizes. With skipBad it does not check the number of samples, because some
// may be skipped.
func (f Fit) Check(set *datasets.Set, skipBad bool) (err error) {
	defer guard.Catch(&err)
	guard.FailIf(spec.OnFeatures(f.Method.Name),
		"%s does not factorise; choose another method (see partwise methods)", f.Method.Name)
	method := guard.Must(f.Method.Build())
	_, parts := method.(factor.Composition)
	needs := f.Method.Needs()
	switch {
	case f.Rank < 1:
		return errors.New("the rank is unknown: set rank to 1 or more")
	case f.Start != nil && !parts:
		return fmt.Errorf("%s does not support initial factors", f.Method.Label())
	case f.Start != nil && f.Method.Restarts > 1:
		return errors.New("restarts need random initial factors")
	case f.Method.Tune != nil:
		return spec.ErrTune
	case f.Method.Consensus:
		return errors.New("consensus needs clusters; use partwise cluster")
	case needs.Labels && !f.UseLabels && !(needs.Links && !f.Links.None()):
		return lacksLabels(f.Method.Label(), needs.Links)
	case set == nil:
		return nil
	}
	if n := set.Len(); f.Rank > n {
		return fmt.Errorf("rank %d is above the number of samples of %s, %d", f.Rank, set.Name, n)
	}
	if f.Start == nil || skipBad {
		return nil
	}
	for i, of := range []*mat.Dense{f.Start.Coefficients, f.Start.Weights} {
		if of == nil {
			continue
		}
		if r, c := of.Dims(); r != set.Len() || c != f.Rank {
			return fmt.Errorf("the array %q is %d×%d; expected %d×%d (samples × rank)", startArrays[i+1], r, c, set.Len(), f.Rank)
		}
	}
	return nil
}

// Find factorises the inputs. It calls progress, which may be nil, with "factorising" after each iteration. A panic
// becomes an error.
func (f Fit) Find(ctx context.Context, in *input.Inputs, progress input.Progress) (*factor.Result, error) {
	return input.Reported(ctx, progress, func(r *input.Reporter) (*factor.Result, error) { return f.find(ctx, in, r), nil })
}

func (f Fit) find(ctx context.Context, in *input.Inputs, progress *input.Reporter) *factor.Result {
	guard.Check(f.Check(nil, true))
	g := Groups{K: f.Rank, Method: f.Method, UseLabels: f.UseLabels, Links: f.Links, Rank: &spec.Rank{Plus: f.Rank, Fixed: true}, Seed: f.Seed, Batch: f.Batch, coefficients: f.Coefficients}
	w := g.work(in, progress)
	defer g.acquire(ctx, in, w.Method, 1)()
	w.Start = f.Start
	if tell := w.OnIteration; f.OnIteration != nil {
		w.OnIteration = func(i int, objective float64) {
			progress.Call(func() { f.OnIteration(i, objective) })
			tell(i, objective)
		}
	}
	return guard.Must(w.Fit(ctx, f.Rank))
}

var startArrays = []string{"basis", "coefficients", "weights", "rows", "columns"}

// ReadStart reads initial factors from a NumPy .npz file of size bytes: basis, m×k; coefficients and weights, n×k; and
// for images of h×w pixels rows, h×k, and columns, w×k. All arrays are optional, and other arrays are ignored. Values
// must be finite and at least 0. It returns an error with the place of an invalid value, and for arrays of different k.
// k is the number of basis vectors.
func ReadStart(r io.ReaderAt, size int64) (start *factor.Start, k int, err error) {
	defer guard.Catch(&err)
	z := guard.Must(npz.Open(r, size))
	start = &factor.Start{}
	first := ""
	for i, to := range []**mat.Dense{&start.Basis, &start.Coefficients, &start.Weights, &start.Rows, &start.Columns} {
		name := startArrays[i]
		if !z.Has(name) || name == "columns" && start.Rows == nil {
			continue
		}
		values, shape, err := z.Floats(name, 2, nil)
		switch {
		case err != nil:
			return nil, 0, err
		case len(values) == 0:
			guard.Fail("the array %q has shape %v; expected a non-empty matrix", name, shape)
		case first != "" && shape[1] != k:
			guard.Fail("the array %q has rank %d, but %q has rank %d", name, shape[1], first, k)
		}
		for at, v := range values {
			if !(v >= 0) || math.IsInf(v, 0) {
				guard.Fail("the array %q, row %d, column %d: value %v; expected 0 or more", name, at/shape[1]+1, at%shape[1]+1, v)
			}
		}
		*to, k = mat.NewDense(shape[0], shape[1], values), shape[1]
		if first == "" {
			first = name
		}
	}
	if first == "" {
		return nil, 0, fmt.Errorf("the file has none of the arrays %s", strings.Join(startArrays, ", "))
	}
	return start, k, nil
}
