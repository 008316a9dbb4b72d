package figure

import (
	"bytes"
	"image"
	"image/color"
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

// Sheet is a contact sheet of n thumbnails.
type Sheet struct {
	grid Grid
	img  *image.RGBA
}

// NewSheet returns an empty sheet for n thumbnails, Len at most.
func (g Grid) NewSheet(n int) *Sheet {
	columns, rows := min(n, g.Columns), (n+g.Columns-1)/g.Columns
	return &Sheet{g, image.NewRGBA(image.Rect(0, 0, columns*g.Cell, rows*g.Cell))}
}

// Set draws thumbnail i, which fits into a cell. What is left of the cell is filled with
// the thumbnail's last column and row, which takes a JPEG file little and leaves the
// thumbnail's edges as they are.
func (s *Sheet) Set(i int, thumb *image.RGBA) {
	g := s.grid
	cell := image.Rect(0, 0, g.Cell, g.Cell).Add(image.Pt(i%g.Columns, i/g.Columns).Mul(g.Cell))
	size := thumb.Rect.Size()
	if size.X == 0 || size.Y == 0 {
		return
	}
	draw.Draw(s.img, cell, thumb, thumb.Rect.Min, draw.Src)
	for y := range size.Y {
		row := s.img.Pix[s.img.PixOffset(cell.Min.X, cell.Min.Y+y):][:4*g.Cell]
		for x := size.X; x < g.Cell; x++ {
			copy(row[4*x:], row[4*(size.X-1):4*size.X])
		}
	}
	last := s.img.Pix[s.img.PixOffset(cell.Min.X, cell.Min.Y+size.Y-1):][:4*g.Cell]
	for y := size.Y; y < g.Cell; y++ {
		copy(s.img.Pix[s.img.PixOffset(cell.Min.X, cell.Min.Y+y):], last)
	}
}

// quality is that of JPEG files of sheets.
const quality = 78

// Encode returns the content of the sheet's file, in one channel where all is grey.
func (s *Sheet) Encode() ([]byte, error) {
	var img image.Image = s.img
	if grey := s.grey(); grey != nil {
		img = grey
	}
	var out bytes.Buffer
	var err error
	if s.grid.Lossless {
		// Half of the time of png.DefaultCompression, for 6 % more bytes of MNIST's pictures.
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img)
	} else {
		err = jpeg.Encode(&out, img, &jpeg.Options{Quality: quality})
	}
	return out.Bytes(), err
}

// grey returns the sheet in grey, or nil where it has colours.
func (s *Sheet) grey() *image.Gray {
	pix := s.img.Pix
	for p := 0; p < len(pix); p += 4 {
		if pix[p] != pix[p+1] || pix[p] != pix[p+2] {
			return nil
		}
	}
	out := image.NewGray(s.img.Rect)
	for p := range out.Pix {
		out.Pix[p] = pix[4*p]
	}
	return out
}

// Bounds returns the size of the sheet.
func (s *Sheet) Bounds() image.Rectangle { return s.img.Rect }

// At returns a colour of the sheet.
func (s *Sheet) At(x, y int) color.Color { return s.img.At(x, y) }
