package features

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"
)

// run is what every extraction has: what is extracted from, and how.
type run struct {
	set       *datasets.Set
	normalise Norm
	skipBad   bool
	workers   int
	progress  func(done, total int)
}

// dense returns the matrix of the rows that fill writes, normalised.
func (r run) dense(ctx context.Context, m int, fill func(i int, row []float64) error) (*Matrix, error) {
	n := r.set.Len()
	if n > math.MaxInt/8/max(m, 1) {
		return nil, fmt.Errorf("features: %d samples of %d values are more than can be counted", n, m)
	}
	release, err := memory.FromContext(ctx).Keep(8*int64(n)*int64(m), fmt.Sprintf("the features of %s, %d×%d", r.set.Name, n, m))
	if err != nil {
		return nil, err
	}
	defer release()
	x := make([]float64, n*m)
	out, err := r.samples(ctx, func(i int) error {
		row := x[i*m : (i+1)*m]
		if err := fill(i, row); err != nil {
			return err
		}
		return r.normaliseRow(i, row, nil)
	})
	if err != nil {
		return nil, err
	}
	for at, i := range out.Rows {
		copy(x[at*m:(at+1)*m], x[i*m:(i+1)*m])
	}
	out.X = mat.NewDense(len(out.Rows), m, x[:len(out.Rows)*m])
	return out, nil
}

// sparse returns the rows of x, normalised.
func (r run) sparse(ctx context.Context, x *sparse.CSR) (*Matrix, error) {
	if r.normalise != NormNone {
		n, m := x.Dims()
		release, err := memory.FromContext(ctx).Keep(16*int64(x.NNZ()), fmt.Sprintf("the features of %s, %d×%d", r.set.Name, n, m))
		if err != nil {
			return nil, err
		}
		defer release()
		x = x.Clone()
	}
	out, err := r.samples(ctx, func(i int) error {
		columns, values := x.Row(i)
		return r.normaliseRow(i, values, columns)
	})
	if err != nil {
		return nil, err
	}
	if len(out.Skipped) > 0 {
		x = x.SelectRows(out.Rows)
	}
	out.X = x
	return out, nil
}

func (r run) normaliseRow(i int, values []float64, columns []int) error {
	if err := r.normalise.apply(values, columns); err != nil {
		return fmt.Errorf("%s: %w", r.set.Names[i], err)
	}
	return nil
}

// guarded calls sample; a panic is an error that names the sample.
func (r run) guarded(i int, sample func(i int) error) error {
	err := guard.Call(func() error { return sample(i) })
	var fault *guard.PanicError
	if errors.As(err, &fault) {
		return fmt.Errorf("%s: %w", r.set.Names[i], err)
	}
	return err
}

// samples calls sample for each sample of the set, several at once, and
// returns a matrix with Rows and Skipped. Without skipBad it returns the error
// of the first sample in the set's order that has one, and otherwise of the first
// whose error is no BadSample: samples begin in that order, and those that have
// begun are finished.
func (r run) samples(ctx context.Context, sample func(i int) error) (*Matrix, error) {
	n := r.set.Len()
	if n == 0 {
		return nil, fmt.Errorf("features: the set %s has no samples", r.set.Name)
	}
	var (
		group  errgroup.Group
		failed = make([]error, n)
		stop   atomic.Bool
		mu     sync.Mutex
		done   int
	)
	if r.workers < 1 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	group.SetLimit(r.workers)
	for i := range n {
		if stop.Load() || ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			failed[i] = r.guarded(i, sample)
			if bad, _ := BadSample(failed[i]); failed[i] != nil && !(bad && r.skipBad) {
				stop.Store(true)
			}
			if r.progress != nil {
				mu.Lock()
				defer mu.Unlock()
				done++
				r.progress(done, n)
			}
			return nil
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	out := &Matrix{}
	for i, err := range failed {
		switch bad, failure := BadSample(err); {
		case err == nil:
			out.Rows = append(out.Rows, i)
		case bad && r.skipBad:
			out.Skipped = append(out.Skipped, err)
		default:
			return nil, failure
		}
	}
	if len(out.Rows) == 0 {
		return nil, fmt.Errorf("features: none of the %d samples of %s can be used: %w", n, r.set.Name, out.Skipped[0])
	}
	return out, nil
}
