package figure

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

const (
	// MostConfused is the largest number of classes that a report draws. Larger pictures would take gigabytes and be
	// unreadable.
	MostConfused = 1000

	confusionSide = 540 // the approximate side in points for many classes
	largestCell   = 21
	smallestCell  = 2
	numberedCell  = 11 // the smallest side of a cell with a number
	widestName    = 100
	nameGap       = 4
	titleHeight   = 18
)

// Confusion draws a confusion matrix, classes×classes, with a row for each true class and a column for each predicted
// class. Cells show the share of the row in percent, from white to blue.
func Confusion(counts [][]int, classes []string) (*Figure, error) {
	n := len(counts)
	if n == 0 {
		return nil, fmt.Errorf("confusion: %w", ErrNoData)
	}
	cell := min(max(vg.Length(confusionSide)/vg.Length(n), smallestCell), largestCell)
	side := cell * vg.Length(n)
	names := textStyle(min(9, max(cell*0.85, 6)), text.XRight)
	shown := lists.Map(classes[:n], func(class string) string { return fitName(class, names.Width, widestName) })
	widest := widestOf(shown, names)
	f := &Figure{w: titleHeight + widest + nameGap + side, h: titleHeight + widest + nameGap + side}
	f.draw = func(ctx context.Context, to draw.Canvas) error {
		left, top := to.Max.X-side, to.Max.Y
		x := func(column int) vg.Length { return left + cell*vg.Length(column) }
		y := func(row int) vg.Length { return top - cell*vg.Length(row) }
		centred := textStyle(min(9, cell*0.5), text.XCenter)
		for i, row := range counts {
			if err := ctx.Err(); err != nil {
				return err
			}
			all := 0
			for _, n := range row {
				all += n
			}
			for j, n := range row {
				if n <= 0 {
					continue
				}
				share := float64(n) / float64(all)
				square := vg.Rectangle{Min: vg.Point{X: x(j), Y: y(i + 1)}, Max: vg.Point{X: x(j + 1), Y: y(i)}}
				to.SetColor(mix(white, Palette[0].(color.RGBA), share))
				to.Fill(square.Path())
				if cell >= numberedCell {
					style := centred
					if share > 0.5 {
						style.Color = color.White
					}
					to.FillText(style, square.Min.Add(square.Max).Scale(0.5), strconv.Itoa(int(math.Round(100*share))))
				}
			}
		}
		for i := range n + 1 {
			style := draw.LineStyle{Color: gridGrey, Width: min(0.5, cell/10)}
			if i == 0 || i == n {
				style = draw.LineStyle{Color: color.Black, Width: 0.6}
			}
			to.StrokeLine2(style, left, y(i), x(n), y(i))
			to.StrokeLine2(style, x(i), top, x(i), y(n))
		}
		down := names
		down.Rotation = math.Pi / 2
		for i := 0; i < n; i += int(math.Ceil(float64(names.Font.Size / cell))) {
			to.FillText(names, vg.Point{X: left - nameGap, Y: y(i) - cell/2}, shown[i])
			to.FillText(down, vg.Point{X: x(i) + cell/2, Y: y(n) - nameGap}, shown[i])
		}
		title := textStyle(10, text.XCenter)
		turned := title
		turned.Rotation = math.Pi / 2
		to.FillText(turned, vg.Point{X: to.Min.X + titleHeight/3, Y: top - side/2}, "True class")
		to.FillText(title, vg.Point{X: left + side/2, Y: to.Min.Y + titleHeight/3}, "Predicted class")
		return nil
	}
	return f, nil
}

const (
	rankAxis  = 260 // the length of the axis in points
	rankNames = 150 // the widest name
	rankTop   = 22  // above the axis
	rankBar   = 7   // between two bars
	rankLine  = 15  // between two names
)

func textStyle(size vg.Length, align text.XAlignment) text.Style {
	return text.Style{
		Color: color.Black, Font: sans(size), Handler: plot.DefaultTextHandler, XAlign: align, YAlign: text.YCenter,
	}
}

func widestOf(names []string, style text.Style) vg.Length {
	return slices.Max(append(lists.Map(names, style.Width), 0))
}

// Ranks draws a critical-difference diagram (Demšar 2006): the average ranks of methods on a line, the best on the
// left, and a bar over each group of methods without significant differences.
func Ranks(methods []string, ranks []float64, groups [][]int) (*Figure, error) {
	n := len(methods)
	if n < 2 {
		return nil, fmt.Errorf("ranks: %w", ErrNoData)
	}
	style := textStyle(10, text.XRight)
	labels := make([]string, n)
	for i, m := range methods {
		labels[i] = fmt.Sprintf("%s (%.2f)", fitName(m, style.Width, rankNames), ranks[i])
	}
	widest := widestOf(labels, style)
	half := (n + 1) / 2 // the number of names on the left
	f := &Figure{w: rankAxis + 2*(widest+12), h: vg.Length(rankTop + rankBar*(len(groups)+1) + rankLine*half)}
	f.draw = func(_ context.Context, to draw.Canvas) error {
		left, top := to.Min.X+widest+12, to.Max.Y-rankTop
		x := func(rank float64) vg.Length { return left + vg.Length(rank-1)/vg.Length(n-1)*rankAxis }
		line := draw.LineStyle{Color: color.Black, Width: 0.8}
		to.StrokeLine2(line, x(1), top, x(float64(n)), top)
		numbers := style
		numbers.XAlign = text.XCenter
		for r := 1; r <= n; r += int(math.Ceil(float64(n) / 12)) {
			to.StrokeLine2(line, x(float64(r)), top, x(float64(r)), top+4)
			to.FillText(numbers, vg.Point{X: x(float64(r)), Y: top + 12}, strconv.Itoa(r))
		}
		for i, g := range groups {
			y := top - vg.Length(rankBar*(i+1))
			to.StrokeLine2(draw.LineStyle{Color: Palette[0], Width: 3}, x(ranks[g[0]])-3, y, x(ranks[g[len(g)-1]])+3, y)
		}
		names := top - vg.Length(rankBar*(len(groups)+1))
		for place, i := range orderBy(ranks) {
			row, side, gap, style := place, x(1)-6, vg.Length(-4), style
			if place >= half {
				row, side, gap = n-1-place, x(float64(n))+6, 4
				style.XAlign = text.XLeft
			}
			y := names - vg.Length(rankLine)*(vg.Length(row)+0.5)
			to.StrokeLine2(line, x(ranks[i]), top, x(ranks[i]), y)
			to.StrokeLine2(line, x(ranks[i]), y, side, y)
			to.FillText(style, vg.Point{X: side + gap, Y: y}, labels[i])
		}
		return nil
	}
	return f, nil
}

// Coefficients is a method's representation of samples with known classes.
type Coefficients struct {
	Method string
	// Values is n×k, one sample a row. Classes holds the class of each sample, an index of the class names.
	Values  *mat.Dense
	Classes []int
}

const (
	MostSamples      = 600 // the most samples of a picture, and its largest side in pixels
	coefficientBand  = 150 // the approximate height in pixels of the k rows
	coefficientGap   = 10
	coefficientNames = 120
	markLength       = 5
	linedClass       = 20 // the smallest mean width of classes with lines between them
)

// CoefficientPicture draws the coefficients of samples, sorted by class: of MostSamples, equally spaced, if there are more.
// Above is a row for each basis vector; unless values are negative, rows are sorted by the class that uses them most.
// Below are the Euclidean distances between samples. White is the 99th percentile of coefficients or distances; black is
// 0, or the 1st percentile if some are negative.
func CoefficientPicture(ctx context.Context, c Coefficients, classes []string) (image.Image, error) {
	if n, _ := c.Values.Dims(); n != len(c.Classes) {
		return nil, fmt.Errorf("coefficients of %s: %d samples, but class numbers of %d", c.Method, n, len(c.Classes))
	}
	shown := Evenly(orderBy(c.Classes), MostSamples)
	own := matrix.Take(c.Classes, shown)
	scale := MostSamples / len(shown)
	side := len(shown) * scale
	lo, hi := percentiles(c.Values)
	k := c.Values.RawMatrix().Cols
	rows := matrix.Range(k)
	if lo == 0 {
		rows = byClass(c)
	}
	band := max(2, coefficientBand/k)
	strong, far := mat.NewDense(k, len(shown), nil), mat.NewDense(len(shown), len(shown), nil)
	for a, i := range shown {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for row, j := range rows {
			strong.Set(row, a, c.Values.At(i, j))
		}
		for b, j := range shown[:a] {
			distance := floats.Distance(c.Values.RawRowView(i), c.Values.RawRowView(j), 2)
			far.Set(a, b, distance)
			far.Set(b, a, distance)
		}
	}

	face, names := sheetFace(10), 0
	for _, class := range distinctClasses(own) {
		names = max(names, min(coefficientNames, textWidth(face, plaintext.Line(classes[class]))))
	}
	left, top := names+markLength+4, k*band+coefficientGap
	img := image.NewRGBA(image.Rect(0, 0, left+side+1, top+side+1))
	fillRect(img, img.Rect, color.White)
	fillRect(img, image.Rect(left-1, 0, left+side+1, k*band+2), frameGrey)
	paint(img, strong, image.Pt(left, 1), scale, band, lo, hi)
	lo, hi = percentiles(far)
	fillRect(img, image.Rect(left-1, top-1, left+side+1, top+side+1), frameGrey)
	paint(img, far, image.Pt(left, top), scale, scale, lo, hi)
	markClasses(img, own, classes, image.Rect(left, top, left+side, top+side), k*band)
	return img, nil
}

func distinctClasses(classes []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(classes)))
}

// markClasses draws the borders and names of the classes at the square of distances, below the coefficients.
func markClasses(img *image.RGBA, own []int, classes []string, square image.Rectangle, height int) {
	const letters = 10 // the height of names
	face, border := sheetFace(10), Palette[1]
	left, top, side := square.Min.X, square.Min.Y, square.Dx()
	lined := side >= linedClass*len(distinctClasses(own))
	place := func(i int) int { return int(math.Round(float64(i) * float64(side) / float64(len(own)))) }
	end := 0 // of the last name
	for from := 0; from < len(own); {
		class := own[from]
		to, _ := slices.BinarySearch(own, class+1)
		a, b := place(from), place(to)
		if from > 0 {
			above, right := height+2, left
			if lined {
				above, right = 1, left+side
				fillRect(img, image.Rect(left+a, top, left+a+1, top+side), border)
			}
			fillRect(img, image.Rect(left+a, above, left+a+1, top), border)
			fillRect(img, image.Rect(left-markLength, top+a, right, top+a+1), border)
		}
		if middle := (a + b) / 2; middle-letters/2 >= end {
			name := fitName(classes[class], func(s string) int { return textWidth(face, s) }, coefficientNames)
			drawText(img, face, color.Black, name, left-markLength-2-textWidth(face, name), min(top+middle+letters/2-1, top+side-1))
			end = middle + letters/2 + 1
		}
		from = to
	}
}

// orderBy returns the indices that sort values in ascending order, stably.
func orderBy[T cmp.Ordered](values []T) []int {
	order := matrix.Range(len(values))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return order
}

// byClass sorts the basis vectors by the class whose samples use them most on average.
func byClass(c Coefficients) []int {
	_, k := c.Values.Dims()
	use := mat.NewDense(k, slices.Max(c.Classes)+1, nil)
	size := make([]float64, slices.Max(c.Classes)+1)
	for _, class := range c.Classes {
		size[class]++
	}
	for i, class := range c.Classes {
		for j := range k {
			use.Set(j, class, use.At(j, class)+c.Values.At(i, j)/size[class])
		}
	}
	main := make([]int, k)
	for j := range main {
		main[j] = floats.MaxIdx(use.RawRowView(j))
	}
	return orderBy(main)
}

// percentiles returns the values for black and white: see CoefficientPicture.
func percentiles(v *mat.Dense) (lo, hi float64) {
	sorted := slices.Sorted(slices.Values(mat.DenseCopyOf(v).RawMatrix().Data))
	last := float64(len(sorted) - 1)
	if sorted[0] < 0 {
		lo = sorted[int(math.Floor(0.01*last))]
	}
	if hi = sorted[int(math.Ceil(0.99*last))]; hi <= lo {
		hi = sorted[len(sorted)-1]
	}
	return lo, hi
}

// paint draws each value as a rectangle, from black at lo to white at hi.
func paint(img *image.RGBA, values *mat.Dense, at image.Point, width, height int, lo, hi float64) {
	rows, columns := values.Dims()
	for i := range rows {
		for j := range columns {
			grey := color.Gray{shade(min(max(values.At(i, j), lo), hi), lo, hi)}
			fillRect(img, image.Rect(0, 0, width, height).Add(at).Add(image.Pt(j*width, i*height)), grey)
		}
	}
}
