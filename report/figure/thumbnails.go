package figure

import (
	"bytes"
	"image"
	"image/color"
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
	Lossless      bool // PNG files, instead of JPEG files
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

// Sheet is a contact sheet.
type Sheet struct {
	grid Grid
	img  *image.RGBA
}

// NewSheet returns an empty sheet for n thumbnails, Len at most.
func (g Grid) NewSheet(n int) *Sheet {
	columns, rows := min(n, g.Columns), (n+g.Columns-1)/g.Columns
	s := &Sheet{g, image.NewRGBA(image.Rect(0, 0, columns*g.Cell, rows*g.Cell))}
	fill(s.img, s.img.Rect, color.Black)
	return s
}

// Set draws thumbnail i, which Small made for a cell. The rest of the cell repeats the thumbnail's last
// column and row, which compresses well and leaves the thumbnail's edges unchanged.
func (s *Sheet) Set(i int, thumb *image.RGBA) {
	size := thumb.Rect.Size()
	if size.X == 0 || size.Y == 0 {
		return
	}
	at := image.Pt(i%s.grid.Columns, i/s.grid.Columns).Mul(s.grid.Cell)
	cell := image.Rect(0, 0, s.grid.Cell, s.grid.Cell).Add(at)
	draw.Draw(s.img, cell, thumb, thumb.Rect.Min, draw.Src)
	repeat := func(from, to image.Rectangle) {
		if !to.Empty() {
			draw.NearestNeighbor.Scale(s.img, to.Add(at), s.img, from.Add(at), draw.Src, nil)
		}
	}
	repeat(image.Rect(size.X-1, 0, size.X, size.Y), image.Rect(size.X, 0, s.grid.Cell, size.Y))
	repeat(image.Rect(0, size.Y-1, s.grid.Cell, size.Y), image.Rect(0, size.Y, s.grid.Cell, s.grid.Cell))
}

// Encode returns the content of the sheet's file, in one channel if all is grey.
func (s *Sheet) Encode() ([]byte, error) {
	var img image.Image = s.img
	grey := image.NewGray(s.img.Rect)
	for p := range grey.Pix {
		if rgb := s.img.Pix[4*p:]; rgb[0] != rgb[1] || rgb[0] != rgb[2] {
			grey = nil
			break
		}
		grey.Pix[p] = s.img.Pix[4*p]
	}
	if grey != nil {
		img = grey
	}
	var out bytes.Buffer
	if s.grid.Lossless {
		err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img)
		return out.Bytes(), err
	}
	err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 78})
	return out.Bytes(), err
}

// Thumbnail fits a picture into the box, keeping its shape, on white. Large pictures are averaged down; small
// ones are enlarged by whole pixels, so that they stay sharp.
func Thumbnail(img image.Image, box int) *image.RGBA {
	b := img.Bounds()
	return small(img, box, max(1, box/max(b.Dx(), b.Dy(), 1)))
}

// Small is Thumbnail, but leaves small pictures in their size.
func Small(img image.Image, box int) *image.RGBA { return small(img, box, 1) }

// small reduces a picture to the box, or draws a small one on white with each pixel times×times large.
func small(img image.Image, box, times int) *image.RGBA {
	b := img.Bounds()
	if max(b.Dx(), b.Dy()) > box {
		return features.Thumbnail(img, box)
	}
	out := image.NewRGBA(image.Rect(0, 0, times*b.Dx(), times*b.Dy()))
	fill(out, out.Rect, color.White)
	if times == 1 {
		draw.Draw(out, out.Rect, img, b.Min, draw.Over)
	} else {
		draw.NearestNeighbor.Scale(out, out.Rect, img, b, draw.Over, nil)
	}
	return out
}
