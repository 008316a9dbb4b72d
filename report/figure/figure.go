// Package figure draws: curves and confusions as scalable figures, and, pixel by pixel, montages of learned
// parts, coefficients, contact sheets, visual words and photographs with the patches of parts marked.
//
// The same input gives the same bytes.
package figure

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// ErrNoData is the error for a figure that would be empty.
var ErrNoData = errors.New("nothing to draw")

const (
	edge         = 0.08 * vg.Inch
	pngDPI       = 200
	longestShown = 60 // characters of a name
)

// Figure is a drawing that can be written as PNG, SVG and PDF.
type Figure struct {
	w, h vg.Length // without the margin
	// draw draws on a white canvas of that size; its only error is the context's.
	draw func(ctx context.Context, c draw.Canvas) error
}

// shownName returns a name in one line of characters that an SVG file may hold, shortened in the middle.
func shownName(name string) string {
	return shorten(plaintext.Line(name), func(s string) bool { return utf8.RuneCountInString(s) <= longestShown })
}

// sans is the font of all figures.
func sans(size vg.Length) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
}

// Size is the size of the figure with its margin.
func (f *Figure) Size() (w, h vg.Length) { return f.w + 2*edge, f.h + 2*edge }

// paint draws the figure with its margin on a canvas, made white.
func (f *Figure) paint(ctx context.Context, c vg.CanvasSizer) error {
	all := draw.New(c)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	w, h := f.Size()
	return f.draw(ctx, draw.Crop(draw.NewCanvas(c, w, h), edge, -edge, edge, -edge))
}

// PNG writes the figure with 200 dots per inch, which the file states.
func (f *Figure) PNG(ctx context.Context, w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(f.Size()), vgimg.UseDPI(pngDPI))
	if err := f.paint(ctx, c); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, c.Image()); err != nil {
		return err
	}
	// The chunk pHYs (ISO/IEC 15948, 11.3.4.3), which image/png does not write.
	perMetre := uint32(math.Round(pngDPI / 0.0254))
	chunk := binary.BigEndian.AppendUint32([]byte("\x00\x00\x00\x09pHYs"), perMetre)
	chunk = append(binary.BigEndian.AppendUint32(chunk, perMetre), 1) // the unit is the metre
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	const header = 8 + 25 // the signature and the chunk IHDR
	_, err := w.Write(slices.Insert(b.Bytes(), header, chunk...))
	return err
}

// SVG writes the figure as a scalable drawing. Its text is in Liberation Sans, or in Arial or
// Helvetica, which have the same widths.
func (f *Figure) SVG(ctx context.Context, w io.Writer) error {
	c := vgsvg.New(f.Size())
	if err := f.paint(ctx, c); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")))
	return err
}

// PDF writes the figure as a scalable drawing for papers. Its letters are outlines, so it needs no fonts.
func (f *Figure) PDF(ctx context.Context, w io.Writer) error {
	c := outlines{vgpdf.New(f.Size())}
	if err := f.paint(ctx, c); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(pdfDate.ReplaceAll(b.Bytes(), []byte("${1}20000101000000"))) // the same bytes on every day
	return err
}

var pdfDate = regexp.MustCompile(`(/(?:CreationDate|ModDate) \(D:)[0-9]{14}`)

// outlines draws letters as curves, since vgpdf has only Western Europe's, and transparent colours, which it darkens.
type outlines struct{ *vgpdf.Canvas }

// SetColor implements vg.Canvas.
func (c outlines) SetColor(colour color.Color) {
	if colour != nil { // nil is black
		colour = straight(colour)
	}
	c.Canvas.SetColor(colour)
}

// straight is a colour whose components are not multiplied by its opacity.
func straight(c color.Color) color.RGBA { return color.RGBA(color.NRGBAModel.Convert(c).(color.NRGBA)) }

// FillString implements vg.Canvas.
func (c outlines) FillString(face font.Face, at vg.Point, text string) {
	var buf sfnt.Buffer
	em := fixed.Int26_6(face.Face.UnitsPerEm()) << 6
	scale := face.Font.Size / vg.Length(em)
	place := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + scale*vg.Length(p.X), Y: at.Y - scale*vg.Length(p.Y)}
	}
	var last sfnt.GlyphIndex
	for i, r := range text {
		glyph, err := face.Face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		if i > 0 {
			if kern, err := face.Face.Kern(&buf, last, glyph, em, xfont.HintingNone); err == nil {
				at.X += scale * vg.Length(kern)
			}
		}
		last = glyph
		segments, err := face.Face.LoadGlyph(&buf, glyph, em, nil)
		if err != nil {
			continue
		}
		var path vg.Path
		for _, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				path.Move(place(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(place(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(place(s.Args[0]), place(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(place(s.Args[0]), place(s.Args[1]), place(s.Args[2]))
			}
		}
		if len(path) > 0 {
			c.Canvas.Fill(path)
		}
		if advance, err := face.Face.GlyphAdvance(&buf, glyph, em, xfont.HintingNone); err == nil {
			at.X += scale * vg.Length(advance)
		}
	}
}
