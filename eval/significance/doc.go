// Package significance implements tests for differences between the scores of methods.
//
// Scores are paired: a[i] and b[i] are the scores of two methods on the same draw of samples, or on the same data set.
// [NewResampled] is a t-test for overlapping draws, [Wilcoxon] a test for independent pairs. [BayesSignedRank] and
// [Resampled.Beyond] give posterior probabilities of a relevant difference. [Holm] corrects for multiple comparisons.
// [Friedman] compares methods over several data sets, and [Groups] finds methods that do not differ.
//
// No function returns NaN for finite scores. If there are too few, p is 1 and an interval is not ok.
package significance

import (
	"fmt"
	"math"
)

// rounding is the largest difference, relative to the larger of two scores, that counts as 0.
const rounding = 1e-12

// differences returns a[i] − b[i], or 0 if it is within rounding. It panics if the lengths differ.
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
