package pipeline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// GroupCount is the number of groups of the samples of a draw. Its zero value is the number of classes.
type GroupCount struct {
	// From and To are the same number, or a range to choose from.
	From, To int
	// Auto chooses, without a range from 2 to 30, or a third of the samples.
	Auto bool
}

const (
	mostCounted    = 30 // groups, where no range is given
	leastOfCounted = 10 // samples, so that subsets differ
)

// DecodeSetting reads a number, a range such as 5..30, or auto.
func (c *GroupCount) DecodeSetting(v *settings.Value) (err error) {
	if *c = (GroupCount{Auto: true}); v.Text == autoText {
		return nil
	}
	c.From, c.To, err = interval(v.Text)
	if err != nil || c.From < 2 || c.To < c.From || c.To > maxClasses {
		return v.Errorf("%q is no number of groups; want one from 2 on, a range such as 5..30 or auto", v.Text)
	}
	c.Auto = strings.Contains(v.Text, "..")
	return nil
}

// String returns the form of an experiment file.
func (c GroupCount) String() string {
	switch {
	case !c.Auto:
		return strconv.Itoa(c.From)
	case c.To == 0:
		return autoText
	}
	return fmt.Sprintf("%d..%d", c.From, c.To)
}

// within returns the range for n samples of classes, which are all labelled or all not.
func (c GroupCount) within(n, classes int, labelled bool) (from, to int) {
	if c == (GroupCount{}) {
		return classes, classes
	}
	if from, to = c.From, c.To; to > 0 {
		return from, to
	}
	if from = 2; labelled {
		from = classes
	}
	return from, max(from, min(mostCounted, n/3))
}

// check returns an error for impossible numbers of groups of n samples.
func (c GroupCount) check(n, classes int, labelled bool) error {
	from, to := c.within(n, classes, labelled)
	switch {
	case labelled && from < classes:
		return fmt.Errorf("cluster: k is %s, and samples of %d classes have labels, each of which has a group of its own", c, classes)
	case c.Auto && n < leastOfCounted:
		return fmt.Errorf("cluster: k is %s, and of the %d samples that there may be no number of groups is chosen", c, n)
	case to >= n:
		return fmt.Errorf("cluster: k is %s, and there may be only %d samples", c, n)
	}
	return nil
}
