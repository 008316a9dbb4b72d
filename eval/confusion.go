package eval

import "fmt"

// MostConfused is the largest number of classes of a confusion table, which has a place
// for each two of them.
const MostConfused = 1 << 14

// Confusion counts the samples of each class, numbered from 0, by the class that was
// predicted for them: classes×classes, the true class down and the predicted one across.
// Samples whose true class is negative, that is not known, are left out. A class out
// of range is an error that names the sample, and so are more than [MostConfused]
// classes. It panics if the lengths differ.
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
