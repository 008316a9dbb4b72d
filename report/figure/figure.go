// Package figure draws the figures of reports. Curves and confusion matrices are scalable [Figure] values. Montages of
// basis vectors, coefficients, contact sheets, visual words and photos with marked parts are images. Equal input gives
// equal bytes.
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
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// ErrNoData is the error for a figure that would be empty.
var ErrNoData = errors.New("nothing to draw")

const (
	edge         = 0.08 * vg.Inch
	pngDPI       = 200
	longestShown = 60 // the most characters of a name
)

// Figure is a drawing that can be written as PNG, SVG and PDF.
type Figure struct {
	w, h vg.Length // without the margin
	// draw draws on a white canvas of size w×h; its only error is the context's.
	draw func(ctx context.Context, c draw.Canvas) error
}

// shownName returns a name as one line of characters that SVG allows, shortened in the middle.
func shownName(name string) string {
	return shorten(plaintext.Line(name), func(s string) bool { return utf8.RuneCountInString(s) <= longestShown })
}

func sans(size vg.Length) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
}

// Size returns the size of the figure with its margin.
func (f *Figure) Size() (w, h vg.Length) { return f.w + 2*edge, f.h + 2*edge }

// paint draws the figure with its margin on a canvas, white first.
func (f *Figure) paint(ctx context.Context, c vg.CanvasSizer) error {
	all := draw.New(c)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	w, h := f.Size()
	return f.draw(ctx, draw.Crop(draw.NewCanvas(c, w, h), edge, -edge, edge, -edge))
}

// Formats are the formats of figures, which are also the extensions of their files.
var Formats = []string{"png", "svg", "pdf"}

// Write writes the figure in one of Formats. A picture has 200 dots per inch. Text in SVG is in Liberation Sans, or in
// Arial or Helvetica, which have the same widths. Letters in PDF are outlines, so it needs no fonts.
func (f *Figure) Write(ctx context.Context, w io.Writer, format string) error {
	var c vg.CanvasWriterTo
	var finish func(file []byte) []byte
	switch format {
	case "svg":
		c, finish = vgsvg.New(f.Size()), func(file []byte) []byte {
			return bytes.ReplaceAll(file, []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
		}
	case "pdf":
		c, finish = outlines{vgpdf.New(f.Size())}, func(file []byte) []byte {
			return pdfDate.ReplaceAll(file, []byte("${1}20000101000000")) // a fixed date gives equal bytes
		}
	default:
		c, finish = pngCanvas{vgimg.NewWith(vgimg.UseWH(f.Size()), vgimg.UseDPI(pngDPI))}, withResolution
	}
	if err := f.paint(ctx, c); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(finish(b.Bytes()))
	return err
}

// pngCanvas is encoded in two thirds of the time that vgimg.PngCanvas takes, into 5 % more bytes.
type pngCanvas struct{ *vgimg.Canvas }

// WriteTo implements vg.CanvasWriterTo.
func (c pngCanvas) WriteTo(w io.Writer) (int64, error) {
	return 0, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, c.Image())
}

// withResolution adds the chunk pHYs (ISO/IEC 15948, 11.3.4.3), which image/png does not write.
func withResolution(file []byte) []byte {
	const header, perMetre = 8 + 25, pngDPI * 10000 / 254 // the signature and the chunk IHDR
	chunk := binary.BigEndian.AppendUint32([]byte("\x00\x00\x00\x09pHYs"), perMetre)
	chunk = append(binary.BigEndian.AppendUint32(chunk, perMetre), 1) // the unit is the metre
	return slices.Insert(file, header, binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))...)
}

var pdfDate = regexp.MustCompile(`(/(?:CreationDate|ModDate) \(D:)[0-9]{14}`)

// outlines draws letters as curves, because vgpdf supports Western European letters only. It also corrects transparent
// colours, which vgpdf darkens.
type outlines struct{ *vgpdf.Canvas }

// SetColor implements vg.Canvas.
func (c outlines) SetColor(colour color.Color) {
	if colour != nil { // nil is black
		colour = straight(colour)
	}
	c.Canvas.SetColor(colour)
}

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
	for _, r := range text { // after an error, a glyph has no segments and numbers are 0
		glyph, _ := face.Face.GlyphIndex(&buf, r)
		kern, _ := face.Face.Kern(&buf, last, glyph, em, xfont.HintingNone)
		at.X += scale * vg.Length(kern)
		last = glyph
		segments, _ := face.Face.LoadGlyph(&buf, glyph, em, nil)
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
		advance, _ := face.Face.GlyphAdvance(&buf, glyph, em, xfont.HintingNone)
		at.X += scale * vg.Length(advance)
	}
}

const (
	plotWidth  = 4.4 * vg.Inch // without the legend
	plotHeight = 3.1 * vg.Inch
	legendGap  = 0.15 * vg.Inch
	chartGap   = 0.15 * vg.Inch

	wideSpan     = 20   // an axis is logarithmic if its largest value exceeds this multiple of the smallest
	labelGap     = 0.02 // the smallest distance of two labels, as a fraction of the axis
	mostMarkers  = 20   // the most markers on a line
	bandStrength = 28   // the opacity of a band, of 255
)

// chart is a plot with its legend to the right.
type chart struct {
	plot          *plot.Plot
	width, height vg.Length // of the plot
	grid          *plotter.Grid
	legend        plot.Legend
}

func newChart(x, y string) *chart {
	f := &chart{plot: plot.New(), width: plotWidth, height: plotHeight, grid: plotter.NewGrid(), legend: plot.NewLegend()}
	for _, axis := range []*plot.Axis{&f.plot.X, &f.plot.Y} {
		axis.Label.TextStyle.Font = sans(10)
		axis.Tick.Label.Font = sans(9)
		axis.Label.Padding, axis.Tick.Length = vg.Points(4), vg.Points(4)
	}
	f.plot.X.Label.Text, f.plot.Y.Label.Text = shownName(x), shownName(y)
	f.plot.BackgroundColor = nil // the canvas is white
	f.legend.TextStyle.Font = sans(9)
	f.legend.Left, f.legend.Top = true, true
	f.legend.ThumbnailWidth = vg.Points(28)
	f.legend.Padding = vg.Points(3)

	f.grid.Horizontal.Color, f.grid.Vertical.Color = gridGrey, nil
	f.plot.Add(f.grid)
	return f
}

// line is a line of a chart, named in its legend.
type line struct {
	number int // selects the colour, dashes and marker
	name   string
	points plotter.XYs
	errors []float64   // the half heights of a pale band around the line, or nil
	marked bool        // with a marker at each point
	ring   *plotter.XY // a point with a ring, or nil; without points there is only the ring
}

// addLines adds lines, with all bands behind all lines. It calls guard.Fail.
func (f *chart) addLines(lines ...line) {
	for _, l := range lines {
		if len(l.points) < 2 || !slices.ContainsFunc(l.errors, func(e float64) bool { return e != 0 }) {
			continue
		}
		n := len(l.points)
		outline := slices.Concat(l.points, l.points)
		for i, e := range l.errors {
			outline[i].Y -= e
			outline[2*n-1-i] = plotter.XY{X: l.points[i].X, Y: l.points[i].Y + e}
		}
		band, err := plotter.NewPolygon(outline)
		guard.Check(guard.Wrap(err, "band of %s", l.name))
		c := color.NRGBAModel.Convert(Palette[l.number%len(Palette)]).(color.NRGBA)
		c.A = bandStrength
		band.Color, band.LineStyle.Width = c, 0
		f.plot.Add(band)
	}
	for _, l := range lines {
		if len(l.points) > 0 {
			drawn, err := plotter.NewLine(l.points)
			guard.Check(guard.Wrap(err, "line of %s", l.name))
			drawn.LineStyle = lineOf(l.number)
			f.plot.Add(drawn)
			thumbs := []plot.Thumbnailer{drawn}
			if l.marked {
				scatter := &plotter.Scatter{XYs: drawn.XYs, GlyphStyle: markerOf(l.number)}
				f.plot.Add(scatter)
				thumbs = append(thumbs, scatter)
			}
			f.legend.Add(shownName(l.name), thumbs...)
		}
		if l.ring != nil {
			f.plot.Add(&plotter.Scatter{
				XYs:        plotter.XYs{*l.ring},
				GlyphStyle: draw.GlyphStyle{Color: Palette[l.number%len(Palette)], Radius: vg.Points(6), Shape: ring{}},
			})
		}
	}
}

// ring is a circle that is thick enough for print.
type ring struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (ring) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: vg.Points(1.4)})
	var circle vg.Path
	circle.Move(vg.Point{X: at.X + sty.Radius, Y: at.Y})
	circle.Arc(at, sty.Radius, 0, 2*math.Pi)
	circle.Close()
	c.Stroke(circle)
}

// figure returns the chart, with or without its legend.
func (f *chart) figure(legend bool) *Figure {
	var beside vg.Length // the width of the legend and the gap before it
	if legend {
		size := f.legend.Rectangle(draw.Canvas{}).Size()
		beside, f.height = legendGap+size.X, max(f.height, size.Y)
	}
	return &Figure{f.width + beside, f.height, func(ctx context.Context, c draw.Canvas) error {
		f.plot.Draw(draw.Crop(c, 0, -beside, 0, 0))
		if legend {
			f.legend.Draw(draw.Crop(c, f.width+legendGap, 0, 0, 0))
		}
		return ctx.Err()
	}}
}

// labelX puts ticks with labels on the horizontal axis, without labels that would touch.
func (f *chart) labelX(at []float64, labels []string) {
	axis := &f.plot.X
	axis.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		ticks := make([]plot.Tick, len(at))
		end := 0.0 // of the last label, as a fraction of the axis
		for i, x := range at {
			ticks[i].Value = x
			share, half := axis.Scale.Normalize(lo, hi, x), float64(axis.Tick.Label.Width(labels[i])/f.width)/2
			if share-half > end || i == 0 {
				ticks[i].Label, end = labels[i], share+half+labelGap
			}
		}
		return ticks
	})
}

// wholeX is labelX for whole numbers.
func (f *chart) wholeX(numbers []int) {
	f.labelX(lists.Map(numbers, func(n int) float64 { return float64(n) }), lists.Map(numbers, strconv.Itoa))
}

// roundTicks ends an axis at ticks around its data, and gives it at most nine round ticks in percent, or six plain
// ones.
func roundTicks(axis *plot.Axis, percent bool) {
	span, unit, steps, least := max(axis.Max-axis.Min, math.SmallestNonzeroFloat32), 1.0, 5, 0.0
	if percent {
		unit, steps, least = 100, 8, 0.1
	} else if largest := max(math.Abs(axis.Min), math.Abs(axis.Max)); span < 1e-9*largest || largest == 0 {
		span = max(largest, 1)
	}
	enough := unit * span / float64(steps) / (1 + 1e-9)
	step := math.Pow(10, math.Ceil(math.Log10(enough)))
	if step/5 >= enough { // the steps are … 0.1, 0.2, 0.5, 1, 2, 5 …
		step /= 5
	} else if step/2 >= enough {
		step /= 2
	}
	step = max(step, least)
	apart := step / unit
	first := int(math.Floor(axis.Min/apart + 1e-9))
	last := max(int(math.Ceil(axis.Max/apart-1e-9)), first+1)
	var ticks plot.ConstantTicks
	for i := first; i <= last; i++ {
		ticks = append(ticks, plot.Tick{Value: float64(i) * apart, Label: strconv.FormatFloat(step*float64(i), 'g', 6, 64)})
	}
	axis.Min, axis.Max = ticks[0].Value, ticks[len(ticks)-1].Value
	axis.Tick.Marker = ticks
}

// Palette is Okabe and Ito's ("Color Universal Design", 2008), which is safe for all kinds of colour vision, without
// its yellow, which is faint on white. Orange, which resembles vermilion, comes late.
var Palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // blue
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, // bluish green
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	color.RGBA{0x00, 0x00, 0x00, 0xff}, // black
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, // orange
	color.RGBA{0x56, 0xb4, 0xe9, 0xff}, // sky blue
}

// markers and dashes distinguish lines in grey print and beyond the Palette.
var (
	markers = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{},
		draw.RingGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{},
	}
	dashes = [][]vg.Length{nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}}
)

var (
	gridGrey  = color.Gray{0xdd}
	noteGrey  = color.Gray{0x55}
	frameGrey = color.Gray{0xbb}
	white     = color.RGBA{0xff, 0xff, 0xff, 0xff}
)

func lineOf(i int) draw.LineStyle {
	return draw.LineStyle{Color: Palette[i%len(Palette)], Width: vg.Points(1.3), Dashes: dashes[i%len(dashes)]}
}

func markerOf(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: Palette[i%len(Palette)], Radius: vg.Points(2.8), Shape: markers[i%len(markers)]}
}

// Looks numbers methods, so that a method has the same colour, marker and dashes in all figures.
type Looks map[string]int

// NewLooks numbers the methods of an experiment in their order. The methods of a sweep share one number.
func NewLooks(methods []string, sweeps []spec.Sweep) Looks {
	looks := Looks{}
	for _, method := range methods {
		name := method
		if sweep, ok := lists.Find(sweeps, func(s spec.Sweep) bool { return slices.Contains(s.Methods, method) }); ok {
			name = sweep.Name
		}
		if _, ok := looks[name]; !ok {
			looks[name] = looks.count()
		}
		looks[method] = looks[name]
	}
	return looks
}

func (l Looks) count() int { return len(lists.Unique(slices.Collect(maps.Values(l)))) }

// shorten fits a name by an ellipsis in its middle, because both ends of file names matter.
func shorten(name string, fits func(string) bool) string {
	if fits(name) {
		return name
	}
	letters := []rune(strings.TrimSpace(name))
	if n := len(letters); n > 2*longestShown { // longer names fit nowhere
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

// fitName returns a name as one line of at most this width.
func fitName[T int | vg.Length](name string, width func(string) T, most T) string {
	return shorten(plaintext.Line(name), func(s string) bool { return width(s) <= most })
}

// Evenly returns at most n of the items, equally spaced.
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
