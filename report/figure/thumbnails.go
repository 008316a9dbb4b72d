package figure

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"

	"github.com/seed4492f2cd/partwise/features"
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

// Thumbnail fits a picture into the box, keeping its shape, on white. Large pictures are averaged down; small ones
// are enlarged by whole pixels, so that they stay sharp.
func Thumbnail(img image.Image, box int) *image.RGBA {
	b := img.Bounds()
	times := box / max(b.Dx(), b.Dy(), 1)
	if b.Empty() || times <= 1 {
		return features.Thumbnail(img, box)
	}
	large := image.NewRGBA(image.Rect(0, 0, times*b.Dx(), times*b.Dy()))
	draw.Draw(large, large.Rect, image.White, image.Point{}, draw.Src)
	draw.NearestNeighbor.Scale(large, large.Rect, img, b, draw.Over, nil)
	return large
}

// Small reduces a picture to fit into the box, and returns a *image.Gray if it is grey, and else a *image.RGBA. A
// *image.Gray that fits is returned unchanged.
func Small(img image.Image, box int) image.Image {
	if grey, ok := img.(*image.Gray); ok && max(grey.Rect.Dx(), grey.Rect.Dy()) <= box {
		return grey
	}
	small := features.Thumbnail(img, box)
	if grey := inGrey(small); grey != nil {
		return grey
	}
	return small
}
