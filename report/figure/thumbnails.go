package figure

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

// Grid is the layout of contact sheets: square cells, row by row, each with a thumbnail in its upper
// left corner.
type Grid struct {
	Cell          int // the side of a cell, in pixels
	Columns, Rows int
	// Lossless sheets are PNG files, others JPEG files.
	Lossless bool
}

const (
	// PhotographCell is a multiple of 16, the side of the blocks of a JPEG file, so that no
	// thumbnail changes its neighbours.
	PhotographCell = 128
	// largestLossless is the largest cell of lossless sheets.
	largestLossless = 64

	contactWidth, contactHeight = 2048, 1024 // at most, in pixels
	mostCells                   = 32         // in a row and in a column
)

// NewGrid returns a grid for pictures with this longer side, which are reduced to PhotographCell.
func NewGrid(side int) Grid {
	g := Grid{Cell: max(1, min(side, PhotographCell)), Lossless: side <= largestLossless}
	if !g.Lossless {
		g.Cell = (g.Cell + 15) / 16 * 16
	}
	g.Columns, g.Rows = min(contactWidth/g.Cell, mostCells), min(contactHeight/g.Cell, mostCells)
	return g
}

// Len returns the number of thumbnails of a sheet.
func (g Grid) Len() int { return g.Columns * g.Rows }

// Memory returns the bytes needed to make a sheet.
func (g Grid) Memory() int64 { return 6 * int64(g.Len()) * int64(g.Cell) * int64(g.Cell) }

// Extension is that of the files.
func (g Grid) Extension() string {
	if g.Lossless {
		return ".png"
	}
	return ".jpg"
}

// Sheet is a contact sheet of n thumbnails. It is grey until a thumbnail has colours.
type Sheet struct {
	grid Grid
	img  image.Image // *image.Gray or *image.RGBA
}

// NewSheet returns an empty sheet for n thumbnails, Len at most.
func (g Grid) NewSheet(n int) *Sheet {
	columns, rows := min(n, g.Columns), (n+g.Columns-1)/g.Columns
	return &Sheet{g, image.NewGray(image.Rect(0, 0, columns*g.Cell, rows*g.Cell))}
}

// Set draws thumbnail i, which Small made for a cell. The rest of the cell repeats the thumbnail's
// last column and row, which compresses well and leaves the thumbnail's edges unchanged.
func (s *Sheet) Set(i int, thumb image.Image) {
	g, size := s.grid, thumb.Bounds().Size()
	if size.X == 0 || size.Y == 0 {
		return
	}
	if _, coloured := thumb.(*image.RGBA); coloured {
		s.img = inColour(s.img)
	} else if _, coloured := s.img.(*image.RGBA); coloured {
		thumb = inColour(thumb)
	}
	from, to := rasterOf(thumb), rasterOf(s.img)
	b := from.bytes
	left, top := i%g.Columns*g.Cell*b, i/g.Columns*g.Cell
	line := func(y int) []uint8 { return to.pix[(top+y)*to.stride+left:][:g.Cell*b] }
	for y := range size.Y {
		row := line(y)
		for x := copy(row, from.pix[y*from.stride:][:size.X*b]); x < len(row); x += b {
			copy(row[x:], row[(size.X-1)*b:size.X*b])
		}
	}
	for y := size.Y; y < g.Cell; y++ {
		copy(line(y), line(size.Y-1))
	}
}

// raster holds the pixels of an image, of so many bytes each.
type raster struct {
	pix           []uint8
	stride, bytes int
}

// rasterOf returns the pixels of a *image.Gray or a *image.RGBA.
func rasterOf(img image.Image) raster {
	if grey, ok := img.(*image.Gray); ok {
		return raster{grey.Pix, grey.Stride, 1}
	}
	colour := img.(*image.RGBA)
	return raster{colour.Pix, colour.Stride, 4}
}

// inColour returns a *image.Gray in colour, and a *image.RGBA as it is.
func inColour(img image.Image) *image.RGBA {
	if colour, ok := img.(*image.RGBA); ok {
		return colour
	}
	colour := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(colour, colour.Rect, img, img.Bounds().Min, draw.Src)
	return colour
}

// inGrey returns an opaque picture in grey, or nil where it has colours.
func inGrey(img *image.RGBA) *image.Gray {
	for p := 0; p < len(img.Pix); p += 4 {
		if img.Pix[p] != img.Pix[p+1] || img.Pix[p] != img.Pix[p+2] {
			return nil
		}
	}
	out := image.NewGray(img.Rect)
	for p := range out.Pix {
		out.Pix[p] = img.Pix[4*p]
	}
	return out
}

// Encode returns the content of the sheet's file, in one channel where all is grey.
func (s *Sheet) Encode() ([]byte, error) {
	var out bytes.Buffer
	var err error
	if s.grid.Lossless {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, s.img)
	} else {
		err = jpeg.Encode(&out, s.img, &jpeg.Options{Quality: 78})
	}
	return out.Bytes(), err
}

// Thumbnail fits a picture into the box, keeping its shape, on white. Large pictures are averaged
// down; small ones are enlarged by whole pixels, so that they stay sharp. The only error is the
// context's.
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

// Small is Reduced, but returns a *image.Gray if the picture is grey, and else a *image.RGBA. A
// *image.Gray that fits is returned unchanged.
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

// oversampling is how many times larger than its box a picture stays when it is reduced by whole
// numbers, which is much faster than any other way.
const oversampling = 3

// reduce divides the width and the height of a picture, on white: each pixel is the mean of a block.
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
