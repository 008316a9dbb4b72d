package factor

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestPCA: the directions are orthonormal, what d of them leave out is what the
// singular values beyond the d-th say, and a share of the variance takes no more
// of them than it must.
func TestPCA(t *testing.T) {
	for seed := range uint64(60) {
		p := randomProblem(seed, true)
		n, m := p.x.Dims()
		if n == 1 {
			continue
		}
		var svd mat.SVD
		about := mat.DenseCopyOf(p.x)
		for j := range m {
			mean := mat.Sum(p.x.ColView(j)) / float64(n)
			for i := range n {
				about.Set(i, j, about.At(i, j)-mean)
			}
		}
		if !svd.Factorize(about, mat.SVDNone) {
			t.Fatal("no decomposition")
		}
		sigma := svd.Values(nil)
		share := []float64{0.3, 0.8, 0.99, 1}[seed%4]
		for name, pca := range map[string]PCA{"rank": {}, "share": {Variance: share}} {
			res, err := pca.Fit(context.Background(), p.x, Known{}, p.opt)
			if err != nil {
				if sigma[0] <= 1e-12*mat.Norm(p.x, 2) && strings.Contains(err.Error(), "the same") {
					continue
				}
				t.Fatalf("%v: %v", p, err)
			}
			_, d := res.Basis.Dims()
			var inner mat.Dense
			inner.Mul(res.Basis.T(), res.Basis)
			near(t, p.String()+" PᵀP", &inner, eye(d), 1e-12)

			var rest mat.Dense
			rest.Mul(res.Coefficients, res.Basis.T())
			rest.Sub(about, &rest)
			var tail, total float64
			for r, s := range sigma {
				total += s * s
				if r >= d {
					tail += s * s
				}
			}
			left := mat.Norm(&rest, 2)
			if math.Abs(left*left-tail) > 1e-12*total {
				t.Errorf("%v: %d directions leave out %v, want %v", p, d, left*left, tail)
			}
			if name == "share" {
				if total-tail < (share-1e-9)*total || d > 1 && total-tail-sigma[d-1]*sigma[d-1] >= share*total {
					t.Errorf("%v: %d directions keep %v of the variance; asked for %v", p, d, 1-tail/total, share)
				}
			}
		}
	}
}

// TestPCAOfWideData: directions of 1024 features from a few samples, and as many
// as the samples span, also where the rank is more.
func TestPCAOfWideData(t *testing.T) {
	x := mat.NewDense(9, 1024, nil)
	x.Apply(func(i, j int, _ float64) float64 { return 1 + math.Sin(float64(i*j+i)) }, x)
	x.SetRow(8, x.RawRowView(0))
	res, err := PCA{}.Fit(context.Background(), x, Known{}, Options{Rank: 9})
	if err != nil {
		t.Fatal(err)
	}
	if _, d := res.Basis.Dims(); d != 7 {
		t.Errorf("%d directions from 8 samples and a copy, want 7", d)
	}
}
