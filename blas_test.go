package partwise_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
)

// TestProcess checks that importing partwise, and with it all packages below, does not change gonum's BLAS.
func TestProcess(t *testing.T) {
	if got, want := blas64.Implementation(), (gonum.Implementation{}); got != want {
		t.Errorf("gonum multiplies with %T, want %T", got, want)
	}
	if got, want := blas32.Implementation(), (gonum.Implementation{}); got != want {
		t.Errorf("gonum multiplies with %T in single precision, want %T", got, want)
	}
}

// other is a BLAS that another package could install in gonum. Its rounding errors are exaggerated.
type other struct{ gonum.Implementation }

func (o other) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	o.Implementation.Dgemm(tA, tB, m, n, k, 2*alpha, a, lda, b, ldb, beta, c, ldc)
}

func (o other) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	o.Implementation.Dsyrk(ul, tA, n, k, 2*alpha, a, lda, beta, c, ldc)
}

func (o other) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	o.Implementation.Daxpy(n, 2*alpha, x, incX, y, incY)
}

func (o other) Dnrm2(n int, x []float64, incX int) float64 {
	return 2 * o.Implementation.Dnrm2(n, x, incX)
}

// TestSameBytes checks that gonum's BLAS implementation changes no bit of a factorisation or a clustering.
func TestSameBytes(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	const n, m = 60, 40
	x := mat.NewDense(n, m, nil)
	labels := make([]int, n)
	for i := range n {
		for j := range x.RawRowView(i) {
			x.Set(i, j, src.Float64())
		}
		labels[i] = i%5 - 1
	}
	fits := func() (all []*mat.Dense) {
		for _, method := range []factor.Method{factor.NMF{}.AsParts(), factor.NMFKL{}.AsParts(), factor.CNMF{}.AsParts(), factor.CCF{}.AsParts(), factor.GNMF{}.AsParts(), factor.SparseCoding{}} {
			r, err := method.Fit(t.Context(), x, factor.Known{Labels: labels}, factor.Options{Rank: 5, Iterations: 5, Seed: 1})
			if err != nil {
				t.Fatalf("%T: %v", method, err)
			}
			all = append(all, r.Basis, r.Coefficients)
		}
		r, err := cluster.KMeans{K: 4, Seed: 1}.Fit(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		return append(all, r.Centres)
	}
	want := fits()
	before := blas64.Implementation()
	blas64.Use(other{})
	defer blas64.Use(before)
	if got := fits(); !reflect.DeepEqual(got, want) {
		t.Error("another BLAS implementation in blas64 changes the results")
	}
}
