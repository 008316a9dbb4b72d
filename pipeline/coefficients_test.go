package pipeline

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"
)

// saved is a matrix in NumPy's format.
func saved(t testing.TB, m any) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := npy.Write(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParseCoefficients(t *testing.T) {
	want := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	good := saved(t, want)
	got, err := parseCoefficients(good)
	if err != nil || !mat.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for want, raw := range map[string][]byte{
		"NumPy's format":             []byte("nothing"),
		"no n×k numbers":             saved(t, []float64{1, 2}),
		"are no n×k":                 bytes.Replace(good, []byte("<f8"), []byte("<i8"), 1),
		"to be 2×3 and have 47":      good[:len(good)-1],
		"to be 9×3 and have 48":      bytes.Replace(good, []byte("(2, 3)"), []byte("(9, 3)"), 1),
		"to be 1×3 and have 48":      bytes.Replace(good, []byte("(2, 3)"), []byte("(1, 3)"), 1),
		"to be 0×3 and have 48":      bytes.Replace(good, []byte("(2, 3)"), []byte("(0, 3)"), 1),
		"hold NaN":                   saved(t, mat.NewDense(1, 1, []float64{math.NaN()})),
		"are not in NumPy's format ": nil,
	} {
		if _, err := parseCoefficients(raw); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// FuzzCoefficients: whatever stands in the file, it is read or refused.
func FuzzCoefficients(f *testing.F) {
	f.Add(saved(f, mat.NewDense(2, 1, []float64{1, 2})))
	f.Add([]byte("\x93NUMPY{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }\n12345678"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := parseCoefficients(raw)
		if err != nil {
			return
		}
		if n, k := v.Dims(); n < 1 || k < 1 || 8*n*k > len(raw) {
			t.Errorf("%d×%d numbers in %d bytes", n, k, len(raw))
		}
	})
}
