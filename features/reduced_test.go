package features

import (
	"image"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
)

// What is made of a large image is nearly the same when the image is reduced before, and of
// small ones, and of parts that are given in pixels, exactly.
func TestReducedRows(t *testing.T) {
	waves := func(width, height int) image.Image {
		img := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
		for y := range height {
			for x := range width {
				u, v := float64(x)/float64(width), float64(y)/float64(height)
				img.Y[img.YOffset(x, y)] = uint8(128 + 60*math.Sin(60*u*v) + 40*math.Sin(200*u+30*v) + float64((x*7^y*13)%23))
				img.Cb[img.COffset(x, y)], img.Cr[img.COffset(x, y)] = uint8(128+70*math.Sin(20*u)), uint8(128+70*math.Cos(15*v))
			}
		}
		return img
	}
	large, small := waves(1931, 1203), waves(900, 700)
	for _, by := range []RowExtractor{Pixels{Colour: true}, ColourHistogram{}, HOG{}} {
		rows, err := by.Rows(t.Context(), &datasets.Set{Files: []string{"a"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, crop := range []Crop{Whole{}, Square{}, Box{100, 100, 600, 500}} {
			for _, img := range []image.Image{large, small} {
				n := rows.Columns
				if rows.Fill == nil {
					n = rows.Height * rows.Width * rows.Channels
				}
				x, y := make([]float64, n), make([]float64, n)
				reduced := img
				if least := rows.least(crop); least > 0 {
					reduced = imagefile.Reduced(img, least)
				}
				if err := rows.make(x, img, crop, "a"); err != nil {
					t.Fatal(err)
				}
				if err := rows.make(y, reduced, crop, "a"); err != nil {
					t.Fatal(err)
				}
				_, isBox := crop.(Box)
				if same := img == small || isBox; same != (reduced == img) {
					t.Errorf("%s of %T: an image of %v became one of %v", by.Label(), crop, img.Bounds(), reduced.Bounds())
				}
				if cosine := floats.Dot(x, y) / floats.Norm(x, 2) / floats.Norm(y, 2); cosine < 0.999 {
					t.Errorf("%s of %T: cosine %v", by.Label(), crop, cosine)
				}
			}
		}
	}
}
