package figure

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

// Grid lays thumbnails out on contact sheets: square cells of one size, row by row, each
// with a thumbnail in its upper left corner.
type Grid struct {
	// Cell is the width and height of a cell, in pixels.
	Cell          int
	Columns, Rows int
	// Lossless sheets are PNG files, others JPEG files.
	Lossless bool
}

const (
	// PhotographCell is a multiple of 16, the side of the blocks of a JPEG file, so that no
	// thumbnail changes its neighbours.
	PhotographCell = 128
	// largestLossless is up to which cell sheets are lossless.
	largestLossless = 64

	contactWidth, contactHeight = 2048, 1024 // at most, in pixels
	mostCells                   = 32         // in a row and in a column
)

// NewGrid returns a grid for pictures whose longer sides are as given, which are made
// smaller where that is more than PhotographCell.
func NewGrid(side int) Grid {
	g := Grid{Cell: max(1, min(side, PhotographCell)), Lossless: side <= largestLossless}
	if !g.Lossless {
		g.Cell = (g.Cell + 15) / 16 * 16
	}
	g.Columns, g.Rows = min(contactWidth/g.Cell, mostCells), min(contactHeight/g.Cell, mostCells)
	return g
}

// Len returns how many thumbnails a sheet has.
func (g Grid) Len() int { return g.Columns * g.Rows }

// Memory returns how many bytes it takes to make a sheet.
func (g Grid) Memory() int64 { return 6 * int64(g.Len()) * int64(g.Cell) * int64(g.Cell) }

// Extension returns how the names of the files end.
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

// Set draws thumbnail i, which Small made for a cell. What is left of the cell is filled with
// the thumbnail's last column and row, which takes a JPEG file little and leaves the
// thumbnail's edges as they are.
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

// quality is that of JPEG files of sheets.
const quality = 78

// Encode returns the content of the sheet's file, in one channel where all is grey.
func (s *Sheet) Encode() ([]byte, error) {
	var out bytes.Buffer
	var err error
	if s.grid.Lossless {
		// Half of the time of png.DefaultCompression, for 6 % more bytes of MNIST's pictures.
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, s.img)
	} else {
		err = jpeg.Encode(&out, s.img, &jpeg.Options{Quality: quality})
	}
	return out.Bytes(), err
}
