package features

import (
	"context"
	"fmt"
	"image"
	"image/draw"

	"github.com/seed4492f2cd/partwise/datasets"
)

// defaultSide is the height and width of the images in the papers.
const defaultSide = 32

// Pixels uses the grey or colour values of images as features. Its zero value means 32×32 grey images, or the size of the
// set's own images.
type Pixels struct {
	Size   Size `setting:"pixels" default:"32, or the set's own" help:"image size: side of a square, or HEIGHTxWIDTH"`
	Colour bool `setting:"colour" help:"use red, green and blue instead of grey"`
}

// Size is the height and width of images in pixels.
type Size = datasets.Size

// Label implements [Extractor].
func (p Pixels) Label() string {
	size, own := p.Size, ""
	if size == (Size{}) {
		size, own = Size{Height: defaultSide, Width: defaultSide}, ", or the set's own"
	}
	colour := ""
	if p.Colour {
		colour = " in colour"
	}
	return size.String() + " pixels" + colour + own
}

// Rows implements [RowExtractor]. A row holds Height·Width grey values, or 3·Height·Width colour values.
func (p Pixels) Rows(_ context.Context, set *datasets.Set) (*Rows, error) {
	rows := &Rows{Height: p.Size.Height, Width: p.Size.Width, Channels: 1}
	switch {
	case (rows.Height == 0) != (rows.Width == 0):
		return nil, fmt.Errorf("height %d and width %d: set both or none", rows.Height, rows.Width)
	case min(rows.Height, rows.Width) < 0 || max(rows.Height, rows.Width) > datasets.MaxSide:
		return nil, fmt.Errorf("height %d and width %d: expected 1 to %d", rows.Height, rows.Width, datasets.MaxSide)
	case set.Files == nil && (set.Height == 0 || rows.Height == 0):
		rows.Height, rows.Width = set.Height, set.Width
	case rows.Height == 0:
		rows.Height, rows.Width = defaultSide, defaultSide
	}
	if p.Colour && set.Files != nil {
		rows.Channels = 3
	}
	return rows, nil
}

// overWhite returns the image over a white background with its upper left corner at (0, 0). It returns img itself if
// that is already the case.
func overWhite(img image.Image) image.Image {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() && img.Bounds().Min == (image.Point{}) {
		return img
	}
	out := image.NewRGBA64(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Over)
	return out
}
