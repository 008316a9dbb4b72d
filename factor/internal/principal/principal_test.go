package principal

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// centredOf returns x as samples whose mean is 0 already.
func centredOf(x *mat.Dense) *Samples {
	return &Samples{X: x, size: mat.Norm(x, 2)}
}

// graded returns a matrix with given singular values and random singular vectors.
func graded(src *rand.Rand, n, m int, sigma []float64) *mat.Dense {
	orthogonal := func(n int) *mat.Dense {
		x := mat.NewDense(n, n, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return src.NormFloat64() }, x)
		var qr mat.QR
		qr.Factorize(x)
		var q mat.Dense
		qr.QTo(&q)
		return &q
	}
	d := mat.NewDense(n, m, nil)
	for i, s := range sigma {
		d.Set(i, i, s)
	}
	var x mat.Dense
	x.Product(orthogonal(n), d, orthogonal(m).T())
	return &x
}

// TestPrincipal checks that directions whose singular values span many powers of 10 are orthonormal and explain as
// much as LAPACK's, for few and for all directions, and for more or fewer samples than features.
func TestPrincipal(t *testing.T) {
	ctx := context.Background()
	for seed, shape := range [][2]int{{20, 60}, {60, 20}, {30, 30}, {130, 140}, {1, 5}, {5, 1}} {
		n, m := shape[0], shape[1]
		least := min(n, m)
		for _, range10 := range []float64{0, 2, 6, 12} {
			src := rand.New(rand.NewPCG(uint64(seed), 20))
			sigma := make([]float64, least)
			for i := range sigma {
				sigma[i] = math.Pow(10, -range10*float64(i)/float64(least))
			}
			x := graded(src, n, m, sigma)
			var svd mat.SVD
			if !svd.Factorize(x, mat.SVDNone) {
				t.Fatal("no singular values")
			}
			want := svd.Values(nil)
			var p *Samples
			for _, asked := range []int{(least + 2) / 3, least, (least + 2) / 3} {
				what := fmt.Sprintf("%d×%d, range 1e%v, %d", n, m, range10, asked)
				ask := func(p *Samples) (*Axes, *mat.Dense) {
					a, err := p.LeadingAxes(ctx, func([]float64) int { return asked })
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					return a, a.Directions(nil)
				}
				if p == nil {
					p = centredOf(x)
				}
				a, v := ask(p)
				fresh, freshV := ask(centredOf(x))
				if !slices.Equal(a.Sigma, fresh.Sigma) || !mat.Equal(v, freshV) {
					t.Errorf("%s: the result depends on earlier calls", what)
				}
				y := a.Coordinates()
				var unit, rest, along mat.Dense
				unit.Mul(v.T(), v)
				near(t, what+" VᵀV", &unit, eye(asked), 1e-12)
				along.Mul(x, v)
				near(t, what+" XV", y, &along, 1e-14*float64(least))
				rest.Mul(y, v.T())
				rest.Sub(x, &rest)
				var tail float64
				for i, s := range want {
					if i >= asked {
						tail += s * s
					} else if math.Abs(a.Sigma[i]-s) > 1e-14*float64(least) {
						t.Errorf("%s: σ%d is %v, want %v", what, i, a.Sigma[i], s)
					}
				}
				if left := mat.Norm(&rest, 2); math.Abs(left-math.Sqrt(tail)) > 1e-13*float64(least) {
					t.Errorf("%s: %v is left out, want %v", what, left, math.Sqrt(tail))
				}
			}
		}
	}
}

var near = testkit.Near

func eye(n int) *mat.Dense {
	out := mat.NewDense(n, n, nil)
	for i := range n {
		out.Set(i, i, 1)
	}
	return out
}

// TestDiscriminant checks that the directions for a = bᵀb are, up to their signs, those for a itself.
func TestDiscriminant(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 21))
	for _, shape := range [][2]int{{3, 20}, {13, 70}, {5, 2}, {2, 1}} {
		c, q := shape[0], shape[1]
		x := mat.NewDense(c+2*q, q, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return src.NormFloat64() }, x)
		b, r := x.Slice(0, c, 0, q).(*mat.Dense), Scatter(x.Slice(c, c+2*q, 0, q).(*mat.Dense))
		got, err := Discriminant(t.Context(), b, r, c)
		want, other := Generalised(t.Context(), Scatter(b), r, c)
		if err != nil || other != nil {
			t.Fatal(err, other)
		}
		if got, want = matrix.PositiveColumns(got), matrix.PositiveColumns(want); !mat.EqualApprox(got, want, 1e-9) {
			t.Errorf("%d×%d: got %v, want %v", c, q, mat.Formatted(got), mat.Formatted(want))
		}
	}
}
