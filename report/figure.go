package report

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// ErrNoData is returned for a figure that would be empty.
var ErrNoData = errors.New("nothing to draw")

const (
	plotWidth  = 4.4 * vg.Inch // without the legend
	plotHeight = 3.1 * vg.Inch
	legendGap  = 0.15 * vg.Inch
	edge       = 0.08 * vg.Inch
	pngDPI     = 200
)

// palette is Okabe and Ito's, which readers with any colour vision tell apart
// ("Color Universal Design", 2008), without its yellow, which fades on white.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // blue
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, // bluish green
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, // orange
	color.RGBA{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	color.RGBA{0x00, 0x00, 0x00, 0xff}, // black
}

// markers and dashes tell lines apart where colours do not: in grey print, and
// beyond the length of the palette.
var (
	markers = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{},
		draw.RingGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{},
	}
	dashes = [][]vg.Length{nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}}
)

var gridGrey = color.Gray{0xdd}

// lineOf and markerOf give the i-th method its look, the same in every figure.
func lineOf(i int) draw.LineStyle {
	return draw.LineStyle{Color: palette[i%len(palette)], Width: vg.Points(1.3), Dashes: dashes[i%len(dashes)]}
}

func markerOf(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: palette[i%len(palette)], Radius: vg.Points(2.8), Shape: markers[i%len(markers)]}
}

// A Figure is a plot with its legend to the right of it, where it hides
// nothing.
type Figure struct {
	plot                  *plot.Plot
	plotWidth, plotHeight vg.Length
	grid                  *plotter.Grid
	legend                plot.Legend
	legendWidth           vg.Length // with the gap before it
}

// newFigure returns an empty figure with the given names of its axes.
func newFigure(x, y string) *Figure {
	f := &Figure{plot: plot.New(), plotWidth: plotWidth, plotHeight: plotHeight, grid: plotter.NewGrid(), legend: plot.NewLegend()}
	sans := func(s *text.Style, size vg.Length) {
		s.Font = font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
	}
	for _, axis := range []*plot.Axis{&f.plot.X, &f.plot.Y} {
		sans(&axis.Label.TextStyle, 10)
		sans(&axis.Tick.Label, 9)
		axis.Label.Padding, axis.Tick.Length = vg.Points(4), vg.Points(4)
	}
	f.plot.X.Label.Text, f.plot.Y.Label.Text = x, y
	sans(&f.legend.TextStyle, 9)
	f.legend.Left, f.legend.Top = true, true
	f.legend.ThumbnailWidth = vg.Points(28)
	f.legend.Padding = vg.Points(3)

	f.grid.Horizontal.Color, f.grid.Vertical.Color = gridGrey, nil
	f.plot.Add(f.grid)
	return f
}

// addLine adds the i-th method's line, with markers at its points if asked for.
func (f *Figure) addLine(i int, name string, points plotter.XYs, marked bool) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return fmt.Errorf("line of %s: %w", name, err)
	}
	line.LineStyle = lineOf(i)
	f.plot.Add(line)
	thumbs := []plot.Thumbnailer{line}
	if marked {
		scatter, err := plotter.NewScatter(points)
		if err != nil {
			return fmt.Errorf("markers of %s: %w", name, err)
		}
		scatter.GlyphStyle = markerOf(i)
		f.plot.Add(scatter)
		thumbs = append(thumbs, scatter)
	}
	f.legend.Add(name, thumbs...)
	return nil
}

// addLegend makes room for the legend. Call it when all lines are there.
func (f *Figure) addLegend() {
	size := f.legend.Rectangle(draw.Canvas{}).Size()
	f.legendWidth = legendGap + size.X
	f.plotHeight = max(f.plotHeight, size.Y)
}

// size returns the width and height of the whole figure.
func (f *Figure) size() (w, h vg.Length) {
	return f.plotWidth + f.legendWidth + 2*edge, f.plotHeight + 2*edge
}

// draw draws plot and legend side by side.
func (f *Figure) draw(c vg.CanvasSizer) {
	all := draw.New(c)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	all = draw.Crop(all, edge, -edge, edge, -edge)
	f.plot.Draw(draw.Crop(all, 0, -f.legendWidth, 0, 0))
	if f.legendWidth > 0 {
		f.legend.Draw(draw.Crop(all, f.plotWidth+legendGap, 0, 0, 0))
	}
}

// PNG writes the figure as a picture of 200 dots an inch.
func (f *Figure) PNG(w io.Writer) error {
	width, height := f.size()
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI))
	f.draw(c)
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// SVG writes the figure as a scalable drawing. Its letters are text in the
// font Liberation Sans, or in Arial or Helvetica, which have the same widths.
func (f *Figure) SVG(w io.Writer) error {
	c := vgsvg.New(f.size())
	f.draw(c)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	svg := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	_, err := w.Write(svg)
	return err
}

// wholeTicks labels the given values as far as there is room: neighbours
// closer than 1/24 of the axis are left without a label.
func wholeTicks(values []int) plot.TickerFunc {
	return func(lo, hi float64) []plot.Tick {
		ticks := make([]plot.Tick, len(values))
		last := math.Inf(-1)
		for i, v := range values {
			ticks[i].Value = float64(v)
			if float64(v)-last >= (hi-lo)/24 {
				ticks[i].Label = strconv.Itoa(v)
				last = float64(v)
			}
		}
		return ticks
	}
}

// inPercent gives an axis of shares ticks in percent, not more than nine, and
// extends it to the next tick on both sides. Call it when all data are there.
func inPercent(axis *plot.Axis) {
	steps := []int{1, 2, 5, 10, 20, 50, 100, 200, 500} // in thousandths
	const most = 8
	fit := slices.IndexFunc(steps, func(step int) bool {
		return (axis.Max-axis.Min)*1000 <= float64(most*step)
	})
	if fit < 0 {
		fit = len(steps) - 1
	}
	step := steps[fit]
	first := int(math.Floor(axis.Min * 1000 / float64(step)))
	last := max(int(math.Ceil(axis.Max*1000/float64(step))), first+1)
	var ticks plot.ConstantTicks
	for i := first; i <= last; i++ {
		ticks = append(ticks, plot.Tick{
			Value: float64(i*step) / 1000,
			Label: strconv.FormatFloat(float64(i*step)/10, 'f', -1, 64),
		})
	}
	axis.Min, axis.Max = ticks[0].Value, ticks[len(ticks)-1].Value
	axis.Tick.Marker = ticks
}
