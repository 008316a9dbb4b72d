package factor

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// seenBySolvers are both costs with the entries held out, by each solver that serves them.
func seenBySolvers(h HeldOut) map[string]solved {
	return bySolvers(map[string]Parts{"frobenius": {HeldOut: h}, "kl": {Cost: CostKL, HeldOut: h}})
}

// plainCost adds up the cost over the entries that are seen, one by one.
func plainCost(c Cost, x *mat.Dense, h HeldOut, r *Result) (sum float64) {
	n, m := x.Dims()
	for i := range n {
		for j := range m {
			if slices.Contains(h[i], j) {
				continue
			}
			y := algebra.Dot(r.Coefficients.RawRowView(i), r.Basis.RawRowView(j))
			if c == CostKL {
				sum += view.DivergenceTerm(x.At(i, j), y)
			} else {
				sum += (x.At(i, j) - y) * (x.At(i, j) - y)
			}
		}
	}
	return sum
}

// TestHeldOut: the objective is the cost over the entries that are seen and never rises, dense
// and sparse data have the same answer, and what the entries held out hold changes nothing.
func TestHeldOut(t *testing.T) {
	for seed := range uint64(60) {
		p := randomProblem(seed, false)
		src := rand.New(rand.NewPCG(seed, 91))
		if seed%2 == 1 {
			degenerations[int(seed/2)%len(degenerations)].apply(&p, src)
		}
		n, m := p.x.Dims()
		h := HoldOut(n, m, 0.3*src.Float64(), seed)
		for name, parts := range seenBySolvers(h) {
			what := fmt.Sprintf("%s %v, %s", name, p, parts.Cost)
			q := parts.posed(p)
			res, err := parts.Fit(context.Background(), q.x, q.known, q.opt)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			size, err := rule{method: parts.Parts, parts: parts.Parts}.size(q.x)
			if err != nil {
				t.Fatal(err)
			}
			for i, j := range res.Objective[1:] {
				if before := res.Objective[i]; j > before+1e-12*before+1e-13*size {
					t.Errorf("%s: the objective rises from %v to %v in iteration %d", what, before, j, i+1)
				}
			}
			nearNumber(t, what+" objective", res.Objective[len(res.Objective)-1]/size, plainCost(parts.Cost, q.x, h, res)/size, 1e-9)

			other := mat.DenseCopyOf(q.x)
			for i, columns := range h {
				for _, j := range columns {
					other.Set(i, j, q.x.At(i, j)+mat.Max(q.x)*src.Float64())
				}
			}
			same, err := parts.Fit(context.Background(), other, q.known, q.opt)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if !mat.Equal(same.Basis, res.Basis) || !mat.Equal(same.Coefficients, res.Coefficients) {
				t.Errorf("%s: what is held out changes the factors", what)
			}
			q.opt.Iterations = 5
			if res, err = parts.Fit(context.Background(), q.x, q.known, q.opt); err != nil {
				t.Fatal(err)
			}
			sparse, err := parts.Fit(context.Background(), toSparse(q.x), q.known, q.opt)
			if err != nil {
				t.Fatal(err)
			}
			near(t, what+" sparse coefficients", sparse.Coefficients, res.Coefficients, 1e-6*max(1, mat.Max(res.Coefficients)))
		}
	}
}

// TestHeldOutNothing: where no entry is held out the fit is the plain one.
func TestHeldOutNothing(t *testing.T) {
	for seed := range uint64(20) {
		p := randomProblem(seed, false)
		n, m := p.x.Dims()
		for name, parts := range seenBySolvers(HoldOut(n, m, 0, seed)) {
			q := parts.posed(p)
			got, err := parts.Fit(context.Background(), q.x, q.known, q.opt)
			if err != nil {
				t.Fatal(err)
			}
			parts.HeldOut = nil
			want, err := parts.Fit(context.Background(), q.x, q.known, q.opt)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" basis", got.Basis, want.Basis, 1e-9)
			near(t, name+" coefficients", got.Coefficients, want.Coefficients, 1e-9*mat.Max(want.Coefficients))
		}
	}
}

// TestHeldOutPermuted: samples in another order, with what is held out of them, have the same
// answers in that order; and data times a number has its coefficients times that.
func TestHeldOutPermuted(t *testing.T) {
	const by = 255
	for seed := range uint64(20) {
		p := randomProblem(seed, false)
		n, m := p.x.Dims()
		h := HoldOut(n, m, 0.15, seed)
		order := rand.New(rand.NewPCG(seed, 3)).Perm(n)
		same, x, held := make([]int, n), algebra.Like(p.x), make(HeldOut, n)
		for to, from := range order {
			same[to], held[to] = to, h[from]
			x.SetRow(to, p.x.RawRowView(from))
		}
		x.Scale(by, x)
		for name, parts := range seenBySolvers(h) {
			q := parts.posed(p)
			q.opt.Iterations, q.opt.Start = 10, randomStart(q, same)
			want, err := parts.Fit(context.Background(), q.x, Known{}, q.opt)
			if err != nil {
				t.Fatal(err)
			}
			q.opt.Start = randomStart(q, order)
			q.opt.Start.Coefficients.Scale(by, q.opt.Start.Coefficients)
			parts.HeldOut = held
			got, err := parts.Fit(context.Background(), x, Known{}, q.opt)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" "+p.String()+" basis", got.Basis, want.Basis, 1e-6)
			back := algebra.Like(want.Coefficients)
			for to, from := range order {
				back.SetRow(from, got.Coefficients.RawRowView(to))
			}
			back.Scale(1.0/by, back)
			near(t, name+" "+p.String()+" coefficients", back, want.Coefficients, 1e-6*max(1, mat.Max(want.Coefficients)))
		}
	}
}

// TestHeldOutFound: entries of data that are a product of the rank are found from the others.
func TestHeldOutFound(t *testing.T) {
	p := planted(1)
	n, m := p.x.Dims()
	h := HoldOut(n, m, 0.1, 1)
	for name, parts := range seenBySolvers(h) {
		p.opt.Solver, p.opt.Iterations = parts.solver, 3000
		res, err := parts.Fit(context.Background(), p.x, Known{}, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		misfit, whole := h.Misfit(p.x, res)
		if !(misfit < 1e-3*whole) || whole == 0 {
			t.Errorf("%s: the held-out misfit is %g of %g", name, misfit, whole)
		}
		var found float64
		for i, columns := range h {
			for _, j := range columns {
				d := p.x.At(i, j) - algebra.Dot(res.Coefficients.RawRowView(i), res.Basis.RawRowView(j))
				found += d * d
			}
		}
		nearNumber(t, name, misfit, found, 1e-12)
	}
}

func TestHoldOut(t *testing.T) {
	const n, m = 300, 200
	h := HoldOut(n, m, 0.1, 4)
	count, byColumn := 0, make([]int, m)
	for _, columns := range h {
		if !slices.IsSorted(columns) {
			t.Fatalf("columns %v", columns)
		}
		count += len(columns)
		for _, j := range columns {
			byColumn[j]++
		}
	}
	if share := float64(count) / (n * m); math.Abs(share-0.1) > 0.005 {
		t.Errorf("%v are held out", share)
	}
	for j, c := range byColumn { // 30 on average, with a standard deviation of 5.2
		if c < 8 || c > 55 {
			t.Errorf("%d of column %d", c, j)
		}
	}
	// A sample's entries do not depend on how many samples there are.
	if few := HoldOut(10, m, 0.1, 4); !slices.EqualFunc(few, h[:10], slices.Equal[[]int]) {
		t.Error("other entries of fewer samples")
	}
	if all := HoldOut(2, 3, 1, 4); !slices.EqualFunc(all, HeldOut{{0, 1, 2}, {0, 1, 2}}, slices.Equal[[]int]) {
		t.Errorf("all: %v", all)
	}
}

func TestHeldOutRefused(t *testing.T) {
	p := planted(1)
	n, m := p.x.Dims()
	h := HoldOut(n, m, 0.1, 1)
	with := func(at int, columns ...int) HeldOut {
		h := slices.Clone(h)
		h[at] = columns
		return h
	}
	for want, parts := range map[string]Parts{
		"with a concept basis":          {Basis: BasisConcept, HeldOut: h},
		"ties by labels":                {Tie: TieLabels, HeldOut: h},
		"normalised-cut weights":        {Weighting: WeightingNormalisedCut, HeldOut: h},
		"the penalty l1":                {Penalties: Penalties{L1{1}}, HeldOut: h},
		"with unit-norm":                {UnitNorm: true, HeldOut: h},
		"of 29 samples, and there are":  {HeldOut: h[1:]},
		"row 3: column index 30":        {HeldOut: with(2, 4, 30)},
		"row 1: column index 3 after 3": {HeldOut: with(0, 3, 3)},
		"row 2: column index -1":        {HeldOut: with(1, -1)},
	} {
		if _, err := parts.Fit(context.Background(), p.x, p.known, p.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
