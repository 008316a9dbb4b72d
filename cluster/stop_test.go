package cluster

import (
	"context"
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/memory"
)

// TestStops: every algorithm sees the end of its context.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x := mat.NewDense(3, 1, []float64{1, 2, 3})
	s := mat.NewSymDense(3, []float64{1, 2, 3, 0, 4, 6, 0, 0, 9})
	k := KMeans{K: 2}
	for name, fit := range map[string]func() error{
		"k-means":        func() error { _, err := k.Fit(ctx, x); return err },
		"cop-k-means":    func() error { _, err := COPKMeans{k}.Fit(ctx, x, Known{}); return err },
		"kernel k-means": func() error { _, err := KernelKMeans{K: 2}.Fit(ctx, s); return err },
		"ss-kk":          func() error { _, err := SSKK{KernelKMeans: KernelKMeans{K: 2}}.Kernel(ctx, s, Known{}); return err },
		"ncut":           func() error { _, err := NormalisedCut{k}.Embed(ctx, s); return err },
		"ss-snc":         func() error { _, err := SSSNC{NormalisedCut{k}}.Fit(ctx, s, Known{}); return err },
		"nearest":        func() error { _, err := Nearest(ctx, DistanceEuclidean, x, x, 1); return err },
	} {
		if err := fit(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMemoryIsChecked: eigenvectors that do not fit are refused with how much they
// need.
func TestMemoryIsChecked(t *testing.T) {
	ctx := memory.NewContext(context.Background(), memory.New(memory.Least))
	const n = 2000
	s := mat.NewSymDense(n, nil)
	s.SetSym(0, 1, 1)
	var limit *memory.LimitError
	if _, err := (NormalisedCut{KMeans{K: 2}}).Fit(ctx, s); !errors.As(err, &limit) {
		t.Errorf("ncut: %v", err)
	}
	if _, err := (SSKK{KernelKMeans: KernelKMeans{K: 2}}).Kernel(ctx, s, Known{}); !errors.As(err, &limit) {
		t.Errorf("ss-kk: %v", err)
	}
}
