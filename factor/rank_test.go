package factor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// plantedRank returns a product of sparse factors of rank k plus little noise.
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

// TestChooseRank checks that both rules find the true rank, for dense and sparse data, on any number of cores.
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
	if ranks := c.midpoints(1); ranks != nil {
		t.Errorf("between 2, 3 and 4: %v", ranks)
	}
	if ranks := c.midpoints(3); !slices.Equal(ranks, []int{5}) {
		t.Errorf("between 4 and 6: %v", ranks)
	}
}

// TestStability checks that the order and the lengths of the vectors have no effect.
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
		"ranks from 4 to 3":                  {x, RankSearch{From: 4, To: 3}},
		"ranks from 2 to 10 for 12 samples":  {x, RankSearch{To: 10}},
		"ranks from -1 to":                   {x, RankSearch{From: -1}},
		"sample 4: column 5: value -1":       {negative, RankSearch{}},
		"too little data":                    {mat.NewDense(2, 2, []float64{1, 1, 1, 1}), RankSearch{}},
		"no data":                            {&mat.Dense{}, RankSearch{}},
		"9":                                  {x, RankSearch{By: 9}},
		"sample 1: all 3 values are zero":    {mat.NewDense(2, 3, nil), RankSearch{}},
		"ranks from 2 to 12 for 12 samples ": {x, RankSearch{To: 12}},
	} {
		if _, _, err := ChooseRank(context.Background(), c.x, c.s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := ChooseRank(ctx, x, RankSearch{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// seenBySolvers returns both costs with held-out entries, for each solver that supports them.
func seenBySolvers(h HeldOut) map[string]solved {
	return bySolvers(map[string]Parts{"frobenius": {HeldOut: h}, "kl": {Cost: CostKL, HeldOut: h}})
}

// plainCost sums the cost over the entries that are not held out.
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

// TestHeldOut checks that the objective is the cost over the other entries and never rises, that dense and sparse data
// have the same result, and that the values of held-out entries have no effect.
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
				t.Errorf("%s: the values of held-out entries change the factors", what)
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

// TestHeldOutNothing checks that a fit without held-out entries equals an ordinary fit.
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

// TestHeldOutPermuted checks that permuted samples, with their held-out entries, have permuted results, and that
// scaled data has scaled coefficients.
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

// TestHeldOutFound checks that held-out entries of a low-rank matrix are recovered from the others.
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
	// The held-out entries of a sample do not depend on the number of samples.
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
	for _, parts := range []Parts{
		{Basis: BasisConcept}, {Tie: TieLabels}, {Weighting: WeightingNormalisedCut}, {Penalties: Penalties{L1{1}}}, {UnitNorm: true},
	} {
		parts.HeldOut = h
		if _, err := parts.Fit(context.Background(), p.x, p.known, p.opt); err == nil || !strings.Contains(err.Error(), "held-out entries need cost") {
			t.Errorf("%+v: %v", parts, err)
		}
	}
	for want, parts := range map[string]Parts{
		"held-out entries of 29 samples; expected": {HeldOut: h[1:]},
		"row 3: column index 30":                   {HeldOut: with(2, 4, 30)},
		"row 1: column index 3 after 3":            {HeldOut: with(0, 3, 3)},
		"row 2: column index -1":                   {HeldOut: with(1, -1)},
	} {
		if _, err := parts.Fit(context.Background(), p.x, p.known, p.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// testBlocks are the rows of a matrix. It records the destination, the largest number of
// rows of a read, and how often each row was read.
type testBlocks struct {
	x      *mat.Dense
	places map[*float64]bool
	most   int
	reads  []int
	fail   int // row that cannot be read, or 0
}

var errTruncated = errors.New("x.npy: the file ends")

func (b *testBlocks) Dims() (n, m int) { return b.x.Dims() }

func (b *testBlocks) Read(_ context.Context, from int, dst *mat.Dense) error {
	n, m := b.x.Dims()
	p, _ := dst.Dims()
	if b.reads == nil {
		b.reads, b.places = make([]int, n), map[*float64]bool{}
	}
	b.places[&dst.RawRowView(0)[0]] = true
	b.most = max(b.most, p)
	for i := range p {
		if b.fail > 0 && from+i >= b.fail {
			return fmt.Errorf("row %d: %w", from+i+1, errTruncated)
		}
		b.reads[from+i]++
	}
	dst.Copy(b.x.Slice(from, from+p, 0, m))
	return nil
}

// digits returns noisy combinations of parts, sorted by the strongest part.
func digits(n, m, parts int) *mat.Dense {
	src := rand.New(rand.NewPCG(3, 9))
	u, v := mat.NewDense(parts, m, nil), mat.NewDense(n, parts, nil)
	u.Apply(func(int, int, float64) float64 { return max(src.Float64()-0.6, 0) }, u)
	v.Apply(func(i, r int, _ float64) float64 {
		x := max(src.Float64()-0.5, 0)
		if r == i*parts/n {
			x++
		}
		return x
	}, v)
	x := mat.NewDense(n, m, nil)
	x.Mul(v, u)
	x.Apply(func(_, _ int, x float64) float64 { return x*src.ExpFloat64() + 0.01 }, x)
	return x
}

// objectiveAt computes the cost of a result.
func objectiveAt(cost Cost, x *mat.Dense, res *Result) float64 {
	return costs[cost].of(view.Dense{X: x}, algebra.Transpose(res.Basis), algebra.Transpose(res.Coefficients)).value()
}

// TestMiniBatchDescends checks that the objective is the one of the factors, and close to the objective of a fit to
// all samples together, for block sizes that divide n or not.
func TestMiniBatchDescends(t *testing.T) {
	x := digits(403, 40, 5)
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		full, err := Parts{Cost: cost}.Fit(t.Context(), x, Known{}, Options{Rank: 5, Seed: 1, Iterations: 500})
		if err != nil {
			t.Fatal(err)
		}
		best := full.Objective[full.Iterations()]
		for samples, within := range map[int]float64{403: 1.005, 1000: 1.005, 100: 1.01, 67: 1.01, 20: 1.1} {
			b := &testBlocks{x: x}
			res, err := MiniBatch{Cost: cost, Samples: samples}.Fit(t.Context(), b, Options{Rank: 5, Seed: 1, Iterations: 20})
			if err != nil {
				t.Fatal(err)
			}
			got := res.Objective[res.Iterations()]
			t.Logf("%v, blocks of %d: %.4f of the full objective", cost, samples, got/best)
			if got > within*best {
				t.Errorf("%v, blocks of %d: objective %v, of all samples together %v", cost, samples, got, best)
			}
			if direct := objectiveAt(cost, x, res); math.Abs(direct-got) > 1e-9*direct {
				t.Errorf("%v, blocks of %d: objective %v, of the factors %v", cost, samples, got, direct)
			}
			if res.Iterations() != 20 || len(res.Objective) != 21 {
				t.Errorf("%d entries of the objective after 20 epochs", len(res.Objective))
			}
			if b.most > min(samples, blockRun) {
				t.Errorf("%d samples are read at once", b.most)
			}
			for i, times := range b.reads { // some in the first block too
				if times != 21 && times != 22 {
					t.Fatalf("sample %d is read %d times", i, times)
				}
			}
		}
	}
}

// TestMiniBatchCosts checks other costs, and missing values: the objective is the one of the factors, and close to the
// objective of a fit to all samples together.
func TestMiniBatchCosts(t *testing.T) {
	x := digits(203, 24, 4)
	holes := withHoles(x, 0.2, rand.New(rand.NewPCG(1, 2))).Matrix.(*mat.Dense)
	for _, b := range []MiniBatch{
		{Cost: CostItakuraSaito}, {Cost: CostBeta, Exponent: 1.5}, {Cost: CostBeta, Exponent: 3}, {Cost: CostHuber},
		{Missing: true}, {Cost: CostKL, Missing: true}, {Cost: CostL21, Missing: true},
	} {
		b.Samples = 50
		var whole mat.Matrix = x
		blocks := &testBlocks{x: x}
		if b.Missing {
			whole, blocks.x = &Weighted{Matrix: holes}, holes
		}
		res, err := b.Fit(t.Context(), blocks, Options{Rank: 4, Seed: 1, Iterations: 60, KeepScale: true})
		if err != nil {
			t.Fatal(err)
		}
		model := res.Model.(*Additive)
		p := Parts{Cost: b.Cost, Exponent: model.Exponent, Threshold: model.Threshold}
		best := math.Inf(1)
		for seed := range uint64(2) {
			full, err := p.Fit(t.Context(), whole, Known{}, Options{Rank: 4, Seed: seed, Iterations: 200, Solver: Multiplicative{}})
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, full.Objective[full.Iterations()])
		}
		again, err := p.Fit(t.Context(), whole, Known{}, Options{Rank: 4, Iterations: 1, Solver: Multiplicative{}, Start: &Start{Basis: res.Basis, Coefficients: res.Coefficients}})
		if err != nil {
			t.Fatal(err)
		}
		got := res.Objective[res.Iterations()]
		t.Logf("%+v: %.4f of the full objective", b, got/best)
		if !(got < 1.1*best) || math.Abs(again.Objective[0]-got) > 1e-9*got {
			t.Errorf("%+v: objective %v, of the factors %v, of all samples together %v", b, got, again.Objective[0], best)
		}
	}
}

// TestMiniBatchHostile checks that values of any size, also missing ones, give finite factors or one error.
func TestMiniBatchHostile(t *testing.T) {
	for seed := range uint64(4 * *problems) {
		p, kind := hostileProblem(seed)
		for cost := range Cost(len(costs)) {
			for _, missing := range []bool{false, true} {
				if missing {
					p.x.Set(0, 0, math.NaN())
				}
				n, _ := p.x.Dims()
				b := MiniBatch{Cost: cost, Samples: max(p.opt.Rank, n/3), Missing: missing}
				res, err := b.Fit(t.Context(), &testBlocks{x: p.x}, Options{Rank: p.opt.Rank, Seed: seed, Iterations: 3})
				if err == nil && !(algebra.Finite(res.Basis) && algebra.Finite(res.Coefficients)) {
					t.Errorf("%v, missing %v, %v, %s: factors that are not finite", cost, missing, p, kind)
				}
			}
		}
	}
}

// storedRows is a Stored outside MiniBatch. A negative value stands for rows that were not written.
type storedRows struct{ *mat.Dense }

func (s storedRows) Read(_ context.Context, from int, dst *mat.Dense) error {
	for i := range dst.RawMatrix().Rows {
		if dst.SetRow(i, s.RawRowView(from+i)); mat.Min(dst) < 0 {
			return fmt.Errorf("row %d is read before it is written", from+i)
		}
	}
	return nil
}

func (s storedRows) Write(from int, src *mat.Dense) error {
	for i := range src.RawMatrix().Rows {
		s.SetRow(from+i, src.RawRowView(i))
	}
	return nil
}

// TestMiniBatchStored checks that coefficients outside memory, and a file of them, have the same bytes as in memory.
func TestMiniBatchStored(t *testing.T) {
	x := digits(700, 30, 8)
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		b := MiniBatch{Cost: cost, Samples: 100}
		opt := Options{Rank: 8, Seed: 2, Iterations: 3}
		want, err := b.Fit(t.Context(), &testBlocks{x: x}, opt)
		if err != nil {
			t.Fatal(err)
		}
		least := b.Memory(Size{Samples: 1e6, Features: 30, Rank: 8})
		stored := storedRows{mat.NewDense(700, 8, nil)}
		stored.Apply(func(int, int, float64) float64 { return -1 }, stored.Dense)
		b.Coefficients = stored
		got, err := b.Fit(t.Context(), &testBlocks{x: x}, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got.Coefficients != nil || !mat.Equal(stored, want.Coefficients) || !mat.Equal(got.Basis, want.Basis) {
			t.Errorf("%v: other factors than in memory", cost)
		}
		var files [2]bytes.Buffer
		if err := errors.Join(got.Save(&files[0]), want.Save(&files[1])); err != nil || !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
			t.Errorf("%v: another file than in memory: %v", cost, err)
		}
		if less := b.Memory(Size{Samples: 1e6, Features: 30, Rank: 8}); least-less < 8*8*(1e6-100) {
			t.Errorf("%v: %d bytes with coefficients in a file, %d in memory", cost, less, least)
		}
		b.Coefficients = storedRows{mat.NewDense(700, 7, nil)}
		if _, err := b.Fit(t.Context(), &testBlocks{x: x}, opt); err == nil || err.Error() != "coefficients are 700×7; expected 700×8" {
			t.Error(err)
		}
	}
}

// TestMiniBatchCores checks that the bytes are equal on any number of cores.
func TestMiniBatchCores(t *testing.T) {
	x := digits(700, 300, 8)
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		var first *Result
		for _, cores := range []int{1, 2, 3} {
			restore := parallel.SetCores(cores)
			res, err := MiniBatch{Cost: cost, Samples: 256}.Fit(t.Context(), &testBlocks{x: x}, Options{Rank: 8, Seed: 2, Iterations: 2})
			restore()
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = res
			}
			if !reflect.DeepEqual(res, first) {
				t.Errorf("%v: other numbers on %d cores", cost, cores)
			}
		}
	}
}

// TestMiniBatchFeatureLater checks that under the divergence, features that are 0 in the first blocks are still
// learned.
func TestMiniBatchFeatureLater(t *testing.T) {
	x := mat.NewDense(300, 6, nil)
	for i := range 300 {
		for j := range 3 {
			x.Set(i, j, float64(1+(i+j)%3))
		}
	}
	for i := 288; i < 300; i++ { // of one run
		x.SetRow(i, []float64{0, 0, 0, 2, 4, 6})
	}
	for seed := range uint64(4) {
		res, err := MiniBatch{Cost: CostKL, Samples: 32}.Fit(t.Context(), &testBlocks{x: x}, Options{Rank: 4, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		var y mat.Dense
		y.Mul(res.Coefficients, res.Basis.T())
		for j, want := range []float64{0, 0, 0, 2, 4, 6} {
			if got := y.At(295, j); math.Abs(got-want) > 0.5 {
				t.Errorf("seed %d: feature %d of the late samples is %v, want %v", seed, j, got, want)
			}
		}
	}
}

// TestMiniBatchSizes checks that data of any scale gives finite factors of the same quality.
func TestMiniBatchSizes(t *testing.T) {
	share := map[Cost]float64{}
	// Powers of 2 change no digit.
	for _, size := range []float64{1, 0x1p-192, 0x1p-66, 0x1p66, 0x1p196} {
		x := digits(90, 12, 3)
		x.Scale(size/mat.Max(x)*1.5, x)
		for i := range 90 { // features of zeros, and samples of one value
			x.Set(i, 5, 0)
			if i%7 == 0 {
				x.SetRow(i, make([]float64, 12))
				x.Set(i, 3, size)
			}
		}
		for _, cost := range []Cost{CostFrobenius, CostKL} {
			res, err := MiniBatch{Cost: cost, Samples: 32}.Fit(t.Context(), &testBlocks{x: x}, Options{Rank: 3, Iterations: 3})
			if err != nil {
				t.Fatalf("%v of values of %g: %v", cost, size, err)
			}
			if !algebra.Finite(res.Basis) || !algebra.Finite(res.Coefficients) {
				t.Errorf("%v of values of %g: factors that are not finite", cost, size)
			}
			got := res.Objective[3] / res.Objective[0]
			if size == 1 {
				share[cost] = got
			}
			if !(math.Abs(got-share[cost]) < 0.01*share[cost]) {
				t.Errorf("%v of values of %g: %v of the first objective, of values of 1 %v", cost, size, got, share[cost])
			}
		}
	}
}

// TestMiniBatchRefuses has unsupported samples and options.
func TestMiniBatchRefuses(t *testing.T) {
	good := Options{Rank: 3, Iterations: 2}
	for name, c := range map[string]struct {
		change  func(x *mat.Dense)
		batch   MiniBatch
		options Options
		want    string
	}{
		"NaN":       {change: func(x *mat.Dense) { x.Set(80, 4, math.NaN()) }, options: good, want: "sample 81: column 5: value NaN"},
		"infinite":  {change: func(x *mat.Dense) { x.Set(80, 4, math.Inf(1)) }, options: good, want: "sample 81: column 5: value +Inf"},
		"negative":  {change: func(x *mat.Dense) { x.Set(80, 4, -1) }, options: good, want: "sample 81: column 5: value -1 is negative"},
		"zeros":     {change: func(x *mat.Dense) { x.SetRow(80, make([]float64, 12)) }, options: good, want: "sample 81: all 12 values are zero"},
		"rank":      {options: Options{}, want: "rank 0"},
		"few":       {batch: MiniBatch{Samples: 2}, options: good, want: "batches of 2 samples are smaller than the rank"},
		"less":      {batch: MiniBatch{Samples: -1}, options: good, want: "batches of -1 samples are smaller than the rank"},
		"cost":      {batch: MiniBatch{Cost: 7}, options: good, want: "cost"},
		"solver":    {options: Options{Rank: 3, Solver: Fast{}}, want: "solver"},
		"init":      {options: Options{Rank: 3, Init: InitNNDSVDa}, want: `init "nndsvda"`},
		"start":     {options: Options{Rank: 3, Start: &Start{Basis: mat.NewDense(2, 3, nil)}}, want: "expected 12×3"},
		"tolerance": {options: Options{Rank: 3, Tolerance: -1}, want: "tolerance"},
	} {
		x := digits(90, 12, 3)
		if c.change != nil {
			c.change(x)
		}
		if c.batch.Samples == 0 {
			c.batch.Samples = 32
		}
		_, err := c.batch.Fit(t.Context(), &testBlocks{x: x}, c.options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
		if bad := (*view.SampleError)(nil); c.change != nil && (!errors.As(err, &bad) || bad.Sample != 80) {
			t.Errorf("%s: %v is no error of sample 81", name, err)
		}
	}
	_, err := MiniBatch{Samples: 32}.Fit(t.Context(), &testBlocks{x: digits(90, 12, 3), fail: 70}, good)
	if !errors.Is(err, errTruncated) {
		t.Errorf("of a file that ends early: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	opt := good
	opt.Iterations, opt.OnIteration = 1000, func(i int, _ float64) {
		if i == 3 {
			stop()
		}
	}
	if _, err := (MiniBatch{Samples: 32}).Fit(ctx, &testBlocks{x: digits(90, 12, 3)}, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}
}

// TestMiniBatchMemory checks that all blocks are read into one buffer, and that the memory estimate grows only with
// n×k.
func TestMiniBatchMemory(t *testing.T) {
	batch, b := MiniBatch{Samples: 96}, &testBlocks{x: digits(1000, 12, 3)}
	if _, err := batch.Fit(t.Context(), b, Options{Rank: 3, Iterations: 3}); err != nil {
		t.Fatal(err)
	}
	if len(b.places) > 3 || b.most > 32 {
		t.Errorf("of blocks of 3×32 samples %d are read at once, to %d places", b.most, len(b.places))
	}
	small := batch.Memory(Size{Samples: 1000, Features: 500, Rank: 4})
	large := batch.Memory(Size{Samples: 100_000, Features: 500, Rank: 4})
	if grown, coefficients := large-small, int64(8*4*99_000); grown > 2*coefficients {
		t.Errorf("%d bytes more for 99,000 samples more, of %d bytes of coefficients", grown, coefficients)
	}
}

// TestMiniBatchForgets checks that the weight of earlier blocks depends on the number and the length of blocks.
func TestMiniBatchForgets(t *testing.T) {
	for _, test := range []struct {
		cost    Cost
		n, p    int
		forgets float64
	}{
		{CostFrobenius, 403, 20, 2}, {CostKL, 403, 20, 4},
		{CostFrobenius, 40960, 1024, 5}, {CostKL, 40960, 1024, 10},
		{CostFrobenius, 40960, 64, 5}, {CostFrobenius, 40960, 2048, 2.5},
		{CostFrobenius, 1e6, 1024, 8}, {CostKL, 1e6, 1024, 16},
	} {
		f := MiniBatch{Cost: test.cost, Samples: test.p}.start(shape{test.n, 1}, Options{Rank: 1, Iterations: 1})
		if f.forgetting != test.forgets {
			t.Errorf("%v, %d samples in blocks of %d: by e to the power of %v in an epoch, want %v", test.cost, test.n, test.p, f.forgetting, test.forgets)
		}
	}
}

// shape is a Blocks that is never read.
type shape struct{ n, m int }

func (s shape) Dims() (n, m int) { return s.n, s.m }

func (shape) Read(context.Context, int, *mat.Dense) error { panic("read") }

// TestChooseRankMissing: the true rank is found with missing values and weights, and no last observed value of a sample or
// feature is held out.
func TestChooseRankMissing(t *testing.T) {
	x := plantedRank(4, 60, 40, 4)
	weights, r := mat.NewDense(60, 40, nil), rand.New(rand.NewPCG(1, 1))
	x.Apply(func(i, j int, v float64) float64 {
		weights.Set(i, j, 1+r.Float64())
		if i == 0 && j > 5 || j == 1 && i > 9 || r.Float64() < 0.2 {
			return math.NaN()
		}
		return v
	}, x)
	w := &Weighted{Matrix: x, Entries: weights}
	rank, curve, err := ChooseRank(t.Context(), w, RankSearch{To: 6, Seed: 5})
	if err != nil || rank < 4 || rank > 5 {
		t.Errorf("rank %d, %+v, %v", rank, curve, err)
	}
	held := HoldOut(60, 40, 1, 1) // all entries
	left, observed := held.Hide(w), make([]bool, 40)
	for i := range 60 {
		row := 0
		for j := range 40 {
			if hidden := slices.Contains(held[i], j); hidden != (left.Missing(i, j) && !w.Missing(i, j)) {
				t.Fatalf("row %d, column %d: held out %v", i, j, hidden)
			}
			if !left.Missing(i, j) {
				row++
				observed[j] = true
			}
		}
		if row == 0 {
			t.Errorf("no value of row %d is left", i)
		}
	}
	if slices.Contains(observed, false) {
		t.Errorf("columns with a value: %v", observed)
	}
}
