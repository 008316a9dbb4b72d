package factor

import (
	"fmt"

	"github.com/seed4492f2cd/partwise/internal/links"
)

// Known is what is known about the n samples beside their features. Its zero
// value says that nothing is known.
type Known struct {
	// Labels holds each sample's class, numbered from 0, or -1 where it is not
	// known. It has n elements or none.
	Labels []int
	// MustLink and CannotLink hold pairs of samples, by row, that belong
	// together and that do not.
	MustLink, CannotLink [][2]int
}

// check tells whether what is known fits n samples and does not contradict
// itself.
func (k Known) check(n int) error {
	if len(k.Labels) != 0 && len(k.Labels) != n {
		return fmt.Errorf("%d labels for %d samples", len(k.Labels), n)
	}
	for i, c := range k.Labels {
		if c < -1 {
			return fmt.Errorf("sample %d has the label %d; labels count from 0, and -1 says not known", i+1, c)
		}
	}
	if len(k.MustLink) == 0 && len(k.CannotLink) == 0 {
		return nil
	}
	must, cannot := k.impliedLinks()
	_, err := links.Close(n, append(must, k.MustLink...), append(cannot, k.CannotLink...))
	return err
}

// classes returns the labels with the classes numbered from 0 in the order of their
// first samples, and how many there are. A label may be any number ≥ 0: nothing may
// be made for each number up to the largest.
func (k Known) classes() (class []int, count int) {
	number := map[int]int{}
	class = make([]int, len(k.Labels))
	for i, label := range k.Labels {
		if class[i] = -1; label < 0 {
			continue
		}
		c, ok := number[label]
		if !ok {
			c = len(number)
			number[label] = c
		}
		class[i] = c
	}
	return class, len(number)
}

// impliedLinks returns must-links that join the samples of each label and
// cannot-links that part the labels, by the first sample of each.
func (k Known) impliedLinks() (must, cannot [][2]int) {
	first := map[int]int{}
	var firsts []int
	for i, c := range k.Labels {
		if c < 0 {
			continue
		}
		if f, ok := first[c]; ok {
			must = append(must, [2]int{f, i})
			continue
		}
		for _, f := range firsts {
			cannot = append(cannot, [2]int{f, i})
		}
		first[c] = i
		firsts = append(firsts, i)
	}
	return must, cannot
}
