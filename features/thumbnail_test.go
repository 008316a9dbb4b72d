package features

import (
	"image"
	"image/color"
	"testing"
)

func TestThumbnail(t *testing.T) {
	// Two columns of colours, the right one transparent in its lower half.
	img := image.NewNRGBA(image.Rect(3, 5, 3+40, 5+80))
	for y := range 80 {
		for x := range 40 {
			c := color.NRGBA{R: 200, A: 255}
			if x >= 20 {
				c = color.NRGBA{B: 100, A: 255}
				if y >= 40 {
					c.A = 0
				}
			}
			img.SetNRGBA(3+x, 5+y, c)
		}
	}
	small := Thumbnail(img, 4)
	if small.Rect != image.Rect(0, 0, 2, 4) {
		t.Fatalf("size %v, want 2×4", small.Rect)
	}
	for at, want := range map[image.Point]color.RGBA{
		{}: {200, 0, 0, 255}, {X: 1}: {0, 0, 100, 255}, {X: 1, Y: 3}: {255, 255, 255, 255}, {Y: 3}: {200, 0, 0, 255},
	} {
		if got := small.RGBAAt(at.X, at.Y); got != want {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
	if same := Thumbnail(img, 1000); same.Rect != image.Rect(0, 0, 40, 80) || same.RGBAAt(19, 79) != (color.RGBA{200, 0, 0, 255}) {
		t.Errorf("a small picture became %v, %v", same.Rect, same.RGBAAt(19, 79))
	}
	for size, want := range map[image.Point]image.Point{
		{X: 160, Y: 160}: {X: 160, Y: 160}, {X: 4000, Y: 3000}: {X: 160, Y: 120}, {X: 10, Y: 100_000}: {X: 1, Y: 160}, {X: 1, Y: 1}: {X: 1, Y: 1},
	} {
		if got := ThumbnailSize(size, 160); got != want {
			t.Errorf("%v: %v, want %v", size, got, want)
		}
	}
}

// TestThumbnailOfGreys: greys that need no scaling have the bytes that they get by way of colours.
func TestThumbnailOfGreys(t *testing.T) {
	whole := image.NewGray16(image.Rect(3, 2, 303, 302))
	for i := range whole.Pix {
		whole.Pix[i] = byte(i * 7 / 3)
	}
	for v := range 0x10000 {
		whole.Pix[2*v], whole.Pix[2*v+1] = byte(v>>8), byte(v)
	}
	eight := image.NewGray(image.Rect(3, 2, 19, 18))
	for i := range eight.Pix {
		eight.Pix[i] = byte(i)
	}
	for _, img := range []image.Image{whole, whole.SubImage(image.Rect(10, 20, 17, 29)), eight, eight.SubImage(image.Rect(5, 5, 9, 8))} {
		want, got := Thumbnail(img, 300), GreyThumbnail(img, 300)
		if got == nil || got.Rect.Size() != want.Rect.Size() {
			t.Fatalf("a picture of %v became one of %v", want.Rect, got)
		}
		for y := range want.Rect.Dy() {
			for x := range want.Rect.Dx() {
				v := got.GrayAt(got.Rect.Min.X+x, got.Rect.Min.Y+y).Y
				if want.RGBAAt(x, y) != (color.RGBA{v, v, v, 255}) {
					t.Fatalf("a picture of %v: %d at (%d, %d), want %v", want.Rect, v, x, y, want.RGBAAt(x, y))
				}
			}
		}
	}
	if GreyThumbnail(whole, 299) != nil || GreyThumbnail(image.NewRGBA(eight.Rect), 300) != nil {
		t.Error("a picture that has to be reduced, or one in colour, has a thumbnail in grey")
	}
}
