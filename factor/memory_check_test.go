package factor

import (
	"context"
	"errors"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/principal"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/memory"
)

// TestRoom: what would hold n×n values, or samples whole that are stored
// sparse, says how much memory that is before it takes any.
func TestRoom(t *testing.T) {
	ctx := memory.NewContext(context.Background(), memory.New(memory.Least))
	const n = 3000
	x := mat.NewDense(n, 2, nil)
	x.Apply(func(i, j int, _ float64) float64 { return float64(1 + (i+j)%7) }, x)
	signed := mat.DenseCopyOf(x)
	signed.Set(1, 1, -1)
	wide, err := NewCSR(2, 1<<24, []int{0, 1, 2}, []int{0, 1}, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		m Method
		x mat.Matrix
	}{
		"kernel": {CF{Kernel{Function: KernelRBF}}, x}, "learned graph": {CFOGL{}, x}, "similarities": {SSNMF{}, x},
		"signed": {CF{}, signed}, "pca": {PCA{}, wide},
	} {
		var limit *memory.LimitError
		if _, err := c.m.Fit(ctx, c.x, Known{}, Options{Rank: 2, Iterations: 1}); !errors.As(err, &limit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStops: what takes long before the first iteration sees the end of its context.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := planted(3)
	for _, info := range Methods() {
		m, err := info.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		m = ForImages(m, p.image)
		if _, err := m.Fit(ctx, p.x, p.known, p.opt); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", info.Name, err)
		}
	}
	d := view.Dense{X: p.x}
	if _, err := (Neighbourhood{}).Graph(ctx, p.x); !errors.Is(err, context.Canceled) {
		t.Errorf("neighbourhood: %v", err)
	}
	if _, err := view.InnerProducts(ctx, d); !errors.Is(err, context.Canceled) {
		t.Errorf("inner products: %v", err)
	}
	if _, _, _, err := leadingSVD(ctx, d, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("singular vectors: %v", err)
	}
	all := slices.Repeat([]bool{true}, p.x.RawMatrix().Rows)
	directions, err := principal.New(context.Background(), d, all, all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := directions.Ask(ctx, func([]float64) int { return 1 }); !errors.Is(err, context.Canceled) {
		t.Errorf("principal directions: %v", err)
	}
	if _, err := principal.Generalised(ctx, mat.NewSymDense(1, []float64{1}), mat.NewSymDense(1, []float64{1}), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("generalised eigenproblem: %v", err)
	}
}
