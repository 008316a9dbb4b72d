// Package significance tests whether methods differ by their scores.
//
// Scores are paired: a[i] and b[i] are those of two methods on the same draw of samples, or on the same set.
// [NewResampled] tests draws that overlap, [Wilcoxon] pairs that do not, [BayesSignedRank] and
// [Resampled.Beyond] give the probabilities that a difference matters, and [Holm] corrects for the number of
// comparisons. [Friedman] ranks methods over several sets, and [Groups] finds those that do not differ.
//
// No function returns a NaN for finite scores: unknown values are a p of 1 or an interval that is not ok.
package significance

import (
	"fmt"
	"math"
)

// rounding is the size, relative to the larger of two scores, up to which their difference counts as none.
const rounding = 1e-12

// differences returns a[i] − b[i], without those due to rounding. It panics if the lengths differ.
func differences(a, b []float64) []float64 {
	if len(a) != len(b) {
		panic(fmt.Sprintf("significance: cannot pair %d values with %d values", len(a), len(b)))
	}
	d := make([]float64, len(a))
	for i := range a {
		if x := a[i] - b[i]; math.Abs(x) > rounding*max(math.Abs(a[i]), math.Abs(b[i])) {
			d[i] = x
		}
	}
	return d
}
