package factor

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// TestPenaltyGradients compares half the gradient of each penalty with differences of its values, and the entries of a row
// with those of the whole gradient.
func TestPenaltyGradients(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	fill := func(a *mat.Dense) *mat.Dense {
		a.Apply(func(_, _ int, _ float64) float64 { return 0.1 + src.Float64() }, a)
		return a
	}
	problem := Problem{Known: Known{Labels: []int{0, 0, 1, -1, 1, -1}}, Image: Image{Height: 3, Width: 4}, Rank: 3, data: view.Dense{X: fill(mat.NewDense(6, 12, nil))}}
	for _, info := range penalties {
		if info.Name == "learned-graph" {
			continue // its value has other parameters
		}
		bound, err := info.zero.Bind(t.Context(), problem)
		if err != nil {
			t.Fatal(err)
		}
		theta := mat.NewDense(3, 6, nil)
		if info.OnBasis() {
			theta = mat.NewDense(3, 12, nil)
		}
		fill(theta)
		positive, negative := algebra.Like(theta), algebra.Like(theta)
		bound.Gradient(positive, negative, theta, 1)
		if mat.Min(positive) < 0 || mat.Min(negative) < 0 {
			t.Errorf("%s: a part of the gradient is negative", info.Name)
		}
		half := algebra.Like(theta)
		half.Sub(positive, negative)
		const h = 1e-6
		for r := range 3 {
			for i, x := range theta.RawRowView(r) {
				at := func(y float64) float64 {
					theta.Set(r, i, y)
					return bound.Value(theta)
				}
				slope := (at(x+h) - at(x-h)) / (2 * h)
				theta.Set(r, i, x)
				if got := 2 * half.At(r, i); !(math.Abs(got-slope) <= 1e-6*(1+math.Abs(slope))) {
					t.Errorf("%s: derivative %v, by differences %v", info.Name, got, slope)
				}
				if p, ok := bound.(CoordinatePenalty); ok {
					if got := p.Row(theta.RawRowView(r)).Gradient(i); !(math.Abs(got-half.At(r, i)) <= 1e-9) {
						t.Errorf("%s: gradient %v in row %d, want %v", info.Name, got, r, half.At(r, i))
					}
				}
			}
		}
	}
}
