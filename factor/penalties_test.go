package factor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// TestPenaltyGradients compares half the gradient of each penalty with differences of its values, and the gradient by
// entries with the gradient of the matrix.
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

// TestTableOfParts checks the table in docs/methods.md of the combinations that each cost and penalty supports.
func TestTableOfParts(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "methods.md"))
	if err != nil {
		t.Fatal(err)
	}
	held := HeldOut{{0}}
	cell := func(err error) string {
		if err != nil {
			return "no"
		}
		return "yes"
	}
	row := func(name string, p Parts) string {
		kernel, holes, out := p, p, p
		kernel.Basis, kernel.Kernel = BasisConcept, Kernel{Function: KernelRBF}
		holes.EntryWeights, out.HeldOut = true, held
		signed, semi := "no", p
		if p.Basis == BasisFree {
			semi.Basis = BasisSemi
		}
		for _, basis := range []Basis{p.Basis, BasisConcept, BasisSemi} {
			signs := p
			if signs.Basis = basis; p.Basis == BasisFree && signs.validate() == nil && signs.Needs().Signed || p.Needs().Signed {
				signed = "yes"
			}
		}
		fast := "no"
		unit, both, basis := p, p, p
		unit.UnitNorm, both.Penalties, basis.Basis = true, append(slices.Clone(p.Penalties), L1{}, L2Basis{}), BasisConcept
		switch s := (Fast{}); {
		case strings.HasPrefix(name, "basis"):
			fast = cell(s.Serves(p))
		case p.Penalties == nil && s.Serves(basis) == nil:
			fast = "free and concept basis"
		case p.Penalties == nil && s.Serves(p) == nil:
			fast = "free basis"
		case p.Penalties != nil && s.Serves(unit) == nil && s.Serves(both) == nil:
			fast = "with `unit-norm`, or in an elastic net"
		case p.Penalties != nil && s.Serves(both) == nil:
			fast = "in an elastic net"
		case p.Penalties != nil && s.Serves(unit) == nil:
			fast = "with `unit-norm`"
		}
		if p.Basis != BasisFree {
			kernel.Basis = p.Basis
		}
		ofSemi := cell(semi.validate())
		if strings.HasPrefix(name, "basis") {
			ofSemi = ""
		}
		return fmt.Sprintf("|%s|%s|%s|%s|%s|%s|%s|\n", name, signed, ofSemi, cell(kernel.validate()), cell(holes.validate()), cell(out.validate()), fast)
	}
	want := "|part|signed data|basis `semi`|kernels|missing values|`rank: auto`|`fast`|\n|---|---|---|---|---|---|---|\n"
	for b := range Basis(len(bases)) {
		if b != BasisFree {
			want += row(fmt.Sprintf("basis `%v`", b), Parts{Basis: b})
		}
	}
	for c := range Cost(len(costs)) {
		want += row(fmt.Sprintf("cost `%v`", c), Parts{Cost: c})
	}
	for _, o := range []Orthogonality{OrthogonalityCoefficients, OrthogonalityBasis} {
		want += row(fmt.Sprintf("`orthogonal: %v`", o), Parts{Orthogonal: o})
	}
	for _, i := range penalties {
		want += row(fmt.Sprintf("penalty `%s`", i.Name), Parts{Penalties: Penalties{i.zero}})
	}
	if !strings.Contains(string(page), want) {
		t.Errorf("docs/methods.md lacks\n%s", want)
	}
}
