package figure

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"strconv"

	"golang.org/x/image/draw"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

const (
	tileSide   = 96 // the approximate longer side of a tile in pixels
	montageGap = 3

	sheetWidth    = 1024 // the pixels that a page shows without scaling
	sheetGap      = 10
	minTile       = 90 // the smallest width of a caption
	captionHeight = 17

	chipHeight  = 15
	chipPadding = 3
	chipGap     = 5
	chipFont    = 11
	legendWord  = "Parts"

	MaxWordPatches = 20 // the most patches of a word
	MaxSheetWords  = 42 // the most words on a sheet
	wordColumns    = 7  // words side by side
	patchColumns   = 4  // patches of a word side by side
	patchBox       = 32
	patchGap       = 2
	wordGap        = 10
	wordHeading    = 18
	wordWidth      = patchColumns*(patchBox+patchGap) - patchGap
)

// Montage draws a basis (m×k, one basis vector a column) as k tiles in an approximately square rectangle. Each column
// is an image, row by row, for each channel (1: grey; 3: red, green, blue), so m = channels·height·width. Each tile is
// scaled from black at its minimum to white at its maximum. Constant tiles are mid grey; values that are not finite
// count as the minimum.
func Montage(ctx context.Context, basis mat.Matrix, height, width, channels int) (image.Image, error) {
	m, k := basis.Dims()
	area := height * width
	if height <= 0 || width <= 0 || channels != 1 && channels != 3 || m != channels*area {
		return nil, fmt.Errorf("montage: basis vectors of %d values cannot be images of %d×%d pixels in %s (1 or 3)",
			m, width, height, phrase.Count(channels, "channel", "channels"))
	}
	if k == 0 {
		return nil, fmt.Errorf("montage: %w", ErrNoData)
	}
	scale := max(1, int(math.Round(tileSide/float64(max(height, width)))))
	columns := min(k, int(math.Ceil(math.Sqrt(float64(k)*float64(height)/float64(width)))))
	rows := (k + columns - 1) / columns

	stepX, stepY := width*scale+montageGap, height*scale+montageGap
	size := image.Rect(0, 0, columns*stepX+montageGap, rows*stepY+montageGap)
	var img draw.Image = image.NewGray(size)
	if channels == 3 {
		img = image.NewRGBA(size)
	}
	fillRect(img, size, color.White)
	for j := range k {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		left, top := montageGap+j%columns*stepX, montageGap+j/columns*stepY
		lo, hi := columnRange(basis, j)
		for i := range area {
			at := func(channel int) uint8 { return shade(basis.At(min(channel, channels-1)*area+i, j), lo, hi) }
			pixel := image.Rect(0, 0, scale, scale).Add(image.Pt(left+i%width*scale, top+i/width*scale))
			fillRect(img, pixel, color.RGBA{at(0), at(1), at(2), 0xff})
		}
	}
	return img, nil
}

// columnRange returns the smallest and the largest finite value of a column; lo > hi if there is none.
func columnRange(x mat.Matrix, j int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	m, _ := x.Dims()
	for i := range m {
		if v := x.At(i, j); !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

// shade maps lo to black and hi to white.
func shade(v, lo, hi float64) uint8 {
	if lo >= hi {
		return 0x80
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	// Halves, because the range of very large numbers overflows.
	return uint8(math.Round(255 * ((v/2 - lo/2) / (hi/2 - lo/2))))
}

// GalleryTile is a drawing with its caption; a nil drawing is an empty frame.
type GalleryTile struct {
	Drawing *image.RGBA
	Caption string
}

func (t GalleryTile) size() image.Point {
	if t.Drawing == nil {
		return image.Pt(160, 100)
	}
	return t.Drawing.Rect.Size()
}

// gallery draws tiles on white in lines of at most sheetWidth. It leaves left pixels free at the left, and the area
// below free.
func gallery(tiles []GalleryTile, left int, below image.Point) *image.RGBA {
	corners := make([]image.Point, len(tiles))
	at := image.Pt(left+sheetGap, sheetGap)
	wide, high := below.X, 0
	for i, tile := range tiles {
		size := tile.size()
		room := max(size.X, minTile) + sheetGap
		if at.X > left+sheetGap && at.X+room > sheetWidth {
			at = image.Pt(left+sheetGap, at.Y+high+captionHeight+sheetGap)
			high = 0
		}
		corners[i] = at
		at.X += room
		wide, high = max(wide, at.X), max(high, size.Y)
	}
	img := image.NewRGBA(image.Rect(0, 0, wide, at.Y+high+captionHeight+sheetGap+below.Y))
	fillRect(img, img.Rect, color.White)
	face := sheetFace(10)
	for i, tile := range tiles {
		frame := image.Rectangle{Max: tile.size()}.Add(corners[i])
		if tile.Drawing != nil {
			draw.Draw(img, frame, tile.Drawing, tile.Drawing.Rect.Min, draw.Src)
		} else {
			fillRect(img, frame, frameGrey)
			fillRect(img, frame.Inset(1), white)
		}
		caption := shorten(plaintext.Line(tile.Caption), func(s string) bool { return textWidth(face, s) <= max(frame.Dx(), minTile) })
		drawText(img, face, noteGrey, caption, frame.Min.X, frame.Max.Y+captionHeight-4)
	}
	return img
}

// chip is a part's number on its colour.
type chip struct {
	part int
	word string
	rect image.Rectangle
}

// newChip returns the chip of a part with its upper left corner at the point at.
func newChip(part int, at image.Point) chip {
	word := strconv.Itoa(part + 1)
	width := max(textWidth(sheetFace(chipFont), word)+2*chipPadding, chipHeight)
	return chip{part, word, image.Rect(0, 0, width, chipHeight).Add(at)}
}

func (c chip) draw(img draw.Image) {
	colour, face := partColour(c.part), sheetFace(chipFont)
	var ink color.Color = color.White
	if color.GrayModel.Convert(colour).(color.Gray).Y > 128 {
		ink = color.Black
	}
	fillRect(img, c.rect, colour)
	drawText(img, face, ink, c.word, c.rect.Min.X+(c.rect.Dx()-textWidth(face, c.word))/2, c.rect.Max.Y-chipPadding-1)
}

// legend arranges the chips of all parts in lines after a word. size includes a gap to the right and below.
func legend(parts int) (chips []chip, size image.Point) {
	first := sheetGap + textWidth(sheetFace(chipFont), legendWord) + 2*chipGap
	at := image.Pt(first, 0)
	for part := range parts {
		c := newChip(part, at)
		if c.rect.Max.X+sheetGap > sheetWidth {
			c = newChip(part, image.Pt(first, at.Y+chipHeight+chipGap))
		}
		chips = append(chips, c)
		at = image.Pt(c.rect.Max.X+chipGap, c.rect.Min.Y)
		size = image.Pt(max(size.X, c.rect.Max.X+sheetGap), c.rect.Max.Y+sheetGap)
	}
	return chips, size
}

// Examples draws photos, with a legend of the parts' colours below.
func Examples(tiles []GalleryTile, parts int) *image.RGBA {
	chips, size := legend(parts)
	img := gallery(tiles, 0, size)
	top := image.Pt(0, img.Rect.Max.Y-size.Y)
	drawText(img, sheetFace(chipFont), noteGrey, legendWord, sheetGap, top.Y+chipHeight-chipPadding-1)
	for _, c := range chips {
		c.rect = c.rect.Add(top)
		c.draw(img)
	}
	return img
}

// PartRow draws the photos of one part after its number.
func PartRow(tiles []GalleryTile, part int) *image.RGBA {
	c := newChip(part, image.Pt(sheetGap, sheetGap))
	img := gallery(tiles, c.rect.Max.X, image.Point{})
	c.draw(img)
	return img
}

// Word is a visual word with some of its patches.
type Word struct {
	Index   int           // the index in the vocabulary, from 0; the sheet shows it from 1
	Count   int           // the number of patches with the word
	Patches []image.Image // of any size, as from CutPatch, MaxWordPatches at most; nil leaves a gap
}

// WordSheet draws the first MaxSheetWords words on white, seven side by side: the word's number, its count, and patches
// in lines of four. The only error is the context's.
func WordSheet(ctx context.Context, words []Word) (*image.RGBA, error) {
	words = words[:min(len(words), MaxSheetWords)]
	columns := max(1, min(len(words), wordColumns))
	lines := 1
	for _, w := range words {
		lines = max(lines, (min(len(w.Patches), MaxWordPatches)+patchColumns-1)/patchColumns)
	}
	stepX, stepY := wordWidth+wordGap, wordHeading+lines*(patchBox+patchGap)+wordGap
	rows := (len(words) + columns - 1) / columns
	sheet := image.NewRGBA(image.Rect(0, 0, columns*stepX+wordGap, rows*stepY+wordGap))
	fillRect(sheet, sheet.Rect, color.White)

	titleFace, noteFace := sheetFace(12), sheetFace(10)
	for i, w := range words {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		left, top := wordGap+i%columns*stepX, wordGap+i/columns*stepY
		title, note := strconv.Itoa(w.Index+1), phrase.Count(w.Count, "patch", "patches")
		drawText(sheet, titleFace, color.Black, title, left, top+wordHeading-6)
		drawText(sheet, noteFace, noteGrey, note, left+wordWidth-textWidth(noteFace, note), top+wordHeading-6)
		fillRect(sheet, image.Rect(left, top+wordHeading-3, left+wordWidth, top+wordHeading-2), frameGrey)
		for j, patch := range w.Patches[:min(len(w.Patches), MaxWordPatches)] {
			if patch == nil {
				continue
			}
			small := Thumbnail(patch, patchBox)
			at := image.Pt(left+j%patchColumns*(patchBox+patchGap), top+wordHeading+j/patchColumns*(patchBox+patchGap))
			at = at.Add(image.Pt(patchBox, patchBox).Sub(small.Rect.Size()).Div(2))
			fillRect(sheet, small.Rect.Add(at).Inset(-1), frameGrey)
			draw.Draw(sheet, small.Rect.Add(at), small, image.Point{}, draw.Src)
		}
	}
	return sheet, nil
}

// CutPatch copies a patch of an image with the centre x, y, as in models.Patch. The patch is at least one pixel and at
// most the image's longer side wide, and white outside of the image.
func CutPatch(img image.Image, x, y, side float32) image.Image {
	b := img.Bounds()
	longer := max(b.Dx(), b.Dy(), 1)
	n := 1
	if side > 1 {
		n = int(min(math.Round(float64(side)), float64(longer)))
	}
	// first returns the first pixel whose centre is in the patch, or one just outside of the image.
	first := func(centre float32) int {
		v := math.Ceil(float64(centre) - float64(n)/2)
		if !(v > float64(-n) && v < float64(longer)) {
			return longer
		}
		return int(v)
	}
	patch := image.NewRGBA(image.Rect(0, 0, n, n))
	fillRect(patch, patch.Rect, color.White)
	draw.Draw(patch, patch.Rect, img, b.Min.Add(image.Pt(first(x), first(y))), draw.Over)
	return patch
}

// Grid is the layout of contact sheets: square cells, row by row, each with a thumbnail in its upper left corner.
type Grid struct {
	Cell          int // the side of a cell in pixels
	Columns, Rows int
	Lossless      bool // PNG files rather than JPEG files
}

const (
	// PhotographCell is a multiple of 16, the side of JPEG blocks, so that thumbnails do not affect their neighbours.
	PhotographCell  = 128
	largestLossless = 64 // the largest cell of lossless sheets

	contactWidth, contactHeight = 2048, 1024 // the largest size in pixels
	mostCells                   = 32         // the most cells in a row or column
)

// NewGrid returns a grid for pictures with the given longer side, which are reduced to PhotographCell.
func NewGrid(side int) Grid {
	g := Grid{Cell: max(1, min(side, PhotographCell)), Lossless: side <= largestLossless}
	if !g.Lossless {
		g.Cell = (g.Cell + 15) / 16 * 16
	}
	g.Columns, g.Rows = min(contactWidth/g.Cell, mostCells), min(contactHeight/g.Cell, mostCells)
	return g
}

// Len returns the number of thumbnails on a sheet.
func (g Grid) Len() int { return g.Columns * g.Rows }

// Memory returns the bytes needed to make a sheet.
func (g Grid) Memory() int64 { return 10 * int64(g.Len()) * int64(g.Cell) * int64(g.Cell) }

// Extension returns the extension of the sheets' files.
func (g Grid) Extension() string {
	if g.Lossless {
		return ".png"
	}
	return ".jpg"
}

// Encode returns the file of a contact sheet of at most Len thumbnails, which Small made for a cell, or nil. The file has
// a single channel if all pixels are grey.
func (g Grid) Encode(thumbs []*image.RGBA) ([]byte, error) {
	sheet := image.NewRGBA(image.Rect(0, 0, min(len(thumbs), g.Columns)*g.Cell, (len(thumbs)+g.Columns-1)/g.Columns*g.Cell))
	fillRect(sheet, sheet.Rect, color.Black)
	for i, thumb := range thumbs {
		if thumb != nil && !thumb.Rect.Empty() {
			g.place(sheet, image.Pt(i%g.Columns, i/g.Columns).Mul(g.Cell), thumb)
		}
	}
	var img image.Image = sheet
	grey := image.NewGray(sheet.Rect)
	for p := range grey.Pix {
		if rgb := sheet.Pix[4*p:]; rgb[0] != rgb[1] || rgb[0] != rgb[2] {
			grey = nil
			break
		}
		grey.Pix[p] = sheet.Pix[4*p]
	}
	if grey != nil {
		img = grey
	}
	var out bytes.Buffer
	if g.Lossless {
		err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img)
		return out.Bytes(), err
	}
	err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 78})
	return out.Bytes(), err
}

// place draws a thumbnail into the cell at a point. The rest of the cell repeats the thumbnail's last column and row, which
// compresses well and keeps the thumbnail's edges unchanged.
func (g Grid) place(sheet *image.RGBA, at image.Point, thumb *image.RGBA) {
	size := thumb.Rect.Size()
	draw.Draw(sheet, image.Rectangle{Max: size}.Add(at), thumb, thumb.Rect.Min, draw.Src)
	repeat := func(from, to image.Rectangle) {
		if !to.Empty() {
			draw.NearestNeighbor.Scale(sheet, to.Add(at), sheet, from.Add(at), draw.Src, nil)
		}
	}
	repeat(image.Rect(size.X-1, 0, size.X, size.Y), image.Rect(size.X, 0, g.Cell, size.Y))
	repeat(image.Rect(0, size.Y-1, g.Cell, size.Y), image.Rect(0, size.Y, g.Cell, g.Cell))
}

// Thumbnail fits a picture into a box of box×box pixels on white, and keeps its aspect ratio. It averages large
// pictures down, and enlarges small ones by whole factors, so that they stay sharp.
func Thumbnail(img image.Image, box int) *image.RGBA {
	b := img.Bounds()
	return fitToBox(img, box, max(1, box/max(b.Dx(), b.Dy(), 1)))
}

// Small is Thumbnail, but never enlarges.
func Small(img image.Image, box int) *image.RGBA { return fitToBox(img, box, 1) }

// fitToBox reduces a picture to the box, or draws a small one on white enlarged by times.
func fitToBox(img image.Image, box, times int) *image.RGBA {
	b := img.Bounds()
	if max(b.Dx(), b.Dy()) > box {
		return features.Thumbnail(img, box)
	}
	out := image.NewRGBA(image.Rect(0, 0, times*b.Dx(), times*b.Dy()))
	fillRect(out, out.Rect, color.White)
	if times == 1 {
		draw.Draw(out, out.Rect, img, b.Min, draw.Over)
	} else {
		draw.NearestNeighbor.Scale(out, out.Rect, img, b, draw.Over, nil)
	}
	return out
}
