package eval

import "fmt"

// Accuracy returns the share of the samples whose predicted class is the true one, of those whose true class
// is known, that is, not negative; 0 without any. It panics if the lengths differ.
func Accuracy(truth, predicted []int) float64 {
	if len(truth) != len(predicted) {
		panic(fmt.Sprintf("eval: %d true and %d predicted classes", len(truth), len(predicted)))
	}
	right, known := 0, 0
	for i, class := range truth {
		if class < 0 {
			continue
		}
		known++
		if predicted[i] == class {
			right++
		}
	}
	return share(right, known)
}

// share returns part/whole, and 0 of nothing.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
