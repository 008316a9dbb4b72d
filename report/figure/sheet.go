package figure

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// Tile is one picture of a contact sheet.
type Tile struct {
	// Image may have any size. Nil is drawn as an empty frame.
	Image image.Image
	// Caption stands under the picture, shortened in the middle where it is
	// too long. Without any caption on the sheet there is no room for them.
	Caption string
	// Border is drawn round the picture where it is not nil.
	Border color.Color
}

// SheetOptions say what stands on a contact sheet besides its tiles.
type SheetOptions struct {
	// Title stands above the tiles where it is not empty.
	Title string
	// Total is how many pictures there are altogether. Where it is more than
	// the tiles drawn, the sheet ends with "and … more".
	Total int
}

const (
	// MaxTiles is the largest number of tiles on a contact sheet.
	MaxTiles = 64

	sheetColumns  = 8
	SheetBox      = 104 // pixels, of the square a thumbnail fits into
	sheetGap      = 10
	sheetBorder   = 3
	captionHeight = 17
	titleHeight   = 30
)

var (
	noteGrey  = color.Gray{0x55}
	frameGrey = color.Gray{0xbb}
)

// sheetFace returns the font of the figures in the given size, in pixels. A
// face is for one goroutine.
func sheetFace(size plotfont.Length) font.Face {
	const pixel = 72 // dots an inch: a point is a pixel
	face := plotfont.DefaultCache.Lookup(plotfont.Font{Typeface: "Liberation", Variant: "Sans"}, size)
	return unkerned{face.FontFace(pixel)}
}

// unkerned leaves letters where they are that a font moves together: in small
// letters the digits of 11 would run into each other.
type unkerned struct{ font.Face }

func (unkerned) Kern(_, _ rune) fixed.Int26_6 { return 0 }

// ContactSheet draws the first MaxTiles tiles as thumbnails on white, eight in a
// row. The only error is the context's.
func ContactSheet(ctx context.Context, tiles []Tile, opt SheetOptions) (*image.RGBA, error) {
	captionFace, titleFace := sheetFace(10), sheetFace(14)
	total := max(opt.Total, len(tiles))
	tiles = tiles[:min(len(tiles), MaxTiles)]
	more := ""
	if total > len(tiles) {
		more = fmt.Sprintf("and %d more", total-len(tiles))
	}

	thumbs := make([]*image.RGBA, len(tiles))
	below := 0
	for i, tile := range tiles {
		if tile.Image != nil {
			var err error
			if thumbs[i], err = Thumbnail(ctx, tile.Image, SheetBox); err != nil {
				return nil, err
			}
		}
		if tile.Caption != "" {
			below = captionHeight
		}
	}
	const step = SheetBox + 2*sheetBorder + sheetGap
	columns := max(1, min(len(tiles), sheetColumns))
	width := max(columns*step+sheetGap, textWidth(titleFace, opt.Title)+2*sheetGap)
	// A row is as high as its highest thumbnail.
	var heights []int
	for i, thumb := range thumbs {
		if i%columns == 0 {
			heights = append(heights, 0)
		}
		h := SheetBox
		if thumb != nil {
			h = thumb.Rect.Dy()
		}
		heights[i/columns] = max(heights[i/columns], h)
	}
	height := sheetGap
	if opt.Title != "" {
		height += titleHeight
	}
	top := height
	for _, h := range heights {
		height += h + 2*sheetBorder + below + sheetGap
	}
	if more != "" {
		height += titleHeight
	}

	sheet := image.NewRGBA(image.Rect(0, 0, width, height))
	fill(sheet, sheet.Rect, color.White)
	write(sheet, titleFace, color.Black, opt.Title, sheetGap, sheetGap+titleHeight/2)
	for i, tile := range tiles {
		row, left := i/columns, sheetGap+i%columns*step
		if i > 0 && i%columns == 0 {
			top += heights[row-1] + 2*sheetBorder + below + sheetGap
		}
		h := heights[row]
		frame := image.Rect(0, 0, SheetBox, h)
		if thumbs[i] != nil {
			frame = thumbs[i].Rect
		}
		frame = frame.Add(image.Pt(left+sheetBorder+(SheetBox-frame.Dx())/2, top+sheetBorder+(h-frame.Dy())/2))
		switch {
		case tile.Border != nil:
			fill(sheet, frame.Inset(-sheetBorder), tile.Border)
		case thumbs[i] == nil:
			fill(sheet, frame.Inset(-1), frameGrey)
		}
		if thumbs[i] != nil {
			draw.Draw(sheet, frame, thumbs[i], image.Point{}, draw.Src)
		} else {
			fill(sheet, frame, color.White)
		}
		caption := shorten(plaintext.Line(tile.Caption), func(s string) bool { return textWidth(captionFace, s) <= SheetBox+2*sheetBorder })
		x := left + (SheetBox+2*sheetBorder-textWidth(captionFace, caption))/2
		write(sheet, captionFace, noteGrey, caption, x, top+h+2*sheetBorder+captionHeight-5)
	}
	write(sheet, titleFace, noteGrey, more, sheetGap, height-sheetGap)
	return sheet, nil
}

// fill paints a rectangle in one colour.
func fill(img draw.Image, r image.Rectangle, c color.Color) {
	draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// write writes a line of text that starts at x on the base line y.
func write(img draw.Image, face font.Face, c color.Color, s string, x, y int) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(c), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

// textWidth is the width of a line in pixels.
func textWidth(face font.Face, s string) int { return font.MeasureString(face, s).Ceil() }

// shorten replaces as much of the middle of a name by an ellipsis as it takes
// to make it fit: both ends of a file name tell files apart.
func shorten(name string, fits func(string) bool) string {
	if fits(name) {
		return name
	}
	letters := []rune(strings.TrimSpace(name))
	if n := len(letters); n > 2*longestShown { // which fits nowhere
		letters = slices.Concat(letters[:longestShown], letters[n-longestShown:])
	}
	for keep := len(letters) - 1; keep > 0; keep-- {
		s := string(letters[:keep/2]) + "…" + string(letters[len(letters)-(keep-keep/2):])
		if fits(s) {
			return s
		}
	}
	return ""
}

// Evenly picks at most n of the items, at equal distances.
func Evenly(items []int, n int) []int {
	if len(items) <= n {
		return items
	}
	picked := make([]int, n)
	for i := range picked {
		picked[i] = items[i*len(items)/n]
	}
	return picked
}
