package factor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// testBlocks are the rows of a matrix. It notes where it was told to write, the most that
// was asked for at once and how often each row was read.
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

// digits are samples of some parts with noise, sorted by which part is the strongest.
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

// objectiveAt is the cost of a result, computed from it.
func objectiveAt(cost Cost, x *mat.Dense, res *Result) float64 {
	return newCost(cost, view.Dense{X: x}, algebra.Transpose(res.Basis), algebra.Transpose(res.Coefficients)).value()
}

// TestMiniBatchDescends: the objective comes near that of all samples together, from blocks
// of sizes that do and do not divide n, and is that of the factors.
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

// TestMiniBatchCores: the same bytes on any number of cores.
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

// TestMiniBatchFeatureLater: under the divergence features are learned that the first
// blocks have nothing of.
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

// TestMiniBatchSizes: numbers of any size that samples may have give finite factors, as
// good as those of others.
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

// TestMiniBatchRefuses: samples and options that cannot be used.
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
		"few":       {batch: MiniBatch{Samples: 2}, options: good, want: "blocks of 2 samples"},
		"less":      {batch: MiniBatch{Samples: -1}, options: good, want: "blocks of -1 samples"},
		"cost":      {batch: MiniBatch{Cost: 7}, options: good, want: "cost"},
		"solver":    {options: Options{Rank: 3, Solver: Fast{}}, want: "solver"},
		"init":      {options: Options{Rank: 3, Init: InitNNDSVDa}, want: `initial factors "nndsvda"`},
		"start":     {options: Options{Rank: 3, Start: &Start{Basis: mat.NewDense(2, 3, nil)}}, want: "want 12×3"},
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
			t.Errorf("%s: error %v, want %q", name, err, c.want)
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

// TestMiniBatchMemory: all blocks are read into one, and what a fit says that it takes
// grows with n×k alone.
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

// TestMiniBatchForgets: how much depends on how many blocks there are, and how long they are.
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
		f, err := MiniBatch{Cost: test.cost, Samples: test.p}.start(shape{test.n, 1}, Options{Rank: 1, Iterations: 1})
		if err != nil {
			t.Fatal(err)
		}
		if f.forgetting != test.forgets {
			t.Errorf("%v, %d samples in blocks of %d: by e to the power of %v in an epoch, want %v", test.cost, test.n, test.p, f.forgetting, test.forgets)
		}
	}
}

// shape is Blocks that are not read.
type shape struct{ n, m int }

func (s shape) Dims() (n, m int) { return s.n, s.m }

func (shape) Read(context.Context, int, *mat.Dense) error { panic("read") }
