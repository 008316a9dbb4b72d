package report

import "fmt"

// Pictures is what is told of n pictures one by one, beside their groups. Each of its
// fields holds a value for each sample.
type Pictures struct {
	// CopyOf holds the first sample of the stack of copies that the sample is in: itself
	// where it is the first or has no copy.
	CopyOf []int
	// Near tells that the sample is a near duplicate of that first one, such as the
	// same picture in another size, and no exact copy.
	Near []bool
	// Outlier says how unlike the other pictures the sample is, from 0 to 1, and is 0 for most.
	Outlier []float64
	// Remark holds "", "blank" or "blurred".
	Remark []string
}

// check returns an error where p, which may be nil, does not fit n samples.
func (p *Pictures) check(n int) error {
	if p == nil {
		return nil
	}
	if len(p.CopyOf) != n || len(p.Near) != n || len(p.Outlier) != n || len(p.Remark) != n {
		return fmt.Errorf("report: %d samples, but copies of %d, %d near, outliers of %d and remarks on %d", n, len(p.CopyOf), len(p.Near), len(p.Outlier), len(p.Remark))
	}
	for i, first := range p.CopyOf {
		if first < 0 || first > i || p.CopyOf[first] != first {
			return fmt.Errorf("report: sample %d is a copy of sample %d, which is not the first of a stack", i, first)
		}
		if !(p.Outlier[i] >= 0 && p.Outlier[i] <= 1) {
			return fmt.Errorf("report: sample %d is an outlier by %v", i, p.Outlier[i])
		}
	}
	return nil
}
