package figure

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"git.sr.ht/~sbinet/gg"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// ErrNoData is returned for a figure that would be empty.
var ErrNoData = errors.New("nothing to draw")

const (
	edge   = 0.08 * vg.Inch
	pngDPI = 200
)

// A Figure is a drawing that can be written as a picture and as a scalable
// drawing of two kinds.
type Figure struct{ drawing }

// drawing is what a figure shows.
type drawing interface {
	// size returns its width and height.
	size() (w, h vg.Length)
	// draw draws it on a white canvas of that size; its only error is the context's.
	draw(ctx context.Context, c draw.Canvas) error
}

// longestShown is how many letters of a name stand in a figure.
const longestShown = 60

// shownName returns a name as it stands in a figure: in one line, of characters
// that an SVG file may hold, and cut in the middle where it is long.
func shownName(name string) string {
	return shorten(plaintext.Line(name), func(s string) bool { return utf8.RuneCountInString(s) <= longestShown })
}

// sans is the font of all figures.
func sans(size vg.Length) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
}

// Size is the size of the figure with its margin.
func (f *Figure) Size() (w, h vg.Length) {
	w, h = f.size()
	return w + 2*edge, h + 2*edge
}

// paint draws it with the margin round it, on a canvas that is white.
func (f *Figure) paint(ctx context.Context, c vg.Canvas) error {
	w, h := f.Size()
	return f.draw(ctx, draw.Crop(draw.NewCanvas(c, w, h), edge, -edge, edge, -edge))
}

// paintWhite draws it on a canvas that it makes white before.
func (f *Figure) paintWhite(ctx context.Context, c vg.CanvasSizer) error {
	all := draw.New(c)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	return f.paint(ctx, c)
}

// PNG writes the figure as a picture of 200 dots an inch, which the file says.
func (f *Figure) PNG(ctx context.Context, w io.Writer) error {
	room := pictures.Get()
	defer pictures.Put(room)
	width, height := f.Size()
	img := room.picture(pngSize(width), pngSize(height))
	on := gg.NewContextForRGBA(img)
	on.SetLineCapButt()
	on.InvertY()
	if err := f.paint(ctx, vgimg.NewWith(vgimg.UseImageWithContext(img, on), vgimg.UseDPI(pngDPI))); err != nil {
		return err
	}
	return writePNG(w, img, pngDPI)
}

// pngSize is how many dots of a picture a length takes.
func pngSize(l vg.Length) int { return int(math.Round(l.Dots(pngDPI))) }

// pictures hold what figures are drawn on as pictures.
var pictures = freelist.List[*pixels]{New: func() *pixels { return new(pixels) }}

type pixels []uint8

// picture returns a picture whose dots hold anything: vgimg.NewWith fills it with white.
func (p *pixels) picture(width, height int) *image.RGBA {
	n := 4 * width * height
	*p = slices.Grow((*p)[:0], n)[:n]
	return &image.RGBA{Pix: *p, Stride: 4 * width, Rect: image.Rect(0, 0, width, height)}
}

// SVG writes the figure as a scalable drawing. Its letters are text in the
// font Liberation Sans, or in Arial or Helvetica, which have the same widths.
func (f *Figure) SVG(ctx context.Context, w io.Writer) error {
	c := vgsvg.New(f.Size())
	if err := f.paintWhite(ctx, c); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	svg := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	_, err := w.Write(svg)
	return err
}
