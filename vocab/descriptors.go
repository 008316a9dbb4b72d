package vocab

import (
	"fmt"
	"math"

	"github.com/seed4492f2cd/partwise/features"
)

// checkDescriptors reports descriptors that do not agree with themselves or are not dim
// numbers long; a dim of 0 stands for any. Where there are none, any dim is
// right.
func checkDescriptors(d *features.Descriptors, dim int) error {
	switch n := d.Len(); {
	case n == 0 && len(d.Vectors) == 0:
		return nil
	case d.Dim < 1 || len(d.Vectors) != n*d.Dim:
		return fmt.Errorf("%d bytes are not %d descriptors of %d numbers", len(d.Vectors), n, d.Dim)
	case dim > 0 && d.Dim != dim:
		return fmt.Errorf("descriptors of %d numbers, want %d", d.Dim, dim)
	}
	return nil
}

// checkPlaces reports centres that are no places in an image.
func checkPlaces(d *features.Descriptors) error {
	if len(d.Y) != d.Len() {
		return fmt.Errorf("%d and %d coordinates", d.Len(), len(d.Y))
	}
	if d.Width < 1 || d.Height < 1 {
		return fmt.Errorf("an image of %d×%d pixels", d.Width, d.Height)
	}
	for i, x := range d.X {
		if x, y := float64(x), float64(d.Y[i]); math.IsNaN(x+y) || math.IsInf(x, 0) || math.IsInf(y, 0) {
			return fmt.Errorf("descriptor %d is at %v, %v", i, x, y)
		}
	}
	return nil
}
