package factor

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
)

func init() {
	maps.Copy(checkers, map[string]checker{
		"projection_pca": checkPCA,
		"projection_lda": checkLDA,
		"projection_mfa": checkMFA,
		"projection_sda": checkSDA,
		"sparse_coding":  checkSparseCoding,
		"lasso":          checkLasso,
		"ss_nmf":         checkSSNMF,
		"simplex":        checkSimplex,
	})
}

// orNone is a weight of a fixture as our methods take it.
func orNone(x float64) float64 {
	if x == 0 {
		return WeightNone
	}
	return x
}

// checkProjection compares a projection with the fixture's, whose columns may
// have either sign, and its mean. It asks for as many directions as there are
// in the fixture, and at times for more than there can be.
func checkProjection(t *testing.T, f *fixture, m Method, ranks ...int) {
	t.Helper()
	x := columns(f.Inputs.X)
	want := matrix(t, f.Result["P"])
	var mean []float64
	if err := json.Unmarshal(f.Result["mean"], &mean); err != nil {
		t.Fatal(err)
	}
	_, d := want.Dims()
	for _, rank := range append(ranks, d) {
		res, err := m.Fit(context.Background(), x, Known{Labels: f.Inputs.Labels}, Options{Rank: rank})
		if err != nil {
			t.Fatal(err)
		}
		p := res.Model.(*Linear)
		near(t, "mean", mat.NewVecDense(len(p.Mean), p.Mean), mat.NewVecDense(len(mean), mean), f.Tolerance)
		sameUpToSigns(t, "P", res.Basis, want, f.Tolerance)
		if p.Projection != res.Basis {
			t.Error("the model's projection is not the basis")
		}
		var about mat.Dense
		about.Apply(func(_, j int, v float64) float64 { return v - mean[j] }, x)
		sameUpToSigns(t, "coefficients", res.Coefficients, algebra.Times(&about, want), f.Tolerance)
	}
}

// sameUpToSigns compares matrices whose columns may have either sign.
func sameUpToSigns(t *testing.T, what string, got, want *mat.Dense, tolerance float64) {
	t.Helper()
	turned := mat.DenseCopyOf(want)
	if _, d := got.Dims(); d == turned.RawMatrix().Cols {
		for c := range d {
			if mat.Dot(got.ColView(c), want.ColView(c)) < 0 {
				col := turned.ColView(c).(*mat.VecDense)
				col.ScaleVec(-1, col)
			}
		}
	}
	near(t, what, got, turned, tolerance)
}

func checkPCA(t *testing.T, f *fixture) {
	if f.Inputs.Energy > 0 {
		checkProjection(t, f, PCA{Variance: f.Inputs.Energy}, 1)
		return
	}
	checkProjection(t, f, PCA{})
}

func checkLDA(t *testing.T, f *fixture) {
	checkProjection(t, f, LDA{Variance: f.Inputs.Energy}, len(f.Inputs.Labels))
}

func checkMFA(t *testing.T, f *fixture) {
	checkProjection(t, f, MFA{K1: f.Inputs.K1, K2: f.Inputs.K2, Variance: f.Inputs.Energy})
}

func checkSDA(t *testing.T, f *fixture) {
	checkProjection(t, f, SDA{Alpha: orNone(f.Inputs.Alpha), Ridge: orNone(f.Inputs.Ridge), Similarity: toSparse(rows(f.Inputs.S))}, len(f.Inputs.Labels))
}

func checkLasso(t *testing.T, f *fixture) {
	s := &SparseCode{Dictionary: rows(f.Inputs.B), Lambda: f.Inputs.Lambda}
	got, err := s.Transform(context.Background(), columns(f.Inputs.X))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "codes", got.T(), matrix(t, f.Result["codes"]), f.Tolerance)
}

// afterIterations calls check for each number of iterations in f.
func afterIterations(t *testing.T, f *fixture, check func(iterations int, want map[string]json.RawMessage)) {
	t.Helper()
	if len(f.After) == 0 {
		t.Fatal("the fixture has no factors after any iteration")
	}
	for count, want := range f.After {
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		check(n, want)
	}
}

func checkHistory(t *testing.T, f *fixture, res *Result) {
	t.Helper()
	for i, o := range res.Objective {
		nearNumber(t, "objective", o, f.ObjectiveHistory[i], f.Tolerance)
	}
}

func checkSparseCoding(t *testing.T, f *fixture) {
	afterIterations(t, f, func(iterations int, want map[string]json.RawMessage) {
		opt := Options{Rank: f.Inputs.K, Iterations: iterations, Start: &Start{Basis: matrix(t, f.Init["B"])}, KeepScale: true}
		m := SparseCoding{Lambda: orNone(f.Inputs.Lambda)}
		res, err := m.Fit(context.Background(), columns(f.Inputs.X), Known{}, opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "B", res.Basis, matrix(t, want["B"]), f.Tolerance)
		near(t, "V", res.Coefficients, matrix(t, want["V"]), f.Tolerance)
		checkHistory(t, f, res)
	})
}

func checkSSNMF(t *testing.T, f *fixture) {
	m := SSNMF{Similarity: rows(f.Inputs.Similarity), Initial: matrix(t, f.Init["S"])}
	if f.Inputs.Power == 1 {
		m.Rule = SimilarityRulePrinted
	}
	if printed := strings.HasSuffix(f.Method, "printed"); printed != (m.Rule == SimilarityRulePrinted) {
		t.Fatalf("%s with the power %v", f.Method, f.Inputs.Power)
	}
	var known Known
	if json.Unmarshal(f.Inputs.Must, &known.MustLink) != nil || json.Unmarshal(f.Inputs.Cannot, &known.CannotLink) != nil {
		t.Fatalf("must %s, cannot %s", f.Inputs.Must, f.Inputs.Cannot)
	}
	linked := mat.DenseCopyOf(m.Similarity)
	link(linked, known)
	near(t, "At", linked, rows(f.Inputs.At), f.Tolerance)

	n := len(f.Inputs.Similarity)
	x := mat.NewDense(n, 1, nil) // any features will do
	x.Apply(func(int, int, float64) float64 { return 1 }, x)
	afterIterations(t, f, func(iterations int, want map[string]json.RawMessage) {
		opt := Options{Rank: f.Inputs.K, Iterations: iterations, Start: &Start{Coefficients: matrix(t, f.Init["G"])}}
		res, err := m.Fit(context.Background(), x, known, opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "G", res.Coefficients, matrix(t, want["G"]), f.Tolerance)
		near(t, "S", res.Association, matrix(t, want["S"]), f.Tolerance)
		checkHistory(t, f, res)
	})
}

func checkSimplex(t *testing.T, f *fixture) {
	y := rows(f.Inputs.Y)
	got := algebra.Like(y)
	n, _ := y.Dims()
	for i := range n {
		projectSimplex(got.RawRowView(i), y.RawRowView(i))
	}
	near(t, "P", got, matrix(t, f.Result["P"]), f.Tolerance)
	if math.Abs(mat.Sum(got)-float64(n)) > 1e-12*float64(n) {
		t.Errorf("%d points of the simplex sum to %v", n, mat.Sum(got))
	}
}
