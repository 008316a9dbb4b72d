package factor

import "fmt"

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

// check tells whether what is known fits n samples.
func (k Known) check(n int) error {
	if len(k.Labels) != 0 && len(k.Labels) != n {
		return fmt.Errorf("%d labels for %d samples", len(k.Labels), n)
	}
	for i, c := range k.Labels {
		if c < -1 {
			return fmt.Errorf("sample %d has the label %d; labels count from 0, and -1 says not known", i, c)
		}
	}
	for name, pairs := range map[string][][2]int{"must-link": k.MustLink, "cannot-link": k.CannotLink} {
		for _, p := range pairs {
			if p[0] < 0 || p[0] >= n || p[1] < 0 || p[1] >= n {
				return fmt.Errorf("%s between samples %d and %d of %d", name, p[0], p[1], n)
			}
		}
	}
	return nil
}
