package report

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// each calls f for 0 … n-1, on all processors. It returns the first error in their
// order, or that of the context. A panic of f is an error.
func each(ctx context.Context, n int, f func(i int) error) error {
	return eachOf(ctx, runtime.GOMAXPROCS(0), n, f)
}

// eachOf is each with at most so many calls at a time.
func eachOf(ctx context.Context, workers, n int, f func(i int) error) error {
	errs := make([]error, n)
	g, working := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range n {
		if working.Err() != nil {
			break
		}
		g.Go(func() error {
			errs[i] = guard.Call(func() error { return f(i) })
			return errs[i]
		})
	}
	_ = g.Wait() // of several errors, not the first in their order, which were started before it
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
