package eval

import "fmt"

// MostConfused is the largest number of classes of a confusion matrix.
const MostConfused = 1 << 14

// Confusion returns the confusion matrix, classes×classes, a row for each true class. Samples with a negative
// true class, which is unknown, are left out. A class out of range is an error, and so are more than
// [MostConfused] classes. It panics if the lengths differ.
func Confusion(truth, predicted []int, classes int) ([][]int, error) {
	if len(truth) != len(predicted) {
		panic(fmt.Sprintf("eval: %d true and %d predicted classes", len(truth), len(predicted)))
	}
	if classes < 0 || classes > MostConfused {
		return nil, fmt.Errorf("confusion: a table of %d classes; there can be %d", classes, MostConfused)
	}
	counts := make([][]int, classes)
	for l := range counts {
		counts[l] = make([]int, classes)
	}
	for i, class := range truth {
		if class < 0 {
			continue
		}
		if p := predicted[i]; class >= classes || p < 0 || p >= classes {
			return nil, fmt.Errorf("confusion: sample %d of class %d is predicted as %d, there are %d classes", i+1, class, p, classes)
		}
		counts[class][predicted[i]]++
	}
	return counts, nil
}
