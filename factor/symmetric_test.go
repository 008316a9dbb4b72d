package factor

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSymNMFRule compares iterations with the equation in gonum's matrices, for a graph and a kernel, and
// the objective with the value at the factors.
func TestSymNMFRule(t *testing.T) {
	p := planted(3)
	n, _ := p.x.Dims()
	s, err := Neighbourhood{}.Graph(t.Context(), p.x)
	if err != nil {
		t.Fatal(err)
	}
	var products mat.Dense
	products.Mul(p.x, p.x.T())
	scaled := func(s mat.Matrix) *mat.Dense {
		out := mat.DenseCopyOf(s)
		out.Apply(func(i, j int, x float64) float64 {
			return x / math.Sqrt(mat.Sum(mat.DenseCopyOf(s).RowView(i))*mat.Sum(mat.DenseCopyOf(s).RowView(j)))
		}, out)
		return out
	}
	for name, of := range map[string]struct {
		SymNMF
		a *mat.Dense
	}{
		"graph": {SymNMF{}, scaled(s)}, "kernel": {SymNMF{Similarity: SimilarityKernel}, scaled(&products)},
	} {
		p.opt.Iterations = 7
		v := mat.DenseCopyOf(randomFactor(p.opt, "coefficients", n).T())
		var av, gram, vvv, vv mat.Dense
		av.Mul(of.a, v)
		gram.Mul(v.T(), v)
		v.Scale(math.Sqrt(mat.Trace(mul(v.T(), &av))/mat.Trace(mul(&gram, &gram))), v)
		for range p.opt.Iterations {
			av.Mul(of.a, v)
			gram.Mul(v.T(), v)
			vvv.Mul(v, &gram)
			v.Apply(func(i, r int, x float64) float64 { return x * math.Cbrt(av.At(i, r)/vvv.At(i, r)) }, v)
		}
		res, err := of.Fit(t.Context(), p.x, Known{}, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, res.Coefficients, v, 1e-9*mat.Max(v))
		vv.Mul(v, v.T())
		vv.Sub(of.a, &vv)
		want := mat.Norm(&vv, 2) * mat.Norm(&vv, 2)
		if got := res.Objective[p.opt.Iterations]; !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("%s: objective %v, want %v", name, got, want)
		}
	}
}

func mul(a, b mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b)
	return &out
}

// TestSymNMFGroups checks that the largest coefficients are the groups of well separated signed samples.
func TestSymNMFGroups(t *testing.T) {
	x := mat.NewDense(30, 4, nil)
	x.Apply(func(i, j int, _ float64) float64 {
		return math.Sin(float64(7*i+3*j)) + 9*float64(i%3)*math.Cos(float64(j))
	}, x)
	res, err := SymNMF{}.Fit(t.Context(), x, Known{}, Options{Rank: 3, Seed: 1, Iterations: 300})
	if err != nil {
		t.Fatal(err)
	}
	group := func(i int) int {
		row := res.Coefficients.RawRowView(i)
		best := 0
		for r, x := range row {
			if x > row[best] {
				best = r
			}
		}
		return best
	}
	for i := range 30 {
		if (group(i) == group(0)) != (i%3 == 0) {
			t.Fatalf("sample %d is in group %d, sample 0 in group %d", i, group(i), group(0))
		}
	}
}

// TestSymNMFRefuses checks the errors of unusable similarities.
func TestSymNMFRefuses(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{1, 2, -3, 1})
	for want, m := range map[string]SymNMF{
		"its inner product with sample 2 is -1": {Similarity: SimilarityKernel},
		"unknown similarity(7)":                 {Similarity: 7},
		"neighbours -1: expected 1 or more":     {Neighbourhood: Neighbourhood{Neighbours: -1}},
	} {
		if _, err := m.Fit(t.Context(), x, Known{}, Options{Rank: 1}); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
