package factor

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// entropicProblem has k classes of per samples around random means, one label per class, and noise of the given size.
func entropicProblem(k, per, m int, noise float64) (x *mat.Dense, truth []int, known Known) {
	src := rand.New(rand.NewPCG(uint64(k), uint64(m)))
	means := mat.NewDense(k, m, nil)
	means.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, means)
	x = mat.NewDense(k*per, m, nil)
	for i := range k * per {
		c := i % k
		truth = append(truth, c)
		known.Labels = append(known.Labels, -1)
		if i < k {
			known.Labels[i] = c
		}
		for j := range m {
			x.Set(i, j, means.At(c, j)+noise*src.NormFloat64())
		}
	}
	return x, truth, known
}

// TestECCF checks the memberships and the objective against its definition.
func TestECCF(t *testing.T) {
	x, truth, known := entropicProblem(5, 20, 30, 1)
	n, k := len(truth), 5
	res, err := ECCF{}.Fit(t.Context(), x, known, Options{Rank: k})
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, c := range truth {
		row := res.Coefficients.RawRowView(i)
		if math.Abs(floats.Sum(row)-1) > 1e-12 || floats.Min(row) < 0 {
			t.Fatalf("row %d is %v", i, row)
		}
		if known.Labels[i] >= 0 && row[c] != 1 {
			t.Errorf("labelled row %d is %v", i, row)
		}
		if floats.MaxIdx(row) == c {
			right++
		}
	}
	if right < 97 {
		t.Errorf("%d of %d samples are in their class", right, n)
	}
	cosines, err := whitenedCosines(t.Context(), view.Dense{X: x}, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := &memberships{cosines: cosines, labels: known.Labels}
	f.join(10)
	want, r := 10*float64(n)+1.5*float64(n), res.Coefficients
	for c := range k {
		var u mat.VecDense
		u.MulVec(cosines, r.ColView(c))
		want -= 10 * math.Sqrt(mat.Dot(r.ColView(c), &u))
	}
	for i := range n {
		for c := range k {
			want += r.At(i, c) * math.Log(float64(k)*max(r.At(i, c), 1e-300))
		}
		near, weights := f.graph.Row(i)
		for at, j := range near {
			want -= 1.5 * weights[at] * algebra.Dot(r.RawRowView(i), r.RawRowView(j))
		}
	}
	nearNumber(t, "objective", res.Objective[len(res.Objective)-1], want, 1e-9*want)
}

// TestECCFWhitening compares the whitened inner products with those in feature space.
func TestECCFWhitening(t *testing.T) {
	for _, size := range [][2]int{{12, 30}, {40, 6}} {
		x, _, _ := entropicProblem(2, size[0]/2, size[1], 1)
		n, m := x.Dims()
		got, err := whitenedCosines(t.Context(), view.Dense{X: x}, 2)
		if err != nil {
			t.Fatal(err)
		}
		z := mat.DenseCopyOf(x)
		unit := func(a *mat.Dense) { algebra.DivideRows(a, algebra.Lengths(a)) }
		unit(z)
		for j := range m {
			mean := floats.Sum(mat.Col(nil, j, z)) / float64(n)
			for i := range n {
				z.Set(i, j, z.At(i, j)-mean)
			}
		}
		unit(z)
		var c, solved, want mat.Dense
		c.Mul(z.T(), z)
		for j := range m {
			c.Set(j, j, c.At(j, j)+2) // ρ·tr(K)/n
		}
		if err := solved.Solve(&c, z.T()); err != nil {
			t.Fatal(err)
		}
		want.Mul(z, &solved)
		unitDiagonal(&want, 0)
		near(t, "cosines", got, &want, 1e-10)
	}
}

// TestECCFOpenConcepts checks that a class without labels gets a concept of its own.
func TestECCFOpenConcepts(t *testing.T) {
	x, truth, known := entropicProblem(4, 20, 30, 0.7)
	known.Labels[2], known.Labels[3] = -1, -1
	res, err := ECCF{}.Fit(t.Context(), x, known, Options{Rank: 4})
	if err != nil {
		t.Fatal(err)
	}
	of := map[int]int{}
	for i, c := range truth {
		got := floats.MaxIdx(res.Coefficients.RawRowView(i))
		if i < 4 {
			of[got] = c
		}
		if of[got] != c {
			t.Fatalf("sample %d of class %d has concept %d", i+1, c, got)
		}
	}
	if len(of) != 4 {
		t.Errorf("concepts %v", of)
	}
}

func TestECCFBadInput(t *testing.T) {
	x, _, known := entropicProblem(3, 5, 4, 1)
	for want, c := range map[string]struct {
		m   ECCF
		opt Options
	}{
		"kappa is -2":                      {ECCF{Kappa: -2}, Options{Rank: 3}},
		"lambda is NaN":                    {ECCF{Lambda: math.NaN()}, Options{Rank: 3}},
		"the whitening is 0":               {ECCF{Whitening: WeightNone}, Options{Rank: 3}},
		"neighbours -2":                    {ECCF{Neighbours: -2}, Options{Rank: 3}},
		"3 classes have labels; expected":  {ECCF{}, Options{Rank: 2}},
		"supports no initial factors":      {ECCF{}, Options{Rank: 3, Init: InitNMF}},
		"no initial factors and no init":   {ECCF{}, Options{Rank: 3, Start: &Start{}}},
		"its own update rule and supports": {ECCF{}, Options{Rank: 3, Solver: Multiplicative{}}},
	} {
		if _, err := c.m.Fit(t.Context(), x, known, c.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
