package figure

import (
	"bytes"
	"context"
	"image/color"
	"io"
	"regexp"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// PDF writes the figure as a scalable drawing for papers. Its letters are outlines, so it needs no fonts.
func (f *Figure) PDF(ctx context.Context, w io.Writer) error {
	c := outlines{vgpdf.New(f.Size())}
	if err := f.paintWhite(ctx, c); err != nil {
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

// outlines is a canvas that draws letters as curves, since vgpdf has only those of Western Europe, and
// transparent colours, which vgpdf darkens.
type outlines struct{ *vgpdf.Canvas }

// SetColor implements vg.Canvas.
func (c outlines) SetColor(colour color.Color) {
	if colour != nil { // nil is black
		colour = straight(color.NRGBAModel.Convert(colour).(color.NRGBA))
	}
	c.Canvas.SetColor(colour)
}

// straight is a colour whose components are not multiplied by its opacity.
type straight color.NRGBA

// RGBA implements color.Color.
func (s straight) RGBA() (r, g, b, a uint32) {
	const to16 = 0x101
	return uint32(s.R) * to16, uint32(s.G) * to16, uint32(s.B) * to16, uint32(s.A) * to16
}

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
