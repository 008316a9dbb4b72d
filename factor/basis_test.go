package factor

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
)

// TestRankOneBasis: gradients in U and quadratic forms in it are pulled back as their sums over pixels say, of
// images of whole registers and of others.
func TestRankOneBasis(t *testing.T) {
	const k = 3
	for _, size := range []Image{{Height: 6, Width: 8}, {Height: 8, Width: 6}, {Height: 16, Width: 24}} {
		src := rand.New(rand.NewPCG(uint64(size.Width), 1))
		random := func(r, c int) *mat.Dense {
			a := mat.NewDense(r, c, nil)
			a.Apply(func(int, int, float64) float64 { return src.Float64() }, a)
			return a
		}
		g := random(k, size.Height*size.Width)
		var q mat.Dense
		half := random(k, k)
		q.Mul(half, half.T())
		b := newRankOneBasis(random(k, size.Height), random(k, size.Width), mat.NewDense(k, size.Height*size.Width, nil))
		b.moved(1)
		var qu mat.Dense
		qu.Mul(&q, b.u)
		pulled := func(g *mat.Dense, parameter int) *mat.Dense {
			to := algebra.Like(b.parameters()[parameter])
			for r := range k {
				for y := range size.Height {
					for x := range size.Width {
						at, by := y, b.b.At(r, x)
						if parameter == 1 {
							at, by = x, b.a.At(r, y)
						}
						to.Set(r, at, to.At(r, at)+by*g.At(r, y*size.Width+x))
					}
				}
			}
			return to
		}
		for i, theta := range b.parameters() {
			got := algebra.Like(theta)
			b.pullBack(got, g, i)
			near(t, "gradient", got, pulled(g, i), 1e-12)
			form := mat.NewDense(k, k, nil)
			if !b.pullBackQuadratic(form, &q, i) {
				t.Fatal("no quadratic form")
			}
			got.Mul(form, theta)
			near(t, "quadratic form", got, pulled(&qu, i), 1e-11)
		}
	}
}
