package figure

import (
	"image"
	"testing"
)

// TestPhotoSheet: photos with marks, one of them unreadable.
func TestPhotoSheet(t *testing.T) {
	photos := []*image.RGBA{nil}
	for i := range 3 {
		photos = append(photos, mark(t, hills(100, 80), scattered(uint64(i), 12, 3, 100, 80), boxed{Box: 100 + 50*i, Numbers: true}))
	}
	goldenImage(t, "gallery-examples.png", PhotoSheet(photos, 328))
	for _, n := range []int{0, 1, 40} { // a page shows 1024 pixels without scaling
		if size := PhotoSheet(make([]*image.RGBA, n), 328).Rect.Size(); size.X > 1024 || size.Y > 20+n*120 {
			t.Errorf("a sheet of %d photos has size %v", n, size)
		}
	}
}
