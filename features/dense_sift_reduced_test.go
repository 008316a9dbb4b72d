package features

import (
	"image"
	"math"
	"testing"
)

// TestDenseSIFTOfLargeImages: an image of more pixels than are wanted is described
// as its reduction is, at the places of the whole.
func TestDenseSIFTOfLargeImages(t *testing.T) {
	large := noise(240, 160, 3)
	d := denseSIFT(t, DenseSIFT{MaxPixels: 120 * 80}, large)
	want := denseSIFT(t, DenseSIFT{}, reducedGrey(large, image.Pt(120, 80)))
	if d.Width != 240 || d.Height != 160 || d.Len() != want.Len() || string(d.Vectors) != string(want.Vectors) {
		t.Fatalf("%d descriptors of an image of %d×%d, want the %d of its reduction", d.Len(), d.Width, d.Height, want.Len())
	}
	for i := range d.Len() {
		if math.Abs(float64(d.X[i]-(2*want.X[i]+0.5))) > 1e-3 || math.Abs(float64(d.Y[i]-(2*want.Y[i]+0.5))) > 1e-3 || d.Scale[i] != 8 {
			t.Fatalf("descriptor %d at %v, %v with bins of %v; the reduction has it at %v, %v", i, d.X[i], d.Y[i], d.Scale[i], want.X[i], want.Y[i])
		}
	}
	if d := denseSIFT(t, DenseSIFT{}, image.NewGray(image.Rect(0, 0, 3, 1<<20))); d.Len() != 0 || d.Width != 3 {
		t.Errorf("%d descriptors of a line", d.Len())
	}
	if d := denseSIFT(t, DenseSIFT{}, image.NewGray(image.Rect(0, 0, 3000, 2000))); d.Len() == 0 || d.Len() > 1<<20/64 {
		t.Errorf("%d descriptors of six million pixels", d.Len())
	}
	if _, err := (DenseSIFT{MaxPixels: -1}).Extract(large); err == nil {
		t.Error("fewer than no pixels")
	}
}
