package factor

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// plantedRank is a product of sparse factors of rank k and a little noise.
func plantedRank(seed uint64, n, m, k int) *mat.Dense {
	src := rand.New(rand.NewPCG(seed, 1))
	draw := func(rows, columns int) *mat.Dense {
		a := mat.NewDense(rows, columns, nil)
		a.Apply(func(_, _ int, _ float64) float64 {
			if src.Float64() < 0.5 {
				return src.ExpFloat64()
			}
			return 0
		}, a)
		return a
	}
	x := mat.NewDense(n, m, nil)
	x.Mul(draw(n, k), draw(k, m))
	noise := 0.05 * mat.Sum(x) / float64(n*m)
	x.Apply(func(_, _ int, v float64) float64 { return v + noise*src.Float64() }, x)
	return x
}

// TestChooseRank: the rank of which data was made is found by either rule, of dense and of
// sparse data, on any number of cores.
func TestChooseRank(t *testing.T) {
	for _, k := range []int{4} {
		x := plantedRank(uint64(k), 60, 40, k)
		for _, by := range []RankRule{RankHeldOut, RankStability} {
			calls, last := 0, 0
			s := RankSearch{By: by, To: 8, Seed: 5, Progress: func(done, total int) {
				if calls++; done != calls || done > total {
					t.Errorf("progress %d of %d in call %d", done, total, calls)
				}
				last = done
			}}
			rank, curve, err := ChooseRank(context.Background(), x, s)
			if err != nil {
				t.Fatal(err)
			}
			if rank < k || rank > k+1 { // the noise has a mean
				t.Errorf("by %v: rank %d of %d: %+v", by, rank, k, curve)
			}
			if rank != curve.Rank[curve.Best(by)] || last != len(curve.Rank) || !slices.IsSorted(curve.Rank) {
				t.Errorf("by %v: rank %d of %v", by, rank, curve.Rank)
			}
			s.Progress = nil
			restore := parallel.SetCores(1)
			again, same, err := ChooseRank(context.Background(), x, s)
			restore()
			if err != nil || again != rank || !reflect.DeepEqual(same, curve) {
				t.Errorf("by %v: another curve on one core", by)
			}
		}
		rank, _, err := ChooseRank(context.Background(), toSparse(x), RankSearch{To: 8, Seed: 5})
		if err != nil || rank < k || rank > k+1 {
			t.Errorf("sparse: rank %d of %d, %v", rank, k, err)
		}
	}
}

func TestRankCurveBest(t *testing.T) {
	c := RankCurve{
		Rank: []int{2, 3, 4, 6}, Misfit: []float64{0.5, 0.21, 0.2, 0.3}, Deviation: []float64{0.1, 0.1, 0.02, 0.1},
		Stability: []float64{1, 0.99, 0.9, 0.97},
	}
	if at := c.Best(RankHeldOut); at != 1 {
		t.Errorf("held out: place %d", at)
	}
	if at := c.Best(RankStability); at != 1 {
		t.Errorf("stability: place %d", at)
	}
	c.Stability = []float64{0.7, 0.9, 0.8, 0.6}
	if at := c.Best(RankStability); at != 1 {
		t.Errorf("the most stable: place %d", at)
	}
	if ranks := c.between(1); ranks != nil {
		t.Errorf("between 2, 3 and 4: %v", ranks)
	}
	if ranks := c.between(3); !slices.Equal(ranks, []int{5}) {
		t.Errorf("between 4 and 6: %v", ranks)
	}
}

// TestStability: the same vectors in another order and of another length are the same.
func TestStability(t *testing.T) {
	a := mat.NewDense(3, 2, []float64{1, 0, 0, 2, 0, 0})
	b := mat.NewDense(3, 2, []float64{0, 7, 3, 0, 0, 0})
	if s := stability([]*mat.Dense{a, b}); s != 1 {
		t.Errorf("stability %v", s)
	}
	c := mat.NewDense(3, 2, []float64{0, 0, 3, 0, 0, 4}) // one of two
	if s := stability([]*mat.Dense{a, c}); s != 0.5 {
		t.Errorf("stability %v", s)
	}
}

func TestChooseRankRefuses(t *testing.T) {
	x := plantedRank(1, 12, 9, 2)
	negative := mat.DenseCopyOf(x)
	negative.Set(3, 4, -1)
	for want, c := range map[string]struct {
		x mat.Matrix
		s RankSearch
	}{
		"ranks from 4 to 3":                 {x, RankSearch{From: 4, To: 3}},
		"ranks from 2 to 10 of 12 samples":  {x, RankSearch{To: 10}},
		"ranks from -1 to":                  {x, RankSearch{From: -1}},
		"sample 4: column 5: value -1":      {negative, RankSearch{}},
		"too little data":                   {mat.NewDense(2, 2, []float64{1, 1, 1, 1}), RankSearch{}},
		"no data":                           {&mat.Dense{}, RankSearch{}},
		"9":                                 {x, RankSearch{By: 9}},
		"sample 1: all 3 values are zero":   {mat.NewDense(2, 3, nil), RankSearch{}},
		"ranks from 2 to 12 of 12 samples ": {x, RankSearch{To: 12}},
	} {
		if _, _, err := ChooseRank(context.Background(), c.x, c.s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := ChooseRank(ctx, x, RankSearch{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
