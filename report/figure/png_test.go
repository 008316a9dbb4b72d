package figure

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"
)

// TestWritePNG: the file holds the picture, of any size, to the last bit.
func TestWritePNG(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	for _, size := range []image.Point{{1, 1}, {7, 3}, {300, 200}} {
		img := image.NewRGBA(image.Rectangle{Max: size})
		for i := range img.Pix {
			if img.Pix[i] = uint8(src.Uint32()); i%4 == 3 {
				img.Pix[i] = 255
			}
		}
		var file bytes.Buffer
		if err := writePNG(&file, img, 200); err != nil {
			t.Fatal(err)
		}
		got, err := png.Decode(&file)
		if err != nil {
			t.Fatal(err)
		}
		if got.Bounds() != img.Bounds() {
			t.Fatalf("%v, want %v", got.Bounds(), img.Bounds())
		}
		for y := range size.Y {
			for x := range size.X {
				if c := color.RGBAModel.Convert(got.At(x, y)); c != img.At(x, y) {
					t.Fatalf("%v: (%d, %d) is %v, want %v", size, x, y, c, img.At(x, y))
				}
			}
		}
	}
}
