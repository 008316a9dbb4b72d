package figure

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

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
	n, _ := c.Values.Dims()
	if n != len(c.Classes) {
		return nil, fmt.Errorf("coefficients of %s: %d samples, but class numbers of %d", c.Method, n, len(c.Classes))
	}
	for i, class := range c.Classes {
		if class < 0 || class >= len(classes) {
			return nil, fmt.Errorf("coefficients of %s: sample %d has class %d; expected 0 to %d", c.Method, i+1, class, len(classes)-1)
		}
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

// distinctClasses returns the distinct classes of samples.
func distinctClasses(classes []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(classes)))
}

// markClasses draws the borders and names of the classes at the square of distances, below the coefficients.
func markClasses(img *image.RGBA, own []int, classes []string, square image.Rectangle, height int) {
	const letters = 10 // the height of names
	face, border := sheetFace(10), Palette[1]
	left, top, side := square.Min.X, square.Min.Y, square.Dx()
	lined := side >= linedClass*len(distinctClasses(own))
	sizes := map[int]int{}
	for _, class := range own {
		sizes[class]++
	}
	place := func(i int) int { return int(math.Round(float64(i) * float64(side) / float64(len(own)))) }
	from, end := 0, 0 // the ends of the class and of the last name
	for _, class := range distinctClasses(own) {
		a, b := place(from), place(from+sizes[class])
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
		from += sizes[class]
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
