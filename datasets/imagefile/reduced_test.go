package imagefile

import (
	"image"
	"image/color"
	"math"
	"testing"
)

// A reduced image holds the block means of the whole one, for every kind, origin and orientation.
func TestReduced(t *testing.T) {
	box := image.Rect(8, 4, 8+151, 4+90)
	at := func(x, y int) color.RGBA {
		return color.RGBA{uint8(100 + 50*math.Sin(float64(x)/9)), uint8(120 + 40*math.Cos(float64(y)/7)), uint8(80 + 30*math.Sin(float64(x+y)/11)), 255}
	}
	rgba, nrgba, grey := image.NewRGBA(box), image.NewNRGBA(box), image.NewGray(box)
	images := map[string]image.Image{"rgba": rgba, "nrgba": nrgba, "grey": grey}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			rgba.Set(x, y, at(x, y))
			nrgba.Set(x, y, at(x, y))
			grey.Set(x, y, at(x, y))
		}
	}
	for ratio := image.YCbCrSubsampleRatio444; ratio <= image.YCbCrSubsampleRatio410; ratio++ {
		img := image.NewYCbCr(box, ratio)
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				c := at(x, y)
				img.Y[img.YOffset(x, y)], img.Cb[img.COffset(x, y)], img.Cr[img.COffset(x, y)] = color.RGBToYCbCr(c.R, c.G, c.B)
			}
		}
		images[ratio.String()] = img
	}
	for name, img := range images {
		small := Reduced(img, 20)
		b := img.Bounds()
		want := image.Pt((b.Dx()+3)/4, (b.Dy()+3)/4)
		if small.Bounds().Size() != want {
			t.Errorf("%s: got %v, want %v", name, small.Bounds(), want)
			continue
		}
		for y := range want.Y {
			for x := range want.X {
				var sum [3]float64
				n := 0.0
				for v := 4 * y; v < min(4*y+4, b.Dy()); v++ {
					for u := 4 * x; u < min(4*x+4, b.Dx()); u++ {
						r, g, bl, _ := img.At(b.Min.X+u, b.Min.Y+v).RGBA()
						for k, c := range []uint32{r, g, bl} {
							sum[k] += float64(c) / 257
						}
						n++
					}
				}
				r, g, bl, _ := small.At(small.Bounds().Min.X+x, small.Bounds().Min.Y+y).RGBA()
				for k, c := range []uint32{r, g, bl} {
					if math.Abs(float64(c)/257-sum[k]/n) > 2.1 {
						t.Fatalf("%s: pixel (%d, %d) of channel %d is %v, and the mean is %v", name, x, y, k, float64(c)/257, sum[k]/n)
					}
				}
			}
		}
	}
	turned, want := Reduced(orient(rgba, 6), 20), orient(Reduced(rgba, 20), 6)
	if turned.Bounds() != want.Bounds() || turned.At(2, 30) != want.At(2, 30) || turned.At(20, 3) != want.At(20, 3) {
		t.Error("an image that is turned is reduced in another way than one that is not")
	}
	if Reduced(rgba, 46) != image.Image(rgba) || Reduced(rgba, 0).Bounds().Dx() != 19 {
		t.Error("reduced too far, or not at all")
	}
	rgba.Pix[3] = 254
	deep := image.NewGray16(box)
	if Reduced(rgba, 20) != image.Image(rgba) || Reduced(deep, 20) != image.Image(deep) {
		t.Error("an image of another kind, or with transparency, is reduced")
	}
}
