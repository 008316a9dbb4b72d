package figure

import (
	"bytes"
	"context"
	"io"
	"math"
	"regexp"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// PDF writes the figure as a scalable drawing for papers. Its letters are outlines,
// so that it needs no fonts.
func (f *Figure) PDF(ctx context.Context, w io.Writer) error {
	c := outlines{vgpdf.New(f.Size())}
	if err := f.paintWhite(ctx, c); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	// The date, which has the same length always, would tell files apart.
	_, err := w.Write(pdfDate.ReplaceAll(b.Bytes(), []byte("${1}20000101000000")))
	return err
}

var pdfDate = regexp.MustCompile(`(/(?:CreationDate|ModDate) \(D:)[0-9]{14}`)

// outlines is a canvas that draws letters and arcs as curves: those of vgpdf know
// no letters but those of Western Europe.
type outlines struct{ *vgpdf.Canvas }

// Fill implements vg.Canvas.
func (c outlines) Fill(p vg.Path) { c.Canvas.Fill(curved(p)) }

// Stroke implements vg.Canvas.
func (c outlines) Stroke(p vg.Path) { c.Canvas.Stroke(curved(p)) }

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

// curved returns a path with curves in place of its arcs, one for each eighth of a
// circle or less.
func curved(p vg.Path) vg.Path {
	var out vg.Path
	for _, part := range p {
		if part.Type != vg.ArcComp {
			out = append(out, part)
			continue
		}
		n := max(1, math.Ceil(math.Abs(part.Angle)/(math.Pi/4)))
		step := part.Angle / n
		// How far the control points are from the ends, along the tangents.
		reach := part.Radius * vg.Length(4./3*math.Tan(step/4))
		on := func(angle float64) (at, tangent vg.Point) {
			sin, cos := math.Sincos(angle)
			at = vg.Point{X: part.Pos.X + part.Radius*vg.Length(cos), Y: part.Pos.Y + part.Radius*vg.Length(sin)}
			return at, vg.Point{X: vg.Length(-sin), Y: vg.Length(cos)}
		}
		from, along := on(part.Start)
		if len(out) == 0 {
			out.Move(from)
		} else {
			out.Line(from)
		}
		for i := 1.; i <= n; i++ {
			to, next := on(part.Start + i*step)
			out.CubeTo(from.Add(along.Scale(reach)), to.Sub(next.Scale(reach)), to)
			from, along = to, next
		}
	}
	return out
}
