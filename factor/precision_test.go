package factor

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// TestSinglePrecision: a fit in single precision ends where one in double precision does,
// within what single precision can tell apart, at any scale of the data.
func TestSinglePrecision(t *testing.T) {
	x := random(90, 70)
	known := classes(90, 3, 30)
	for _, method := range []Method{NMF{}, CNMF{}, GNMF{}, Parts{UnitNorm: true}, NMFKL{}, CNMFKL{}} {
		for _, solver := range []Solver{Multiplicative{}, Fast{}} {
			if Serves(solver, method) != nil {
				continue
			}
			for _, scale := range []float64{1e-50, 1, 1e50} {
				t.Run(fmt.Sprintf("%T/%T/%g", method, solver, scale), func(t *testing.T) {
					var scaled mat.Dense
					scaled.Scale(scale, x)
					opt := Options{Rank: 5, Seed: 1, Iterations: 30, Solver: solver}
					double, err := method.Fit(t.Context(), &scaled, known, opt)
					if err != nil {
						t.Fatal(err)
					}
					opt.Precision = PrecisionSingle
					single, err := method.Fit(t.Context(), &scaled, known, opt)
					if err != nil {
						t.Fatal(err)
					}
					a, b := double.Objective[len(double.Objective)-1], single.Objective[len(single.Objective)-1]
					if !(math.Abs(a-b) <= 1e-5*a) {
						t.Errorf("the objective is %v, in double precision %v", b, a)
					}
					if mat.Equal(double.Basis, single.Basis) && a == b {
						t.Error("both precisions give the same bytes")
					}
				})
			}
		}
	}
}

// TestSingleProducts: rows of any scale keep the digits of single precision.
func TestSingleProducts(t *testing.T) {
	x, u := random(50, 40), random(6, 40)
	for r := range 6 {
		scaleRow(u, r, math.Pow(10, float64(50*(r-3))))
	}
	want, got := mat.NewDense(6, 50, nil), mat.NewDense(6, 50, nil)
	denseData{x}.timesBasis(want, u)
	newSingleData(denseData{x}).timesBasis(got, u)
	for r := range 6 {
		for j := range 50 {
			if w, g := want.At(r, j), got.At(r, j); !(math.Abs(w-g) <= 1e-5*w) {
				t.Fatalf("row %d, column %d is %v, want %v", r, j, g, w)
			}
		}
	}
}

// TestSingleLaidOut: data too large to be laid out in both orders has the same products at ranks at which
// it is laid out for one and at which it is not.
func TestSingleLaidOut(t *testing.T) {
	x := random(2110, 1003)
	for _, rank := range []int{mostLaidRank, mostLaidRank + 1} {
		u, v := random(rank, 1003), random(rank, 2110)
		double, single := denseData{x}, newSingleData(denseData{x})
		for _, c := range []struct {
			what      string
			want, got *mat.Dense
			of        *mat.Dense
			times     func(d data, dst, a *mat.Dense)
		}{
			{"u·Xᵀ", like(v), like(v), u, data.timesBasis},
			{"v·X", like(u), like(u), v, data.timesCoefficients},
		} {
			c.times(double, c.want, c.of)
			c.times(single, c.got, c.of)
			if !mat.EqualApprox(c.want, c.got, 1e-5*mat.Max(c.want)) {
				t.Errorf("rank %d: %s is off", rank, c.what)
			}
		}
	}
}

// TestSingleRatios: the ratios of the divergence, at any scale of the data and of a row of the factors.
func TestSingleRatios(t *testing.T) {
	for _, scale := range []float64{1e-60, 1, 1e60} {
		x, u, v := random(70, 300), random(6, 300), random(6, 70)
		x.Scale(scale, x)
		for r := range 6 {
			scaleRow(u, r, math.Pow(10, float64(20*(r-3))))
			scaleRow(v, r, math.Pow(10, float64(-20*(r-3))))
		}
		clear(u.RawRowView(5))
		clear(x.RawRowView(7)[3:200])
		double, single := denseData{x}, newSingleData(denseData{x})
		check := func(what string, want, got *mat.Dense) {
			for r := range 5 {
				for j, w := range want.RawRowView(r) {
					if g := got.At(r, j); !(math.Abs(w-g) <= 1e-5*w) {
						t.Fatalf("scale %v, %s: row %d, column %d is %v, want %v", scale, what, r, j, g, w)
					}
				}
			}
		}
		want, got := like(u), like(u)
		logs, logsSingle := double.ratioBasis(want, u, v, true), single.ratioBasis(got, u, v, true)
		check("v·R", want, got)
		if size := mat.Sum(x) * math.Max(1, math.Abs(math.Log(scale))); !(math.Abs(logs-logsSingle) <= 1e-6*size) {
			t.Errorf("scale %v: the sum of logarithms is %v, want %v", scale, logsSingle, logs)
		}
		want, got = like(v), like(v)
		double.ratioCoefficients(want, u, v)
		single.ratioCoefficients(got, u, v)
		check("u·Rᵀ", want, got)
	}
}

// TestSingleExact: data of rank 2 is fitted to nearly nothing, and no rounding makes the
// objective less than nothing.
func TestSingleExact(t *testing.T) {
	var x mat.Dense
	x.Mul(random(40, 2), random(2, 30))
	res, err := NMF{}.Fit(t.Context(), &x, Known{}, Options{Rank: 2, Seed: 1, Iterations: 300, Solver: Fast{}, Precision: PrecisionSingle})
	if err != nil {
		t.Fatal(err)
	}
	size := sumSquares(denseData{&x})
	for i, j := range res.Objective {
		if !(j >= 0) || i > 0 && j > res.Objective[i-1] {
			t.Fatalf("objective %d is %v", i, j)
		}
	}
	if last := res.Objective[len(res.Objective)-1]; last > 1e-6*size {
		t.Errorf("the objective ends at %v of %v", last, size)
	}
}

// TestSingleExactDivergence: the same of the divergence, which multiplicative updates lower; x of some
// features is 0.
func TestSingleExactDivergence(t *testing.T) {
	var x mat.Dense
	basis := random(2, 30)
	clear(basis.RawRowView(0)[:10])
	clear(basis.RawRowView(1)[5:15])
	x.Mul(random(40, 2), basis)
	res, err := NMFKL{}.Fit(t.Context(), &x, Known{}, Options{Rank: 2, Seed: 1, Iterations: 2000, Solver: Multiplicative{}, Precision: PrecisionSingle})
	if err != nil {
		t.Fatal(err)
	}
	size := mat.Sum(&x)
	for i, j := range res.Objective {
		if !(j >= 0) || i > 0 && j > res.Objective[i-1]+1e-6*size {
			t.Fatalf("objective %d is %v", i, j)
		}
	}
	if last := res.Objective[len(res.Objective)-1]; last > 1e-5*size {
		t.Errorf("the objective ends at %v of %v", last, size)
	}
}

// TestSingleCores: the same bytes on any number of cores.
func TestSingleCores(t *testing.T) {
	x := random(600, 480)
	for _, method := range []Method{NMF{}, NMFKL{}} {
		for _, solver := range Solvers() {
			var first *Result
			for _, cores := range []int{1, 2, 3, 7} {
				restore := parallel.SetCores(cores)
				res, err := method.Fit(t.Context(), x, Known{}, Options{Rank: 30, Seed: 1, Iterations: 3, Solver: solver.Solver, Precision: PrecisionSingle})
				restore()
				switch {
				case err != nil:
					t.Fatal(err)
				case first == nil:
					first = res
				case !reflect.DeepEqual(res, first):
					t.Errorf("%T, %s: %d cores give other bytes than one", method, solver.Name, cores)
				}
			}
		}
	}
}

func TestSingleRefuses(t *testing.T) {
	for _, c := range []struct {
		method Method
		want   string
	}{
		{CF{}, "not a concept one"}, {Parts{Cost: CostKL, Basis: BasisConcept}, "not a concept one"}, {NTF{}, "not a rank-one"}, {PCA{}, "a rule of its own"},
	} {
		_, err := c.method.Fit(t.Context(), random(20, 16), Known{}, Options{Rank: 2, Precision: PrecisionSingle})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: error %v, want %q", c.method, err, c.want)
		}
	}
	if _, err := (NMF{}).Fit(t.Context(), random(20, 16), Known{}, Options{Rank: 2, Precision: "half"}); err == nil || !strings.Contains(err.Error(), "half") {
		t.Errorf("error %v of a precision that there is not", err)
	}
}

// BenchmarkPrecision times an iteration in both precisions.
func BenchmarkPrecision(b *testing.B) {
	for _, size := range [][3]int{{1440, 1024, 20}, {10000, 784, 10}, {10000, 784, 20}, {10000, 784, 40}} {
		x := random(size[0], size[1])
		for _, c := range []struct {
			name   string
			method Method
			solver Solver
		}{{"mu", NMF{}, Multiplicative{}}, {"fast", NMF{}, Fast{}}, {"kl-mu", NMFKL{}, Multiplicative{}}} {
			for _, p := range []Precision{PrecisionDouble, PrecisionSingle} {
				b.Run(fmt.Sprintf("%dx%d/k=%d/%s/%s", size[0], size[1], size[2], c.name, p), func(b *testing.B) {
					if _, err := c.method.Fit(b.Context(), x, Known{}, Options{Rank: size[2], Iterations: b.N, Solver: c.solver, Precision: p}); err != nil {
						b.Fatal(err)
					}
				})
			}
		}
	}
}
