package figure

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed4492f2cd/partwise/eval"
)

const (
	plotWidth  = 4.4 * vg.Inch // without the legend
	plotHeight = 3.1 * vg.Inch
	legendGap  = 0.15 * vg.Inch
	chartGap   = 0.15 * vg.Inch
)

// chart is a plot with its legend to the right.
type chart struct {
	plot                  *plot.Plot
	plotWidth, plotHeight vg.Length
	grid                  *plotter.Grid
	legend                plot.Legend
	legendWidth           vg.Length // with the gap before it
}

// newChart returns an empty chart whose axes have these labels.
func newChart(x, y string) *chart {
	f := &chart{plot: plot.New(), plotWidth: plotWidth, plotHeight: plotHeight, grid: plotter.NewGrid(), legend: plot.NewLegend()}
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

// mostMarkers is the largest number of points that are marked on a line.
const mostMarkers = 20

// addLine adds the i-th method's line, with markers at its points if asked for.
func (f *chart) addLine(i int, name string, points plotter.XYs, marked bool) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return fmt.Errorf("line of %s: %w", name, err)
	}
	line.LineStyle = lineOf(i)
	f.plot.Add(line)
	thumbs := []plot.Thumbnailer{line}
	if marked {
		scatter := &plotter.Scatter{XYs: line.XYs, GlyphStyle: markerOf(i)}
		f.plot.Add(scatter)
		thumbs = append(thumbs, scatter)
	}
	f.legend.Add(shownName(name), thumbs...)
	return nil
}

// bandStrength is the opacity of a band, of 255. Bands overlap each other.
const bandStrength = 28

// addBand adds a band of the i-th line from below to above, unless nothing has a width.
func (f *chart) addBand(i int, below, above plotter.XYs) error {
	if len(below) < 2 || slices.Equal(below, above) {
		return nil
	}
	outline := slices.Clone(above)
	slices.Reverse(outline)
	band, err := plotter.NewPolygon(slices.Concat(below, outline))
	if err != nil {
		return err
	}
	c := color.NRGBAModel.Convert(Palette[i%len(Palette)]).(color.NRGBA)
	c.A = bandStrength
	band.Color, band.LineStyle.Width = c, 0
	f.plot.Add(band)
	return nil
}

// addRing marks a point of the i-th line.
func (f *chart) addRing(i int, x, y float64) {
	f.plot.Add(&plotter.Scatter{
		XYs:        plotter.XYs{{X: x, Y: y}},
		GlyphStyle: draw.GlyphStyle{Color: Palette[i%len(Palette)], Radius: vg.Points(6), Shape: ring{}},
	})
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

// addLegend reserves space for the legend. Call it when all lines are there.
func (f *chart) addLegend() {
	size := f.legend.Rectangle(draw.Canvas{}).Size()
	f.legendWidth = legendGap + size.X
	f.plotHeight = max(f.plotHeight, size.Y)
}

func (f *chart) size() (w, h vg.Length) { return f.plotWidth + f.legendWidth, f.plotHeight }

func (f *chart) draw(ctx context.Context, c draw.Canvas) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.plot.Draw(draw.Crop(c, 0, -f.legendWidth, 0, 0))
	if f.legendWidth > 0 {
		f.legend.Draw(draw.Crop(c, f.plotWidth+legendGap, 0, 0, 0))
	}
	return nil
}

// chartRow is a row of charts.
type chartRow []*chart

func (r chartRow) size() (w, h vg.Length) {
	for _, f := range r {
		width, height := f.size()
		w, h = w+width+chartGap, max(h, height)
	}
	return w - chartGap, h
}

func (r chartRow) draw(ctx context.Context, c draw.Canvas) error {
	left := c.Min.X
	for _, f := range r {
		width, _ := f.size()
		part := c
		part.Min.X, part.Max.X = left, left+width
		if err := f.draw(ctx, part); err != nil {
			return err
		}
		left += width + chartGap
	}
	return nil
}

// wholeTicks labels the values that are at least 1/24 of the axis apart.
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

// scoreTicks gives an axis ticks in the unit of a score. Call it when all data are there.
func scoreTicks(s eval.Score, axis *plot.Axis) {
	if s.Unit == eval.UnitPercent {
		percentTicks(axis)
	} else {
		numberTicks(axis)
	}
}

// percentTicks gives an axis of shares at most nine ticks in percent, and extends it to the next
// tick on both sides.
func percentTicks(axis *plot.Axis) {
	step := max(roundStep(100*(axis.Max-axis.Min), 8), 0.1)
	roundTicks(axis, step/100, func(i int) string { return strconv.FormatFloat(math.Round(10*step*float64(i))/10, 'f', -1, 64) })
}

// numberTicks gives an axis at most six round ticks, and extends it to the next tick on both sides.
func numberTicks(axis *plot.Axis) {
	span := axis.Max - axis.Min
	if largest := max(math.Abs(axis.Min), math.Abs(axis.Max)); span < 1e-9*largest || span == 0 {
		span = max(largest, 1)
	}
	step := roundStep(span, 5)
	roundTicks(axis, step, func(i int) string { return strconv.FormatFloat(step*float64(i), 'g', 6, 64) })
}

// roundStep returns the smallest of … 0.1, 0.2, 0.5, 1, 2, 5 … that divides the span into at most
// this many steps; 0 for an empty span.
func roundStep(span float64, most int) float64 {
	if !(span > 0) {
		return 0
	}
	for exponent := math.Floor(math.Log10(span)) - 2; ; exponent++ {
		for _, digit := range []float64{1, 2, 5} {
			if step := digit * math.Pow(10, exponent); span <= float64(most)*step*(1+1e-9) {
				return step
			}
		}
	}
}

// roundTicks gives an axis the multiples of a step as ticks, and ends it at them.
func roundTicks(axis *plot.Axis, step float64, label func(multiple int) string) {
	first := int(math.Floor(axis.Min/step + 1e-9))
	last := max(int(math.Ceil(axis.Max/step-1e-9)), first+1)
	var ticks plot.ConstantTicks
	for i := first; i <= last; i++ {
		ticks = append(ticks, plot.Tick{Value: float64(i) * step, Label: label(i)})
	}
	axis.Min, axis.Max = ticks[0].Value, ticks[len(ticks)-1].Value
	axis.Tick.Marker = ticks
}
