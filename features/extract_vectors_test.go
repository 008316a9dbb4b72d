package features

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"gonum.org/v1/gonum/mat"
)

func TestVectors(t *testing.T) {
	values := []float64{3, 0, 4, 0, 0, 0, 0, 2, 0}
	var entries []sparse.Entry
	var bytes []uint8
	for i, v := range values {
		entries = append(entries, sparse.Entry{Row: i / 3, Col: i % 3, Value: v})
		bytes = append(bytes, uint8(v))
	}
	want := mat.NewDense(2, 3, []float64{0.6, 0, 0.8, 0, 1, 0})
	for _, x := range []mat.Matrix{mat.NewDense(3, 3, values), sparse.FromEntries(3, 3, entries), vectorfile.NewBytes(3, 3, bytes)} {
		set := vectorSet(x, 0, 0)
		if _, err := Extract(t.Context(), set, Pixels{}, Options{}); err == nil || !strings.HasPrefix(err.Error(), "v.csv row 2: all values are zero") {
			t.Errorf("%T: error %v", x, err)
		}
		out, err := Extract(t.Context(), set, Pixels{}, Options{SkipBad: true})
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(out.X, want, 1e-15) || !slices.Equal(out.Rows, []int{0, 2}) || len(out.Skipped) != 1 {
			t.Errorf("%T: rows %v, %v\n%v", x, out.Rows, out.Skipped, mat.Formatted(out.X))
		}
		if _, ok := x.(*sparse.CSR); ok {
			if _, ok := out.X.(*sparse.CSR); !ok {
				t.Errorf("sparse vectors gave a %T", out.X)
			}
		}
		if !mat.Equal(set.Vectors, mat.NewDense(3, 3, values)) {
			t.Errorf("%T: the set was changed", x)
		}
	}

	bad := vectorSet(sparse.FromEntries(2, 9, []sparse.Entry{{Row: 0, Col: 1, Value: 1}, {Row: 1, Col: 7, Value: math.Inf(1)}}), 0, 0)
	if _, err := Extract(t.Context(), bad, Pixels{}, Options{Normalise: NormNone}); err == nil || !strings.Contains(err.Error(), "v.csv row 2: column 8") {
		t.Errorf("infinite value: error %v", err)
	}
}
