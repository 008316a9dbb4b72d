package factor

import "github.com/seed4492f2cd/partwise/internal/links"

// Known is what is known about n samples beside their features. Its zero value says
// that nothing is known.
type Known struct {
	// Labels holds each sample's class, numbered from 0, or -1 where it is not known. It
	// has n elements or none.
	Labels []int
	// MustLink and CannotLink hold pairs of samples, by row, that belong together and that
	// do not.
	MustLink, CannotLink [][2]int
}

// Check returns an error if what is known does not fit n samples or contradicts itself.
func (k Known) Check(n int) error { return links.Known(k).Check(n) }
