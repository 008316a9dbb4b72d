package factor

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSSNMFNeverRises: with the damped step. The paper's own can, but gives
// numbers.
func TestSSNMFNeverRises(t *testing.T) {
	rises := 0
	for seed := range uint64(200) {
		for _, rule := range []SimilarityRule{SimilarityRuleDamped, SimilarityRulePrinted} {
			p := randomProblem(seed, false)
			n, _ := p.x.Dims()
			m := SSNMF{Rule: rule}
			if seed%4 == 0 { // the samples stand in a ring
				m.Similarity = mat.NewDense(n, n, nil)
				for i := range n {
					m.Similarity.Set(i, (i+1)%n, 1)
					m.Similarity.Set((i+1)%n, i, 1)
				}
				p.known = Known{}
			}
			res, err := m.Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatalf("%v %v: %v", rule, p, err)
			}
			if !finite(res.Coefficients) || !finite(res.Association) || mat.Min(res.Coefficients) < 0 || mat.Min(res.Association) < 0 {
				t.Fatalf("%v %v: a factor holds negative values or none at all", rule, p)
			}
			if res.Basis != nil || res.Model != nil {
				t.Fatal("similarities have no basis over features")
			}
			first := res.Objective[0]
			for i := 1; i < len(res.Objective); i++ {
				before, now := res.Objective[i-1], res.Objective[i]
				if now <= before+1e-9*before+1e-13*first {
					continue
				}
				if rises++; rule == SimilarityRuleDamped {
					t.Fatalf("%v: objective rises from %v to %v at iteration %d", p, before, now, i)
				}
			}
		}
	}
	if rises == 0 {
		t.Error("the objective never rises with the printed step either: is it the same?")
	}
}

// TestSSNMFObjective: it is that of the factors returned.
func TestSSNMFObjective(t *testing.T) {
	p := randomProblem(4, false)
	p.opt.Rank = 3
	res, err := SSNMF{}.Fit(context.Background(), p.x, p.known, p.opt)
	if err != nil {
		t.Fatal(err)
	}
	var a, rest mat.Dense
	a.Mul(p.x, p.x.T())
	largest, smallest := mat.Max(&a), mat.Min(&a)
	for i, c := range p.known.Labels {
		for j, b := range p.known.Labels {
			switch {
			case i == j || c < 0 || b < 0:
			case c == b:
				a.Set(i, j, largest)
			default:
				a.Set(i, j, smallest)
			}
		}
	}
	rest.Mul(res.Coefficients, res.Association)
	var fit mat.Dense
	fit.Mul(&rest, res.Coefficients.T())
	fit.Sub(&a, &fit)
	want := mat.Norm(&fit, 2)
	nearNumber(t, "objective", math.Sqrt(res.Objective[len(res.Objective)-1]), want, 1e-12)
}

// TestSSNMFLinks: labels and the links that they imply are the same.
func TestSSNMFLinks(t *testing.T) {
	p := randomProblem(8, false)
	var links Known
	for i, c := range p.known.Labels {
		for j := range i {
			switch {
			case c < 0 || p.known.Labels[j] < 0:
			case c == p.known.Labels[j]:
				links.MustLink = append(links.MustLink, [2]int{i, j})
			default:
				links.CannotLink = append(links.CannotLink, [2]int{j, i})
			}
		}
	}
	links.MustLink = append(links.MustLink, [2]int{1, 1})
	want, err := SSNMF{}.Fit(context.Background(), p.x, p.known, p.opt)
	if err != nil {
		t.Fatal(err)
	}
	got, err := SSNMF{}.Fit(context.Background(), p.x, links, p.opt)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "G", got.Coefficients, want.Coefficients, 0)
	none, err := SSNMF{}.Fit(context.Background(), p.x, Known{}, p.opt)
	if err != nil {
		t.Fatal(err)
	}
	if mat.Equal(none.Coefficients, want.Coefficients) {
		t.Error("labels change nothing")
	}
}

func TestSSNMFPermutingSamples(t *testing.T) {
	for seed := range uint64(20) {
		p := randomProblem(seed, false)
		p.opt.Iterations = 10
		n, _ := p.x.Dims()
		order := rand.New(rand.NewPCG(seed, 3)).Perm(n)
		same := make([]int, n)
		x, labels := like(p.x), make([]int, n)
		for to, from := range order {
			same[to] = to
			x.SetRow(to, p.x.RawRowView(from))
			labels[to] = p.known.Labels[from]
		}
		p.opt.Start = &Start{Coefficients: randomStart(p, same).Coefficients}
		want, err := SSNMF{}.Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		p.opt.Start = &Start{Coefficients: randomStart(p, order).Coefficients}
		got, err := SSNMF{}.Fit(context.Background(), toSparse(x), Known{Labels: labels}, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		back := like(want.Coefficients)
		for to, from := range order {
			back.SetRow(from, got.Coefficients.RawRowView(to))
		}
		near(t, p.String()+" G", back, want.Coefficients, 1e-9)
		near(t, p.String()+" S", got.Association, want.Association, 1e-9*max(1, mat.Max(want.Association)))
	}
}

// TestSSNMFGroups: blocks of similar samples are found as groups.
func TestSSNMFGroups(t *testing.T) {
	a := mat.NewDense(9, 9, nil)
	a.Apply(func(i, j int, _ float64) float64 {
		if i%3 == j%3 {
			return 1
		}
		return 0.1
	}, a)
	x := mat.NewDense(9, 1, slices.Repeat([]float64{1}, 9))
	res, err := SSNMF{Similarity: a}.Fit(context.Background(), x, Known{}, Options{Rank: 3, Seed: 1, Iterations: 1000})
	if err != nil {
		t.Fatal(err)
	}
	group := func(i int) int {
		row := res.Coefficients.RawRowView(i)
		return slices.Index(row, slices.Max(row))
	}
	for i := range 9 {
		for j := range 9 {
			if (group(i) == group(j)) != (i%3 == j%3) {
				t.Errorf("samples %d and %d are in the groups %d and %d", i, j, group(i), group(j))
			}
		}
	}
}

func TestSSNMFBadInput(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	square := func(v ...float64) *mat.Dense { return mat.NewDense(3, 3, v) }
	good := square(1, 0, 0, 0, 1, 0, 0, 0, 1)
	for want, c := range map[string]struct {
		x     *mat.Dense
		m     SSNMF
		known Known
		opt   Options
	}{
		"similarities are 2×2":         {x, SSNMF{Similarity: mat.NewDense(2, 2, nil)}, Known{}, Options{Rank: 1}},
		"hold -1 at row 1, column 2":   {x, SSNMF{Similarity: square(1, -1, 0, -1, 1, 0, 0, 0, 1)}, Known{}, Options{Rank: 1}},
		"hold NaN":                     {x, SSNMF{Similarity: square(math.NaN(), 0, 0, 0, 1, 0, 0, 0, 1)}, Known{}, Options{Rank: 1}},
		"not symmetric":                {x, SSNMF{Similarity: square(1, 2, 0, 1, 1, 0, 0, 0, 1)}, Known{}, Options{Rank: 1}},
		"the largest similarity is 0":  {x, SSNMF{Similarity: square(0, 0, 0, 0, 0, 0, 0, 0, 0)}, Known{}, Options{Rank: 1}},
		"largest similarity is 1e+100": {mat.NewDense(1, 1, []float64{1e50}), SSNMF{}, Known{}, Options{Rank: 1}},
		"inner product with sample 2":  {mat.NewDense(2, 1, []float64{1, -1}), SSNMF{}, Known{}, Options{Rank: 1}},
		"initial association is 3×3":   {x, SSNMF{Initial: good}, Known{}, Options{Rank: 2}},
		"initial association hold -2":  {x, SSNMF{Initial: square(-2, 0, 0, 0, 1, 0, 0, 0, 1)}, Known{}, Options{Rank: 3}},
		"rank 4":                       {x, SSNMF{}, Known{}, Options{Rank: 4}},
		"contradicts must-links":       {x, SSNMF{}, Known{MustLink: [][2]int{{0, 1}}, CannotLink: [][2]int{{1, 0}}}, Options{Rank: 1}},
		"2 labels for 3 samples":       {x, SSNMF{}, Known{Labels: []int{0, 1}}, Options{Rank: 1}},
		`there is no init "zeros"`:     {x, SSNMF{}, Known{}, Options{Rank: 1, Init: "zeros"}},
		"+Inf at the initial factors":  {good, SSNMF{Initial: mat.NewDense(1, 1, []float64{1e60})}, Known{}, Options{Rank: 1, Start: &Start{Coefficients: mat.NewDense(3, 1, []float64{1e60, 1, 1})}}},
		"initial coefficients are":     {x, SSNMF{}, Known{}, Options{Rank: 1, Start: &Start{Coefficients: x}}},
	} {
		if _, err := c.m.Fit(context.Background(), c.x, c.known, c.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
