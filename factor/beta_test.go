package factor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// TestScikitLearn checks that the factors equal scikit-learn's factors after the same iterations from the same start.
func TestScikitLearn(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "scikit-learn", "nmf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		X, U, V [][]float64
		Cases   []struct {
			Beta       float64
			Iterations int
			AlphaW     float64 `json:"alpha_W"`
			AlphaH     float64 `json:"alpha_H"`
			L1Ratio    float64 `json:"l1_ratio"`
			U, V       [][]float64
		}
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, c := range recorded.Cases {
		methods := []NMF{{Cost: CostBeta, Exponent: c.Beta}}
		switch c.Beta {
		case 0:
			methods = []NMF{{Cost: CostBeta, Exponent: WeightNone}, {Cost: CostItakuraSaito}}
		case 1:
			methods = append(methods, NMF{Cost: CostKL})
		case 2:
			methods = append(methods, NMF{})
		}
		for _, method := range methods {
			m := method.AsParts()
			// scikit-learn multiplies alpha_W by the samples and alpha_H by the features of its transposed data, and halves
			// the squares: of the penalties, and of the Frobenius cost.
			n, features := float64(len(recorded.X)), float64(len(recorded.X[0]))
			half := 1.0
			if m.Cost == CostFrobenius {
				half = 2
			}
			if m.Cost == CostBeta && c.L1Ratio < 1 && c.AlphaW > 0 {
				continue // squares make the step a root under this cost
			}
			if c.AlphaW > 0 {
				w, h := c.AlphaW*n*half, c.AlphaH*features*half
				m.Penalties = Penalties{L1{orNone(h * c.L1Ratio)}, L1Basis{orNone(w * c.L1Ratio)}, L2{orNone(h * (1 - c.L1Ratio) / 2)}, L2Basis{orNone(w * (1 - c.L1Ratio) / 2)}}
			}
			res, err := m.Fit(t.Context(), rows(recorded.X), Known{}, Options{
				Rank: 3, Iterations: c.Iterations, KeepScale: true, Solver: Multiplicative{},
				Start: &Start{Basis: rows(recorded.U), Coefficients: rows(recorded.V)},
			})
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("β = %v by cost %v, %d iterations, alpha %v: ", c.Beta, m.Cost, c.Iterations, c.AlphaW)
			near(t, what+"basis", res.Basis, rows(c.U), 1e-9)
			near(t, what+"coefficients", res.Coefficients, rows(c.V), 1e-9)
		}
	}
}

// TestBetaDivergence checks that the parts of the gradient are the derivative of the terms, that the divergence of c·x and
// c·y is c^β times the divergence of x and y, and that β = 1 and 2 are the other costs.
func TestBetaDivergence(t *testing.T) {
	for _, beta := range []float64{0, 0.3, 0.5, 1, 1.5, 2, 2.5, 4} {
		c := betaDivergence("", beta)
		for _, x := range []float64{0, 1e-3, 0.7, 1, 20} {
			if x == 0 && beta == 0 {
				continue
			}
			for _, y := range []float64{1e-3, 0.7, 1, 3} {
				negative, positive := []float64{0}, []float64{y}
				c.split(negative, positive, []float64{x}, []float64{1})
				h := 1e-6 * y
				slope, want := positive[0]-negative[0], (c.term(x, y+h)-c.term(x, y-h))/(2*h)
				if !(math.Abs(slope-want) <= 1e-6*(positive[0]+negative[0])+1e-14*math.Pow(x, beta)/h) {
					t.Errorf("β = %v: derivative %v at %v, %v; by differences %v", beta, slope, x, y, want)
				}
				if got, want := c.term(5*x, 5*y), math.Pow(5, beta)*c.term(x, y); !(math.Abs(got-want) <= 1e-12*(1+math.Pow(5*x, beta)+math.Pow(5*y, beta))) {
					t.Errorf("β = %v: 5 times %v and %v have divergence %v, want %v", beta, x, y, got, want)
				}
				for of, scale := range map[*costInfo]float64{&kl: 1, &frobenius: 0.5} {
					if want := scale * of.term(x, y); beta == of.degree && !(math.Abs(c.term(x, y)-want) <= 1e-12*(x*x+y*y+1)) {
						t.Errorf("β = %v: %v at %v, %v; cost %s is %v", beta, c.term(x, y), x, y, of.name, want)
					}
				}
			}
		}
	}
}

func TestBetaRefuses(t *testing.T) {
	x := mat.NewDense(3, 4, []float64{1, 2, 3, 4, 5, 6, 0, 8, 9, 1, 2, 3})
	for want, m := range map[string]Method{
		`sample 2: column 3: value 0 is not above 0; the cost "is" needs values above 0`:   NMF{Cost: CostItakuraSaito},
		`sample 2: column 3: value 0 is not above 0; the cost "beta" needs values above 0`: NMF{Cost: CostBeta, Exponent: WeightNone},
		"exponent is for cost beta; the cost is kl":                                        NMF{Cost: CostKL, Exponent: 0.5},
		"exponent 4.5; expected a number from 0 to 4":                                      NMF{Cost: CostBeta, Exponent: 4.5},
		"threshold is for cost huber; the cost is l21":                                     NMF{Cost: CostL21, Threshold: 1},
		"threshold -2; expected 1e-60 to 1e+60":                                            TriNMF{Cost: CostHuber, Threshold: -2},
		"threshold -1; expected 1e-60 to 1e+60":                                            NMF{Cost: CostHuber, Threshold: -1},
		"a kernel needs basis concept and cost frobenius, got basis concept and cost l21":  Parts{Cost: CostL21, Basis: BasisConcept, Kernel: Kernel{Function: KernelRBF}},
	} {
		if _, err := m.Fit(t.Context(), x, Known{}, Options{Rank: 1}); err == nil || err.Error() != want {
			t.Errorf("%+v: %v; want %s", m, err, want)
		}
	}
	m := &Additive{Cost: CostItakuraSaito, Basis: mat.NewDense(4, 1, []float64{1, 1, 1, 1})}
	if _, err := m.Transform(t.Context(), x); err == nil || !strings.Contains(err.Error(), "column 3: value 0") {
		t.Errorf("transformed: %v", err)
	}
	if err := (Fast{}).Serves(Parts{Cost: CostBeta}); err == nil || err.Error() != "the solver fast does not support cost beta" {
		t.Error(err)
	}
}

// positive returns the problem with values > 0 if the cost of p needs them.
func (q problem) positive(p Parts) problem {
	if p.cost().positive {
		least := 0.01 * mat.Max(q.x)
		x := algebra.Like(q.x)
		x.Apply(func(_, _ int, x float64) float64 { return max(x, least) }, q.x)
		q.x = x
	}
	return q
}

// TestBetaWithWeights checks that two samples of one label, and a weight of 2, act like a repeated sample.
func TestBetaWithWeights(t *testing.T) {
	for _, m := range []Parts{{Cost: CostItakuraSaito}, {Cost: CostBeta}, {Cost: CostBeta, Exponent: 3}} {
		q := randomProblem(8, false).positive(m)
		n, features := q.x.Dims()
		twice := mat.NewDense(n+1, features, nil)
		twice.Copy(q.x)
		twice.SetRow(n, q.x.RawRowView(0))
		weights, labels := make([]float64, n), make([]int, n+1)
		for i := range n {
			weights[i], labels[i] = 1, i
		}
		weights[0] = 2
		opt := Options{Rank: 2, Iterations: 20}
		start := randomStart(problem{x: q.x, opt: opt, image: q.image}, order(n))
		opt.Start = &Start{Basis: start.Basis, Coefficients: start.Coefficients}
		want, err := m.Fit(t.Context(), &Weighted{Matrix: q.x, Samples: weights}, Known{}, opt)
		if err != nil {
			t.Fatal(err)
		}
		opt.Start.Coefficients = mat.NewDense(n+1, 2, nil)
		opt.Start.Coefficients.Copy(start.Coefficients)
		opt.Start.Coefficients.SetRow(n, start.Coefficients.RawRowView(0))
		m.Tie = TieLabels
		got, err := m.Fit(t.Context(), twice, Known{Labels: labels}, opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, m.Cost.String()+" basis", got.Basis, want.Basis, 1e-9)
		nearNumber(t, m.Cost.String()+" objective", got.Objective[20], want.Objective[20], 1e-9*view.SumSquares(view.Dense{X: q.x}))
		if !algebra.Finite(got.Coefficients) {
			t.Error("not finite")
		}
	}
}

// TestBetaSaved checks that a saved model represents samples as before.
func TestBetaSaved(t *testing.T) {
	q := planted(1)
	for _, m := range []NMF{{Cost: CostItakuraSaito}, {Cost: CostBeta}, {Cost: CostBeta, Exponent: WeightNone}, {Cost: CostBeta, Exponent: 1.7}, {Cost: CostL21}, {Cost: CostHuber}} {
		res, err := m.Fit(t.Context(), q.x, Known{}, Options{Rank: 2, Iterations: 3})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := res.Save(&file); err != nil {
			t.Fatal(err)
		}
		loaded, err := LoadModel(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint(m), transformed(t, loaded, q.x), transformed(t, res.Model, q.x), 0)
	}
}
