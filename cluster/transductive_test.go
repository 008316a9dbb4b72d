package cluster

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestTransductive has two half rings of samples, of which the first of each has a label. The graph follows the rings;
// the nearest labelled sample does not.
func TestTransductive(t *testing.T) {
	const n = 120
	x, known := mat.NewDense(n, 3, nil), Known{Labels: make([]int, n)}
	for i := range n {
		angle, ring := math.Pi*float64(i/2)/(n/2), float64(i%2)
		x.SetRow(i, []float64{math.Cos(angle), math.Sin(angle), 1.2 * ring})
		known.Labels[i] = -1
	}
	known.Labels[0], known.Labels[1] = 0, 1
	for name, least := range map[string]int{"label-spreading": n * 9 / 10, "harmonic": n, "logistic": n / 2, "self-training": n / 2, "nearest-labelled": n / 2} {
		of, _ := Lookup(name)
		res, err := registered(t, of, nil).Cluster(t.Context(), x, 2, known, 1)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for i, c := range res.Labels {
			if c == i%2 {
				right++
			}
		}
		if right < least || res.Labels[0] != 0 || res.Labels[1] != 1 {
			t.Errorf("%s: %d of %d samples are right", name, right, n)
		}
		for want, labels := range map[string][]int{"no sample has a label": nil, "expected less than 2": append([]int{2}, known.Labels[1:]...)} {
			if _, err := registered(t, of, nil).Cluster(t.Context(), x, 2, Known{Labels: labels}, 1); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
		}
	}
}
