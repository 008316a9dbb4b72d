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
	coefficientSide  = 600 // the largest side in pixels
	coefficientBand  = 150 // the approximate height in pixels of the k rows
	coefficientGap   = 10
	coefficientNames = 120
	markLength       = 5
	linedClass       = 20 // the smallest mean width of classes with lines between them
)

// CoefficientPicture draws the coefficients of n samples, sorted by class. Above is a row for each basis vector; unless
// values are negative, rows are sorted by the class that uses them most. Below are the Euclidean distances between
// samples. With many samples, a pixel shows the mean of several. White is the 99th percentile of coefficients or
// distances; black is 0, or the 1st percentile if some are negative.
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
	order := orderBy(c.Classes)

	pool := (n + coefficientSide - 1) / coefficientSide // samples in each cell
	cells := (n + pool - 1) / pool
	scale := coefficientSide / cells
	side := cells * scale
	lo, hi := percentiles(c.Values)
	k := c.Values.RawMatrix().Cols
	rows := orderBy(make([]int, k))
	if lo == 0 {
		rows = byClass(c)
	}
	strong := pooledCoefficients(c.Values, order, rows, pool)
	band := max(2, coefficientBand/k)
	far, err := pooledDistances(ctx, c.Values, order, pool)
	if err != nil {
		return nil, err
	}

	face, names := sheetFace(10), 0
	for _, class := range distinctClasses(c.Classes) {
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
	markClasses(img, c, classes, image.Rect(left, top, left+side, top+side), k*band)
	return img, nil
}

// distinctClasses returns the distinct classes of samples.
func distinctClasses(classes []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(classes)))
}

// markClasses draws the borders and names of the classes at the square of distances, below the coefficients.
func markClasses(img *image.RGBA, c Coefficients, classes []string, square image.Rectangle, height int) {
	const letters = 10 // the height of names
	face, border := sheetFace(10), Palette[1]
	left, top, side := square.Min.X, square.Min.Y, square.Dx()
	lined := side >= linedClass*len(distinctClasses(c.Classes))
	sizes := map[int]int{}
	for _, class := range c.Classes {
		sizes[class]++
	}
	place := func(i int) int { return int(math.Round(float64(i) * float64(side) / float64(len(c.Classes)))) }
	from, end := 0, 0 // the ends of the class and of the last name
	for _, class := range distinctClasses(c.Classes) {
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
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
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

// pooledCoefficients returns the means over pool samples each, k×cells, with rows ordered by columns.
func pooledCoefficients(v *mat.Dense, order, columns []int, pool int) *mat.Dense {
	n := len(order)
	out := mat.NewDense(len(columns), (n+pool-1)/pool, nil)
	for at, i := range order {
		share := 1 / float64(min(pool, n-at/pool*pool))
		for row, j := range columns {
			out.Set(row, at/pool, out.At(row, at/pool)+share*v.At(i, j))
		}
	}
	return out
}

// mostPooled limits the samples of a cell whose distances are averaged, to limit the time.
const mostPooled = 8

// pooledDistances returns the mean distances between cells of pool samples, or of mostPooled among them, cells×cells.
func pooledDistances(ctx context.Context, v *mat.Dense, order []int, pool int) (*mat.Dense, error) {
	members := make([][]int, 0, (len(order)+pool-1)/pool)
	for cell := range slices.Chunk(order, pool) {
		members = append(members, Evenly(cell, mostPooled))
	}
	out := mat.NewDense(len(members), len(members), nil)
	for a, rows := range members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for b, columns := range members[:a+1] {
			var sum float64
			for _, i := range rows {
				for _, j := range columns {
					sum += distance(v.RawRowView(i), v.RawRowView(j))
				}
			}
			mean := sum / float64(len(rows)*len(columns))
			out.Set(a, b, mean)
			out.Set(b, a, mean)
		}
	}
	return out, nil
}

// distance returns ‖x − y‖. It falls back to the slower floats.Distance if squares overflow or underflow.
func distance(x, y []float64) float64 {
	y = y[:len(x)]
	var sum float64
	for i, v := range x {
		sum += (v - y[i]) * (v - y[i])
	}
	if sum > 1e-280 && !math.IsInf(sum, 0) {
		return math.Sqrt(sum)
	}
	return floats.Distance(x, y, 2)
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
