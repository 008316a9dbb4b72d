package logistic

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// waves returns a problem of 30 samples of 4 columns in 3 classes.
func waves() (x *mat.Dense, labels []int) {
	x = mat.NewDense(30, 4, nil)
	for i := range 30 {
		for j := range 4 {
			x.Set(i, j, math.Sin(float64(1+3*i+7*j*j+i*j)))
		}
		labels = append(labels, (i*i+i/4)%3)
	}
	return x, labels
}

// TestRecorded compares with scikit-learn 1.9.1, LogisticRegression(C, tol=1e-12).
func TestRecorded(t *testing.T) {
	x, labels := waves()
	for _, test := range []struct {
		c                float64
		weights, offsets []float64
		log              []float64 // of the probabilities of the second sample
	}{
		{0.1, []float64{-0.06962408, 0.12055453, -0.00818197, 0.00989119}, []float64{0.1988071, -0.20832317, 0.00951607}, []float64{-0.91888451, -1.14333559, -1.26484816}},
		{0, []float64{-0.18918345, 0.29028494, -0.02700588, 0.02224057}, []float64{0.21807782, -0.2060637, -0.01201411}, []float64{-0.94442121, -0.87465338, -1.63943917}},
		{100, []float64{-0.24171891, 0.34544571, -0.03363894, 0.03100939}, []float64{0.23226575, -0.20463862, -0.02762712}, []float64{-0.95701954, -0.783062, -1.83910459}},
	} {
		model, err := Regression{C: test.c, Tolerance: 1e-9}.Fit(t.Context(), x, labels, 3)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "weights", model.Weights.RawRowView(0), test.weights, 2e-7)
		near(t, "offsets", model.Offsets, test.offsets, 2e-7)
		near(t, "probabilities", model.LogProbabilities(x).RawRowView(1), test.log, 2e-7)
	}
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if !scalar.EqualWithinAbsOrRel(got[i], want[i], tolerance, tolerance) {
			t.Errorf("%s: got %v, want %v", what, got, want)
			return
		}
	}
}

// TestGradient compares the gradient with differences of the objective.
func TestGradient(t *testing.T) {
	x, labels := waves()
	for _, data := range []mat.Matrix{x, asSparse(x)} {
		f := &loss{data: newRows(data), labels: labels, k: 3, m: 4, scale: 0.7, penalty: 0.3, scores: make([]float64, 90)}
		theta := make([]float64, 15)
		for i := range theta {
			theta[i] = math.Cos(float64(5 * i))
		}
		got := slices.Clone(f.evaluate(theta).gradient)
		want := fd.Gradient(nil, func(at []float64) float64 { return f.evaluate(at).value }, theta, &fd.Settings{Formula: fd.Central})
		near(t, "gradient", got, want, 1e-7)
	}
}

func asSparse(x *mat.Dense) *sparse.CSR {
	var entries []sparse.Entry
	n, m := x.Dims()
	for i := range n {
		for j := range m {
			if v := x.At(i, j); v != 0 {
				entries = append(entries, sparse.Entry{Row: i, Col: j, Value: v})
			}
		}
	}
	return sparse.FromEntries(n, m, entries)
}

// TestProperties checks that sparse and dense samples give the same result, and that the order of samples, the names
// of classes, and the scale of the samples with a matching C have no effect.
func TestProperties(t *testing.T) {
	x, labels := waves()
	fit := func(r Regression, x mat.Matrix, labels []int) *Model {
		t.Helper()
		r.Tolerance = 1e-9
		model, err := r.Fit(t.Context(), x, labels, 3)
		if err != nil {
			t.Fatal(err)
		}
		return model
	}
	plain := fit(Regression{C: 10}, x, labels)
	want := plain.Weights.RawMatrix().Data
	near(t, "sparse", fit(Regression{C: 10}, asSparse(x), labels).Weights.RawMatrix().Data, want, 1e-6)
	order := rand.New(rand.NewPCG(1, 1)).Perm(30)
	moved, movedLabels := mat.NewDense(30, 4, nil), make([]int, 30)
	for i, from := range order {
		moved.SetRow(i, x.RawRowView(from))
		movedLabels[i] = 2 - labels[from]
	}
	other := fit(Regression{C: 10}, moved, movedLabels)
	for c := range 3 {
		near(t, "permuted", other.Weights.RawRowView(2-c), plain.Weights.RawRowView(c), 1e-6)
	}
	for _, scale := range []float64{1e-100, 1e-3, 1e120} {
		var scaled mat.Dense
		scaled.Scale(scale, x)
		if scale*scale*10 == 0 || 10/scale/scale == 0 {
			continue
		}
		model := fit(Regression{C: 10 / scale / scale}, &scaled, labels)
		model.Weights.Scale(scale, model.Weights)
		near(t, "scaled", model.Weights.RawMatrix().Data, want, 1e-6)
	}
}

// TestClassify: linearly separable classes are recognised, also with a row of zeros.
func TestClassify(t *testing.T) {
	x := mat.NewDense(6, 2, []float64{1, 0, 2, 1, -1, 0, -2, -1, 0, 0, 0, 9})
	labels := []int{0, 0, 1, 1, 2, 2}
	model, err := Regression{C: 1e4}.Fit(t.Context(), x, labels, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got := model.Classify(x); !slices.Equal(got, labels) {
		t.Errorf("got %v, want %v", got, labels)
	}
	one, err := Regression{}.Fit(t.Context(), x, make([]int, 6), 1)
	if err != nil || one.LogProbabilities(x).At(3, 0) != 0 {
		t.Errorf("one class: %v", err)
	}
}

// TestMistakes checks that each invalid input is one error.
func TestMistakes(t *testing.T) {
	x, labels := waves()
	wrong := slices.Clone(labels)
	wrong[4] = 3
	nan := mat.DenseCopyOf(x)
	nan.Set(2, 2, math.NaN())
	for name, f := range map[string]func() error{
		"few labels":   func() error { _, err := Regression{}.Fit(t.Context(), x, labels[:20], 3); return err },
		"no class":     func() error { _, err := Regression{}.Fit(t.Context(), x, labels, 4); return err },
		"a label of 3": func() error { _, err := Regression{}.Fit(t.Context(), x, wrong, 3); return err },
		"NaN":          func() error { _, err := Regression{}.Fit(t.Context(), nan, labels, 3); return err },
		"C below 0":    func() error { _, err := Regression{C: -1}.Fit(t.Context(), x, labels, 3); return err },
		"C of 1e-310":  func() error { _, err := Regression{C: 1e-310}.Fit(t.Context(), x, labels, 3); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Regression{}).Fit(ctx, x, labels, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
