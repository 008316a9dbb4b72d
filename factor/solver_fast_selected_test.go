package factor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// TestFastSelected: on data of many samples, where weights of selected samples move,
// the objective never rises, ends near where the conditions of a minimum hold, and hardly
// higher than by sweeps over all samples, with their inner products formed; few samples have
// weights in the end; and the bytes are the same on any number of cores. At the start more
// samples have weights than are selected.
func TestFastSelected(t *testing.T) {
	const n, m, k = 1000, 12, 3
	for seed := range uint64(2) {
		for _, tie := range []Tie{TieNone, TieLabels} {
			src := rand.New(rand.NewPCG(seed, 11))
			x := mat.NewDense(n, m, nil)
			for i := range n {
				for j := range m {
					v := 0.1 * src.Float64()
					if i%k == j%k {
						v += src.Float64()
					}
					x.Set(i, j, v)
				}
			}
			known := classes(n, k, n/3)
			parts := Parts{Basis: BasisConcept, Tie: tie}
			run := func(x mat.Matrix, formed bool, cores, iterations int) (*Factorisation, *Result) {
				defer parallel.SetCores(cores)()
				opt := Options{Rank: k, Iterations: iterations, Seed: seed, Solver: Fast{}, KeepScale: true}
				f, err := parts.start(context.Background(), x, known, opt)
				if err != nil {
					t.Fatal(err)
				}
				if m := f.model.(*conceptModel); formed {
					if m.k, err = innerProducts(context.Background(), f.whole); err != nil {
						t.Fatal(err)
					}
					m.prepare(false)
					f.step = startFastConcept(f)
				} else if m.k != nil {
					t.Fatal("the inner products are formed")
				}
				if err := f.iterate(context.Background(), opt); err != nil {
					t.Fatal(err)
				}
				res, err := f.finish(opt)
				if err != nil {
					t.Fatal(err)
				}
				return f, res
			}
			what := fmt.Sprintf("seed %d, %v", seed, tie)
			f, res := run(x, false, 1, 300)
			for i, j := range res.Objective[1:] {
				if j > res.Objective[i] {
					t.Errorf("%s: the objective rises from %v to %v", what, res.Objective[i], j)
				}
			}
			if far := kkt(f) / inner(x, x); far > 1e-3 {
				t.Errorf("%s: %v from the conditions of a minimum", what, far)
			}
			used := 0
			for i := range n {
				if mat.Max(res.Weights.RowView(i)) > 0 {
					used++
				}
			}
			if used > n/10 {
				t.Errorf("%s: %d of %d samples have weights", what, used, n)
			}
			_, all := run(x, true, 1, 100)
			if now, other := res.Objective[300], all.Objective[100]; now > 1.0005*other {
				t.Errorf("%s: the objective is %v, by sweeps over all samples %v", what, now, other)
			}
			_, one := run(x, false, 1, 12)
			for _, cores := range []int{2, 7} {
				if _, several := run(x, false, cores, 12); !reflect.DeepEqual(one, several) {
					t.Errorf("%s: other bytes on %d cores", what, cores)
				}
			}
		}
	}
}
