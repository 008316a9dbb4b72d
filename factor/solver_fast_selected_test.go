package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// TestFastSelected: on data of many samples, where weights of selected samples move,
// the objective never rises, ends near where the conditions of a minimum hold, and hardly
// higher than by sweeps over all samples, with their inner products formed; few samples have
// weights in the end; and the bytes are the same on any number of cores. So it is too where
// weights are given at the start, of more samples than are selected, which all stay.
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
			run := func(x mat.Matrix, formed, dense bool, cores, iterations int) (*Factorisation, *Result) {
				defer parallel.SetCores(cores)()
				opt := Options{Rank: k, Iterations: iterations, Seed: seed, Solver: Fast{}, KeepScale: true}
				if dense {
					opt.Start = &Start{Weights: random(n, k)}
				}
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
				} else if given := mat.Min(m.w) > 0; given != dense {
					t.Fatalf("all samples have weights at the start: %v", given)
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
			_, all := run(x, true, false, 1, 100)
			for _, dense := range []bool{false, true} {
				what := fmt.Sprintf("seed %d, %v, all have weights at the start: %v", seed, tie, dense)
				f, res := run(x, false, dense, 1, 300)
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
				if now, other := res.Objective[300], all.Objective[100]; now > 1.0005*other {
					t.Errorf("%s: the objective is %v, by sweeps over all samples %v", what, now, other)
				}
				_, one := run(x, false, dense, 1, 12)
				for _, cores := range []int{2, 7} {
					if _, several := run(x, false, dense, cores, 12); !reflect.DeepEqual(one, several) {
						t.Errorf("%s: other bytes on %d cores", what, cores)
					}
				}
			}
		}
	}
}

// TestThinWeights: of weights on more samples than are selected the largest of each basis vector
// are left, with the same sum; weights on fewer stay; and the answer does not depend on the order in
// which samples come.
func TestThinWeights(t *testing.T) {
	const k, n = 2, 2000
	w := random(k, n)
	for i := range n {
		w.Set(1, i, math.Floor(8*w.At(1, i))) // many are equal
	}
	before, order := mat.DenseCopyOf(w), rand.New(rand.NewPCG(1, 2)).Perm(n)
	thinWeights(w, order)
	for r := range k {
		row := before.RawRowView(r)
		left := slices.Clone(order)
		slices.SortStableFunc(left, func(i, j int) int { return cmp.Compare(row[j], row[i]) })
		left = left[:firstSelected]
		var kept float64
		for _, i := range left {
			kept += row[i]
		}
		scale := floats.Sum(row) / kept
		for i, x := range w.RawRowView(r) {
			want := 0.0
			if slices.Contains(left, i) {
				want = scale * row[i]
			}
			if math.Abs(x-want) > 1e-12*want {
				t.Errorf("basis vector %d, sample %d: %v, want %v", r, i, x, want)
			}
		}
	}
	again := mat.DenseCopyOf(w)
	thinWeights(again, order)
	if !mat.Equal(again, w) {
		t.Error("weights on few samples have changed")
	}
	backwards := mat.NewDense(k, n, nil)
	for i := range n {
		backwards.SetCol(n-1-i, mat.Col(nil, i, before))
	}
	for at := range order {
		order[at] = n - 1 - order[at]
	}
	thinWeights(backwards, order)
	for i := range n {
		if !slices.Equal(mat.Col(nil, i, w), mat.Col(nil, n-1-i, backwards)) {
			t.Fatalf("sample %d has other weights in another order", i)
		}
	}
}
