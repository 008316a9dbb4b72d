package figure

import (
	"image"
	"image/color"
	"strconv"

	"golang.org/x/image/draw"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

const (
	sheetWidth = 1024 // pixels that a page shows without reducing a picture
	minTile    = 90   // least width of a caption

	chipHeight  = 15
	chipPadding = 3
	chipGap     = 5
	chipFont    = 11
	legendWord  = "Parts"
)

// emptyTile is the size of the frame for a drawing that is not there.
var emptyTile = image.Pt(160, 100)

// GalleryTile is a drawing, or nil for an empty frame, with its caption.
type GalleryTile struct {
	Drawing *image.RGBA
	Caption string
}

func (t GalleryTile) size() image.Point {
	if t.Drawing == nil {
		return emptyTile
	}
	return t.Drawing.Rect.Size()
}

// gallery draws tiles on white in lines of at most sheetWidth, with left free pixels before them and
// a free area of a given size below.
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
	fill(img, img.Rect, color.White)
	face := sheetFace(10)
	for i, tile := range tiles {
		frame := image.Rectangle{Max: tile.size()}.Add(corners[i])
		if tile.Drawing != nil {
			draw.Draw(img, frame, tile.Drawing, tile.Drawing.Rect.Min, draw.Src)
		} else {
			fill(img, frame, frameGrey)
			fill(img, frame.Inset(1), white)
		}
		caption := shorten(plaintext.Line(tile.Caption), func(s string) bool { return textWidth(face, s) <= max(frame.Dx(), minTile) })
		write(img, face, noteGrey, caption, frame.Min.X, frame.Max.Y+captionHeight-4)
	}
	return img
}

// chip is a part's number on its colour.
type chip struct {
	part int
	word string
	rect image.Rectangle
}

// newChip returns the chip of a part with its upper left corner at a place.
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
	fill(img, c.rect, colour)
	write(img, face, ink, c.word, c.rect.Min.X+(c.rect.Dx()-textWidth(face, c.word))/2, c.rect.Max.Y-chipPadding-1)
}

// legend lays the chips of all parts out in lines after a word. size includes a gap to the right and
// below.
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

// Examples draws photos with a legend of the parts' colours below.
func Examples(tiles []GalleryTile, parts int) *image.RGBA {
	chips, size := legend(parts)
	img := gallery(tiles, 0, size)
	top := image.Pt(0, img.Rect.Max.Y-size.Y)
	write(img, sheetFace(chipFont), noteGrey, legendWord, sheetGap, top.Y+chipHeight-chipPadding-1)
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
