package report

import (
	"image"
	"image/color"

	"golang.org/x/image/draw"
)

// thumbnail draws a picture as large as it fits into the box, keeping its
// shape, on white. Large pictures are averaged down; small ones are enlarged
// by whole pixels, so that they stay sharp.
func thumbnail(img image.Image, box int) *image.RGBA {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	var scaler draw.Scaler = draw.CatmullRom
	if longer := max(w, h); longer <= box {
		times := box / max(longer, 1)
		w, h = w*times, h*times
		scaler = draw.NearestNeighbor
	} else {
		w, h = max(1, w*box/longer), max(1, h*box/longer)
	}
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(small, small.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	scaler.Scale(small, small.Bounds(), img, b, draw.Over, nil)
	return small
}
