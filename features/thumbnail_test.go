package features

import (
	"bytes"
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
	for _, img := range []*image.Gray16{whole, whole.SubImage(image.Rect(10, 20, 17, 29)).(*image.Gray16)} {
		size := img.Bounds().Size()
		want := image.NewRGBA(image.Rectangle{Max: size})
		values := Stretched(img, size.Y, size.X).Values
		area := size.X * size.Y
		for p := range area {
			for plane := range 3 {
				want.Pix[4*p+plane] = uint8(255*values[plane*area+p] + 0.5)
			}
			want.Pix[4*p+3] = 0xff
		}
		got := Thumbnail(img, 1000)
		if got.Rect != want.Rect || !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("a picture of %v", size)
		}
	}
}
