package factor

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// fuse is a context that ends once it has been asked so many times.
type fuse struct {
	context.Context
	left atomic.Int64
}

func (f *fuse) Err() error {
	if f.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// fused is Fast under a context that ends within the first iteration.
type fused struct {
	Fast
	t   *testing.T
	ctx *fuse
}

func (s fused) Start(f *Factorisation) (func(context.Context) error, error) {
	iterate, err := s.Fast.Start(f)
	return func(ctx context.Context) error {
		s.ctx.left.Store(2)
		err := iterate(ctx)
		if err == nil {
			s.t.Error("the iteration went on to its end")
		}
		if asked := -s.ctx.left.Load(); asked > 20 {
			s.t.Errorf("%d parts of the iteration began after the end of the context", asked)
		}
		return err
	}, err
}

// TestInterruptedIteration: an iteration of fast ends with its context, whatever the method.
func TestInterruptedIteration(t *testing.T) {
	const n, m, k = 240, 90, 6
	x := random(n, m)
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i%(k+1) - 1
	}
	served := 0
	for _, info := range append(Methods(), Info{Name: "unit", zero: Parts{UnitNorm: true}}) {
		parts, ok := info.zero.(Composition)
		if !ok || (Fast{}).Serves(parts.AsParts()) != nil {
			continue
		}
		served++
		for name, x := range map[string]mat.Matrix{"": x, " of few samples": x.Slice(0, m, 0, m), " of sparse samples": toSparse(x)} {
			t.Run(info.Name+name, func(t *testing.T) {
				ctx := &fuse{Context: t.Context()}
				ctx.left.Store(1 << 40)
				rows, _ := x.Dims()
				_, err := info.zero.Fit(ctx, x, Known{Labels: labels[:rows]}, Options{Rank: k, Seed: 1, Solver: fused{t: t, ctx: ctx}})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
	if served < 8 {
		t.Errorf("fast serves %d methods of the registry", served)
	}
}
