package links

import "fmt"

// Known holds labels and links of n samples. Its zero value says that nothing is known.
type Known struct {
	// Labels holds each sample's class, numbered from 0, or -1 where it is not known; n elements or none. Two
	// labels say what a link of the samples would: no algorithm needs both.
	Labels []int
	// MustLink and CannotLink hold pairs of samples, by row, that belong together and that do not.
	MustLink, CannotLink [][2]int
}

// Check returns an error if labels and links do not fit n samples or contradict each other.
func (k Known) Check(n int) error {
	if len(k.MustLink) == 0 && len(k.CannotLink) == 0 {
		return k.checkLabels(n)
	}
	_, err := k.Close(n)
	return err
}

func (k Known) checkLabels(n int) error {
	if len(k.Labels) != 0 && len(k.Labels) != n {
		return fmt.Errorf("%d labels for %d samples", len(k.Labels), n)
	}
	for i, c := range k.Labels {
		if c < -1 {
			return fmt.Errorf("sample %d has the label %d; labels count from 0, and -1 says not known", i+1, c)
		}
	}
	return nil
}

// Close is the function Close of the links and the labels: a group of two labels is an error.
func (k Known) Close(n int) (groups []int, err error) {
	if err := k.checkLabels(n); err != nil {
		return nil, err
	}
	var must [][2]int
	first := map[int]int{}
	for i, c := range k.Labels {
		if f, ok := first[c]; ok {
			must = append(must, [2]int{f, i})
		} else if c >= 0 {
			first[c] = i
		}
	}
	must = append(must, k.MustLink...)
	if groups, err = Close(n, must, k.CannotLink); err != nil {
		return nil, err
	}
	labelled := map[int]int{} // the first sample of a group with a label
	for i, c := range k.Labels {
		if c < 0 {
			continue
		}
		if f, ok := labelled[groups[i]]; ok && k.Labels[f] != c {
			return nil, contradiction([2]int{f, i})
		} else if !ok {
			labelled[groups[i]] = i
		}
	}
	return groups, nil
}

// BothLabelled tells whether samples i and j both have a label: a link of them is redundant.
func (k Known) BothLabelled(i, j int) bool {
	return len(k.Labels) > 0 && k.Labels[i] >= 0 && k.Labels[j] >= 0
}

// BeyondLabels returns the links that labels do not imply, each once, the lower row first. Its errors are those of
// Close.
func (k Known) BeyondLabels(n int) (must, cannot [][2]int, err error) {
	if _, err := k.Close(n); err != nil {
		return nil, nil, err
	}
	return once(k.MustLink, k.BothLabelled), once(k.CannotLink, k.BothLabelled), nil
}

// Classes returns the labels, which may be any numbers ≥ 0, numbered from 0 in the order of their first samples, and
// how many there are.
func (k Known) Classes() (class []int, count int) {
	number := map[int]int{}
	class = make([]int, len(k.Labels))
	for i, label := range k.Labels {
		c, ok := number[label]
		switch {
		case label < 0:
			c = -1
		case !ok:
			c = len(number)
			number[label] = c
		}
		class[i] = c
	}
	return class, len(number)
}
