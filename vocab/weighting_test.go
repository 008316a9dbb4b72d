package vocab

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

func csr(t *testing.T, r, c int, values ...float64) *sparse.CSR {
	t.Helper()
	var entries []sparse.Entry
	for i, v := range values {
		entries = append(entries, sparse.Entry{Row: i / c, Col: i % c, Value: v})
	}
	return sparse.FromEntries(r, c, entries)
}

func TestWeighting(t *testing.T) {
	x := csr(t, 3, 3,
		9, 16, 0,
		0, 0, 4,
		0, 0, 0)
	for _, test := range []struct {
		name string
		w    Weighting
		want []float64
	}{
		{"none", Weighting{Norm: features.NormNone}, []float64{9, 16, 0, 0, 0, 4, 0, 0, 0}},
		{"default", Weighting{}, []float64{9 / math.Sqrt(337), 16 / math.Sqrt(337), 0, 0, 0, 1, 0, 0, 0}},
		{"L1", Weighting{Norm: features.NormL1}, []float64{0.36, 0.64, 0, 0, 0, 1, 0, 0, 0}},
		{"max", Weighting{Norm: features.NormMax}, []float64{0.5625, 1, 0, 0, 0, 1, 0, 0, 0}},
		{"root", Weighting{Power: 0.5, Norm: features.NormNone}, []float64{3, 4, 0, 0, 0, 2, 0, 0, 0}},
		{"L2 after the root", Weighting{Power: 0.5}, []float64{0.6, 0.8, 0, 0, 0, 1, 0, 0, 0}},
		{"root after idf", Weighting{IDF: []float64{4, 1, 9}, Power: 0.5, Norm: features.NormNone}, []float64{6, 4, 0, 0, 0, 6, 0, 0, 0}},
		{"all", Weighting{IDF: []float64{1, 81. / 256, 2}, Power: 0.5, Norm: features.NormL1},
			[]float64{3 / 5.25, 2.25 / 5.25, 0, 0, 0, 1, 0, 0, 0}},
	} {
		got, err := test.w.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		if want := mat.NewDense(3, 3, test.want); !mat.EqualApprox(got, want, 1e-15) {
			t.Errorf("%s: got\n%v", test.name, mat.Formatted(got))
		}
	}
	if x.At(0, 0) != 9 {
		t.Error("the counts were changed")
	}
}

// Norms must hold at both ends of the range of numbers.
func TestNormOfExtremes(t *testing.T) {
	x := csr(t, 2, 2, 3e-320, 4e-320, 3e307, 4e307)
	got, err := Weighting{}.Apply(x)
	if err != nil {
		t.Fatal(err)
	}
	if want := mat.NewDense(2, 2, []float64{0.6, 0.8, 0.6, 0.8}); !mat.EqualApprox(got, want, 1e-3) {
		t.Errorf("got\n%v", mat.Formatted(got))
	}
}

func TestLearnIDF(t *testing.T) {
	// The zero that is stored counts for none.
	x, err := sparse.New(3, 3, []int{0, 2, 4, 5}, []int{0, 1, 0, 2, 0}, []float64{1, 5, 2, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	got := LearnIDF(x)
	for j, want := range []float64{1, 1 + math.Log(2), 1 + math.Log(4)} {
		if math.Abs(got[j]-want) > 1e-15 {
			t.Errorf("column %d: got %v, want %v", j, got[j], want)
		}
	}
}

func TestWeightingErrors(t *testing.T) {
	x := csr(t, 1, 2, 1, 2)
	for _, test := range []struct {
		w    Weighting
		x    *sparse.CSR
		want string
	}{
		{Weighting{IDF: []float64{1}}, x, "weighting: 1 inverse document frequencies for 2 columns, and power"},
		{Weighting{IDF: []float64{1, math.Inf(1)}}, x, "weighting: row 1, column 2: value 2"},
		{Weighting{IDF: []float64{-1, 1}}, x, "weighting: row 1, column 1: value 1"},
		{Weighting{Power: 2}, x, "columns, and power 2; expected one per column, and a power up to 1"},
		{Weighting{Power: -0.5}, x, "columns, and power -0.5"},
		{Weighting{Power: math.NaN()}, x, "columns, and power NaN; expected one per column, and a power up to 1"},
		{Weighting{}, csr(t, 2, 2, 1, 1, 1, -2), "weighting: row 2, column 2: value -2"},
		{Weighting{Power: 0.5}, csr(t, 1, 2, 1, math.NaN()), "weighting: row 1, column 2: value NaN"},
		{Weighting{IDF: []float64{1e300, 1}}, csr(t, 1, 2, 1e300, 1), "weighting: row 1, column 1: value 1e+300"},
	} {
		if _, err := test.w.Apply(test.x); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want %q", err, test.want)
		}
	}
}
