package factor

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSinglePrecision: a fit in single precision ends where one in double precision does,
// within what single precision can tell apart, at any scale of the data.
func TestSinglePrecision(t *testing.T) {
	x := random(90, 70)
	known := classes(90, 3, 30)
	for _, method := range []Method{NMF{}, CNMF{}, GNMF{}, Parts{UnitNorm: true}} {
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
					if !(math.Abs(a-b) <= 1e-4*a) {
						t.Errorf("the objective is %v, in double precision %v", b, a)
					}
					if mat.Equal(double.Basis, single.Basis) {
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

func TestSingleRefuses(t *testing.T) {
	for _, c := range []struct {
		method Method
		want   string
	}{
		{CF{}, "not a concept one"}, {NMFKL{}, "not a free one under kl"}, {NTF{}, "not a rank-one"}, {PCA{}, "a rule of its own"},
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
	for _, size := range [][3]int{{1440, 1024, 20}, {10000, 784, 10}, {10000, 784, 40}} {
		x := random(size[0], size[1])
		for _, solver := range Solvers() {
			for _, p := range []Precision{PrecisionDouble, PrecisionSingle} {
				b.Run(fmt.Sprintf("%dx%d/k=%d/%s/%s", size[0], size[1], size[2], solver.Name, p), func(b *testing.B) {
					if _, err := (NMF{}).Fit(b.Context(), x, Known{}, Options{Rank: size[2], Iterations: b.N, Solver: solver.Solver, Precision: p}); err != nil {
						b.Fatal(err)
					}
				})
			}
		}
	}
}
