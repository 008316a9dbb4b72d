package features

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSamplePanics: a panic in a goroutine that makes the features of a sample is
// the error of that sample.
func TestSamplePanics(t *testing.T) {
	set := vectorSet(mat.NewDense(3, 1, []float64{1, 2, 3}), 0, 0)
	_, err := samples(t.Context(), set, Options{}, func(i int) error {
		if i == 1 {
			panic("fault")
		}
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), set.Names[1]+": ") || !strings.Contains(err.Error(), "fault") {
		t.Errorf("got %v", err)
	}
}
