package factor

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// TestSparseCodingNeverRises: nor is an atom longer than 1, and the codes are
// those of the last dictionary.
func TestSparseCodingNeverRises(t *testing.T) {
	for seed := range uint64(200) {
		p := randomProblem(seed, seed%2 == 0)
		p.opt.Iterations = 15
		lambda := randomLambda(seed)
		if lambda > 0 {
			lambda = min(lambda, 1) * mat.Norm(p.x, math.Inf(1))
		}
		if seed%3 == 0 {
			src := rand.New(rand.NewPCG(seed, 23))
			_, m := p.x.Dims()
			start := mat.NewDense(m, p.opt.Rank, nil)
			start.Apply(func(int, int, float64) float64 { return 3 * src.NormFloat64() }, start)
			p.opt.Start = &Start{Basis: start}
		}
		res, err := SparseCoding{Lambda: lambda}.Fit(context.Background(), p.x, Known{}, p.opt)
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		size := view.SumSquares(view.Dense{X: p.x})
		for i := 1; i < len(res.Objective); i++ {
			if before, now := res.Objective[i-1], res.Objective[i]; now > before+1e-9*before+1e-13*size {
				t.Fatalf("%v λ=%v: objective rises from %v to %v at iteration %d", p, lambda, before, now, i)
			}
		}
		for r := range p.opt.Rank {
			if l := mat.Norm(res.Basis.ColView(r), 2); !(l <= 1+1e-12) {
				t.Errorf("%v: an atom of length %v", p, l)
			}
		}
		if !algebra.Finite(res.Basis) || !algebra.Finite(res.Coefficients) {
			t.Errorf("%v: values that are no numbers", p)
		}
		codes, err := res.Model.Transform(context.Background(), p.x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, p.String()+" codes", res.Coefficients, codes, 0)
	}
}

func TestSparseCodingPermutingSamples(t *testing.T) {
	for seed := range uint64(20) {
		p := classProblem(seed)
		n, m := p.x.Dims()
		p.opt.Rank = min(p.opt.Rank, m)
		src := rand.New(rand.NewPCG(seed, 3))
		order := src.Perm(n)
		x := algebra.Like(p.x)
		for to, from := range order {
			x.SetRow(to, p.x.RawRowView(from))
		}
		start := mat.NewDense(m, p.opt.Rank, nil)
		start.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, start)
		p.opt.Start, p.opt.Iterations = &Start{Basis: start}, 5
		want, err := SparseCoding{Lambda: 1}.Fit(context.Background(), p.x, Known{}, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string]mat.Matrix{"dense": x, "sparse": toSparse(x)} {
			got, err := SparseCoding{Lambda: 1}.Fit(context.Background(), data, Known{}, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" "+p.String()+" atoms", got.Basis, want.Basis, 1e-7)
			back := algebra.Like(want.Coefficients)
			for to, from := range order {
				back.SetRow(from, got.Coefficients.RawRowView(to))
			}
			near(t, name+" "+p.String()+" codes", back, want.Coefficients, 1e-6)
		}
	}
}

func TestSparseCodingStarts(t *testing.T) {
	p := randomProblem(9, false)
	p.opt.Rank, p.opt.Iterations = 3, 2
	for _, init := range []Init{InitRandom, InitNNDSVDa, InitNMF} {
		p.opt.Init = init
		var fits [3]*Result
		for i := range fits {
			opt := p.opt
			opt.Seed += uint64(i / 2)
			var err error
			if fits[i], err = (SparseCoding{}).Fit(context.Background(), p.x, Known{}, opt); err != nil {
				t.Fatalf("%s: %v", init, err)
			}
		}
		near(t, "the same once more", fits[1].Basis, fits[0].Basis, 0)
		if same := mat.Equal(fits[2].Basis, fits[0].Basis); same != (init == InitNNDSVDa) {
			t.Errorf("%s: another seed gives the same: %v", init, same)
		}
	}
	// A sample that no atom resembles keeps a code of zeros, and an atom that no
	// sample uses stays as it is.
	atom := mat.NewDense(2, 1, []float64{0, 2})
	res, err := SparseCoding{}.Fit(context.Background(), mat.NewDense(1, 2, []float64{1, 0}), Known{}, Options{Rank: 1, Start: &Start{Basis: atom}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "atom", res.Basis, mat.NewDense(2, 1, []float64{0, 1}), 0)
	near(t, "code", res.Coefficients, mat.NewDense(1, 1, nil), 0)
}

func TestSparseCodingBadInput(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, -6})
	for want, c := range map[string]struct {
		m   SparseCoding
		opt Options
	}{
		"lambda is -2":                  {SparseCoding{Lambda: -2}, Options{Rank: 1}},
		"lambda is NaN":                 {SparseCoding{Lambda: math.NaN()}, Options{Rank: 1}},
		"rank 4 is above":               {SparseCoding{}, Options{Rank: 4}},
		"initial atoms are 1×1":         {SparseCoding{}, Options{Rank: 1, Start: &Start{Basis: mat.NewDense(1, 1, nil)}}},
		"initial atoms hold NaN":        {SparseCoding{}, Options{Rank: 1, Start: &Start{Basis: mat.NewDense(2, 1, []float64{1, math.NaN()})}}},
		`there is no init "zeros"`:      {SparseCoding{}, Options{Rank: 1, Init: "zeros"}},
		"initialisation by NMF: sample": {SparseCoding{}, Options{Rank: 1, Init: InitNMF}},
	} {
		if _, err := c.m.Fit(context.Background(), x, Known{}, c.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := SparseCoding{}.Fit(ctx, x, Known{}, Options{Rank: 1, OnIteration: func(i int, _ float64) {
		if i == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "iteration 4") {
		t.Errorf("cancelled after iteration 3: %v", err)
	}
}

// TestSparseCodingOfLikeSamples: where samples, and so atoms, are all but the same, the
// equations of the codes lose digits, and the objective does not rise for that.
func TestSparseCodingOfLikeSamples(t *testing.T) {
	for seed := range uint64(200) {
		src := rand.New(rand.NewPCG(seed, 1))
		n, m := 12, 10+src.IntN(20)
		opt := Options{Rank: 2 + src.IntN(11), Iterations: 10, Seed: seed}
		offset := math.Pow(10, 4+2*src.Float64())
		x := mat.NewDense(n, m, nil)
		x.Apply(func(int, int, float64) float64 { return offset + src.NormFloat64() }, x)
		r := rule{method: SparseCoding{Lambda: WeightNone}, descends: true}
		res, err := r.method.Fit(context.Background(), x, Known{}, opt)
		if err == nil {
			err = r.check(x, problem{x: x, opt: opt}, res)
		}
		if err != nil {
			t.Errorf("seed %d, samples about %v: %v", seed, offset, err)
		}
	}
}
