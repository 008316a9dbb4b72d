package figure

import (
	"context"
	"image"
	"image/color"

	"golang.org/x/image/draw"
)

// Thumbnail draws a picture as large as it fits into the box, keeping its
// shape, on white. Large pictures are averaged down; small ones are enlarged
// by whole pixels, so that they stay sharp. The only error is the context's.
func Thumbnail(ctx context.Context, img image.Image, box int) (*image.RGBA, error) {
	b := img.Bounds()
	if times := box / max(b.Dx(), b.Dy(), 1); times > 1 {
		large := image.NewRGBA(image.Rect(0, 0, times*b.Dx(), times*b.Dy()))
		draw.Draw(large, large.Rect, image.White, image.Point{}, draw.Src)
		draw.NearestNeighbor.Scale(large, large.Rect, img, b, draw.Over, nil)
		return large, ctx.Err()
	}
	return Reduced(ctx, img, box)
}

// Reduced is Thumbnail, but leaves small pictures as they are.
func Reduced(ctx context.Context, img image.Image, box int) (*image.RGBA, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	longer := max(w, h)
	if longer > box {
		if times := longer / (oversampling * box); times > 1 {
			var err error
			if img, err = reduce(ctx, img, times); err != nil {
				return nil, err
			}
		}
		w, h = max(1, w*box/longer), max(1, h*box/longer)
	}
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(small, small.Rect, image.White, image.Point{}, draw.Src)
	if longer <= box {
		draw.Draw(small, small.Rect, img, b.Min, draw.Over)
	} else {
		draw.CatmullRom.Scale(small, small.Rect, img, img.Bounds(), draw.Over, nil)
	}
	return small, nil
}

// Small is Reduced, but a *image.Gray where the picture is grey and else a *image.RGBA. A
// *image.Gray that fits is returned as it is.
func Small(ctx context.Context, img image.Image, box int) (image.Image, error) {
	if grey, ok := img.(*image.Gray); ok && max(grey.Rect.Dx(), grey.Rect.Dy()) <= box {
		return grey, ctx.Err()
	}
	small, err := Reduced(ctx, img, box)
	if err != nil {
		return nil, err
	}
	if grey := inGrey(small); grey != nil {
		return grey, nil
	}
	return small, nil
}

// oversampling is how many times as large as its box a picture still is when it has
// been reduced by whole numbers, which is much faster than any other way.
const oversampling = 3

// reduce makes the width and the height of a picture 1/times of what they are, on white:
// each pixel is the mean of a block.
func reduce(ctx context.Context, img image.Image, times int) (*image.RGBA, error) {
	b := img.Bounds()
	w, h := max(1, b.Dx()/times), max(1, b.Dy()/times)
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	rows := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()/h+1)) // of one row of blocks
	sums := make([][3]uint32, w)
	for y := range h {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		top, bottom := y*b.Dy()/h, (y+1)*b.Dy()/h
		block := image.Rect(0, 0, b.Dx(), bottom-top)
		draw.Draw(rows, block, image.White, image.Point{}, draw.Src)
		draw.Draw(rows, block, img, b.Min.Add(image.Pt(0, top)), draw.Over)
		clear(sums)
		for line := range bottom - top {
			pixels := rows.Pix[line*rows.Stride:]
			at := 0
			for x := range w {
				sum := &sums[x]
				for end := (x + 1) * b.Dx() / w; at < end; at++ {
					p := pixels[4*at : 4*at+3 : 4*at+3]
					sum[0] += uint32(p[0])
					sum[1] += uint32(p[1])
					sum[2] += uint32(p[2])
				}
			}
		}
		for x, sum := range sums {
			n := uint32(bottom-top) * uint32((x+1)*b.Dx()/w-x*b.Dx()/w)
			mean := func(s uint32) uint8 { return uint8((s + n/2) / n) }
			small.SetRGBA(x, y, color.RGBA{mean(sum[0]), mean(sum[1]), mean(sum[2]), 0xff})
		}
	}
	return small, nil
}
