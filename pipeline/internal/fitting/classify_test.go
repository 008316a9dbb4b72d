package fitting

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestLinearClassifier compares with scikit-learn 1.9.1, LogisticRegression(C, tol=1e-10) with and without
// StandardScaler.
func TestLinearClassifier(t *testing.T) {
	train, truth := waves(0, 60)
	test, _ := waves(60, 140)
	for _, c := range []struct {
		by   spec.Classifier
		want string
	}{
		{spec.Classifier{By: "linear", C: 0.05}, "20202210002000122102020001000202020200002010220000102022000201002201020002010212"},
		{spec.Classifier{By: "linear"}, "21102210012000122102020101000221020201002210220010102122000201002201020001210212"},
		{spec.Classifier{By: "linear", C: 50}, "21102210012000122102020101000221020201002210220010102122000201002201020001210212"},
		{spec.Classifier{By: "linear", Scale: "none"}, "21202010202002102102020101020201020001202010202020102020020001020201010201010212"},
		{spec.Classifier{By: "linear", C: 50, Scale: "none"}, "21202010202002102102020101020201020001202010202020102020020001020201010201010212"},
	} {
		got, err := classify(t.Context(), &spec.Experiment{Classifier: c.by}, train, truth, test)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, class := range got {
			fmt.Fprint(&text, class)
		}
		if text.String() != c.want {
			t.Errorf("%+v: got\n%s, want\n%s", c.by, text.String(), c.want)
		}
	}
}

// TestStandard checks that dense columns of any scale get mean 0 and standard deviation 1, that sparse columns are
// divided by the same numbers, and that constant columns become 0.
func TestStandard(t *testing.T) {
	x := mat.NewDense(5, 4, []float64{
		1e200, 0, 7, 1e-200,
		3e200, 2, 7, 2e-200,
		2e200, 0, 7, 0,
		0, 5, 7, 5e-200,
		1e200, 0, 7, 1e-200})
	s := newStandard(x)
	dense := s.Of(x).(*mat.Dense)
	for j := range 4 {
		mean, deviation := stat.PopMeanStdDev(mat.Col(nil, j, dense), nil)
		want := 1.0
		if j == 2 {
			want = 0
		}
		if math.Abs(mean) > 1e-12 || math.Abs(deviation-want) > 1e-12 {
			t.Errorf("column %d has mean %v and deviation %v", j, mean, deviation)
		}
	}
	var entries []sparse.Entry
	for i := range 5 {
		for j := range 4 {
			if v := x.At(i, j); v != 0 {
				entries = append(entries, sparse.Entry{Row: i, Col: j, Value: v})
			}
		}
	}
	csr := sparse.FromEntries(5, 4, entries)
	of := newStandard(csr)
	divided := of.Of(csr)
	for i := range 5 {
		for j := range 4 {
			if got, want := divided.At(i, j), x.At(i, j)*s.Factor[j]; math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("sparse at %d, %d: got %v, want %v", i, j, got, want)
			}
		}
	}
	if csr.At(0, 0) != 1e200 {
		t.Error("the samples were changed")
	}
}

// waves returns samples of 3 classes, whose 4 columns differ in size.
func waves(from, to int) (x *mat.Dense, labels []int) {
	x = mat.NewDense(to-from, 4, nil)
	for i := from; i < to; i++ {
		class := (i*i + i/4) % 3
		for j, scale := range []float64{1, 100, 0.01, 3} {
			v := math.Sin(float64(1 + 3*i + 7*j*j + i*j))
			if class == j {
				v += 0.8
			}
			x.Set(i-from, j, v*scale+float64(j))
		}
		labels = append(labels, class)
	}
	return x, labels
}
