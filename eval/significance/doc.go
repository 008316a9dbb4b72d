// Package significance tells whether methods differ by their scores.
//
// Scores are paired: a[i] and b[i] are those of two methods on the same draw of samples, or
// on the same set. [NewResampled] tests draws that overlap, [Wilcoxon] pairs that do not,
// [BayesSignedRank] and [Resampled.Beyond] give the probabilities that a difference matters,
// and [Holm] corrects for how many comparisons are made. [Friedman] ranks methods over
// several sets, and [Groups] says which of them stand together.
//
// Nothing returns a NaN for finite scores. What cannot be known, such as the spread of one
// difference, is said by a value of its own: a p of 1, an interval that is not ok.
package significance

import (
	"fmt"
	"math"
)

// rounding is the size, relative to the larger of two scores, below which their difference is
// taken for one of rounding alone, and counts as none.
const rounding = 1e-12

// differences returns a[i] − b[i], 0 where rounding alone parts them. It panics if the lengths
// differ.
func differences(a, b []float64) []float64 {
	if len(a) != len(b) {
		panic(fmt.Sprintf("significance: %d and %d values do not pair up", len(a), len(b)))
	}
	d := make([]float64, len(a))
	for i := range a {
		if x := a[i] - b[i]; math.Abs(x) > rounding*max(math.Abs(a[i]), math.Abs(b[i])) {
			d[i] = x
		}
	}
	return d
}
