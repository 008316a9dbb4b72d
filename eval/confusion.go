package eval

import "fmt"

// Confusion counts the samples of each class by the class that was predicted
// for them.
type Confusion struct {
	// Counts is classes×classes, the true class down and the predicted one
	// across.
	Counts [][]int
}

// mostClasses bounds the classes of a table, which has a place for each two of them.
const mostClasses = 1 << 14

// NewConfusion counts samples of so many classes, numbered from 0. Samples
// whose true class is negative, that is not known, are left out. A class out
// of range is an error that names the sample, and so are
// more classes than the 16,384 that a table can have. It panics if the lengths differ.
func NewConfusion(truth, predicted []int, classes int) (*Confusion, error) {
	if len(truth) != len(predicted) {
		panic(fmt.Sprintf("eval: %d true and %d predicted classes", len(truth), len(predicted)))
	}
	if classes < 0 || classes > mostClasses {
		return nil, fmt.Errorf("confusion: a table of %d classes; there can be %d", classes, mostClasses)
	}
	c := &Confusion{Counts: make([][]int, classes)}
	for l := range c.Counts {
		c.Counts[l] = make([]int, classes)
	}
	for i, class := range truth {
		if class < 0 {
			continue
		}
		if p := predicted[i]; class >= classes || p < 0 || p >= classes {
			return nil, fmt.Errorf("confusion: sample %d of class %d is predicted as %d, there are %d classes", i+1, class, p, classes)
		}
		c.Counts[class][predicted[i]]++
	}
	return c, nil
}

// PerClass returns for each class the share of its samples that are predicted
// as it, 0 for a class without samples.
func (c *Confusion) PerClass() []float64 {
	shares := make([]float64, len(c.Counts))
	for l, row := range c.Counts {
		all := 0
		for _, count := range row {
			all += count
		}
		shares[l] = share(row[l], all)
	}
	return shares
}
