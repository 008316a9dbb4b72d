package vocab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Grid divides an image into cells, each with a histogram of its own. The zero value is the whole image.
//
// Cells are numbered from 0 through one division after the other, each row by row; the column of a word is
// cell·words + word.
type Grid []features.Cells

// UnmarshalText reads a grid that is written as rows×columns, for example "4x4", or as several of them, such as
// the spatial pyramid "1x1+2x2+4x4" (Lazebnik et al. 2006, without their weights). It implements
// [encoding.TextUnmarshaler].
func (g *Grid) UnmarshalText(text []byte) error {
	var read Grid
	for part := range strings.SplitSeq(string(text), "+") {
		rows, cols, _ := strings.Cut(part, "x")
		r, err := strconv.Atoi(rows)
		c, err2 := strconv.Atoi(cols)
		const most = 1 << 10
		switch {
		case err != nil || err2 != nil:
			return fmt.Errorf(`grid %q: expected rows×columns, such as "4x4" or "1x1+2x2+4x4"`, text)
		case min(r, c) < 1 || max(r, c) > most:
			return fmt.Errorf("grid %q: %d×%d cells; expected 1 to %d", text, r, c, most)
		}
		read = append(read, features.Cells{Rows: r, Columns: c})
	}
	*g = read
	return nil
}

// String returns what UnmarshalText reads.
func (g Grid) String() string {
	var parts []string
	for _, c := range g.divisions() {
		parts = append(parts, fmt.Sprintf("%dx%d", c.Rows, c.Columns))
	}
	return strings.Join(parts, "+")
}

// GoString is what the cache's keys of histograms hold, so its form stays.
func (g Grid) GoString() string {
	parts := make([]string, len(g))
	for i, c := range g {
		parts[i] = fmt.Sprintf("vocab.Cells{Rows:%d, Cols:%d}", c.Rows, c.Columns)
	}
	return "vocab.Grid{" + strings.Join(parts, ", ") + "}"
}

func (g Grid) divisions() Grid {
	if len(g) == 0 {
		return Grid{{Rows: 1, Columns: 1}}
	}
	return g
}

// Len returns the number of cells.
func (g Grid) Len() (cells int) {
	for _, c := range g.divisions() {
		cells += c.Rows * c.Columns
	}
	return cells
}

// AppendCells appends the cell that holds the place x, y, in pixels, of an image in each of the grid's
// divisions. A place on a border is in the cell to the right or below, one outside of the image in the nearest.
func (g Grid) AppendCells(cells []int, x, y float32, width, height int) []int {
	first := 0
	for _, c := range g.divisions() {
		cells = append(cells, first+interval(y, height, c.Rows)*c.Columns+interval(x, width, c.Columns))
		first += c.Rows * c.Columns
	}
	return cells
}

// interval returns in which of n equal parts of a length a place is, whose first pixel begins at −½.
func interval(place float32, length, n int) int {
	part := (float64(place) + 0.5) * float64(n) / float64(length)
	return int(min(max(part, 0), float64(n-1)))
}

// Histogram is a row of counts, of which those other than 0 are stored.
type Histogram struct {
	Columns []int // Columns rise strictly
	Values  []float64
}

// mostColumns is the most columns of a histogram: its counts are 0.5 GB then.
const mostColumns = 1 << 26

// Count returns the histogram of an image, of g.Len()·words columns. A word counts by its weight in the cell
// that holds the centre of the descriptor's patch. The error of an image without descriptors is
// [features.ErrNoDescriptors].
func (g Grid) Count(words int, d *features.Descriptors, as *Assigned) (Histogram, error) {
	switch n := d.Len(); {
	case words < 1 || words > mostColumns/g.Len():
		return Histogram{}, fmt.Errorf("histogram: %d words in each of %d cells", words, g.Len())
	case n == 0:
		return Histogram{}, fmt.Errorf("histogram: %w", features.ErrNoDescriptors)
	case d.Width < 1 || d.Height < 1 || len(as.Words) != n*as.Nearest || len(as.Weights) != len(as.Words):
		return Histogram{}, fmt.Errorf("histogram: %d descriptors of an image of %d×%d pixels with %d words and %d weights, %d for each",
			n, d.Width, d.Height, len(as.Words), len(as.Weights), as.Nearest)
	}
	counts := make([]float64, g.Len()*words)
	cells := make([]int, 0, len(g)+1)
	for i := range d.Len() {
		cells = g.AppendCells(cells[:0], d.X[i], d.Y[i], d.Width, d.Height)
		for at := i * as.Nearest; at < (i+1)*as.Nearest; at++ {
			for _, cell := range cells {
				counts[cell*words+int(as.Words[at])] += as.Weights[at]
			}
		}
	}
	var h Histogram
	for j, count := range counts {
		if count > 0 {
			h.Columns, h.Values = append(h.Columns, j), append(h.Values, count)
		}
	}
	return h, nil
}

// CSR is a sparse matrix in compressed rows, as factor.CSR.
type CSR = sparse.CSR

// Matrix returns the histograms as the rows of an n×columns matrix. It is an error if a histogram's columns do
// not fit.
func Matrix(columns int, rows []Histogram) (*CSR, error) {
	starts, cols, values := []int{0}, []int{}, []float64{}
	for _, h := range rows {
		cols, values = append(cols, h.Columns...), append(values, h.Values...)
		starts = append(starts, len(values))
	}
	x, err := sparse.New(len(rows), columns, starts, cols, values)
	if err != nil {
		return nil, fmt.Errorf("histograms: %w", err)
	}
	return x, nil
}

// Weighting weights histograms by its fields in their order. The zero value makes the length of each histogram
// 1, as the papers do.
type Weighting struct {
	IDF   []float64     // a factor for each column, see LearnIDF; nil means 1
	Power float64       // the exponent, above 0 and up to 1; 0 means 1
	Norm  features.Norm // what is 1 in the end
}

// LearnIDF returns the inverse document frequency of each column of x, n×m, of training images: 1 +
// ln((1+n)/(1+d)), where d histograms have a value in the column. Unlike ln(n/d) it is above 0 for a word that
// every image has.
func LearnIDF(x *CSR) []float64 {
	n, m := x.Dims()
	images := make([]int, m)
	for p, j := range x.Columns {
		if x.Values[p] != 0 {
			images[j]++
		}
	}
	idf := make([]float64, m)
	for j, d := range images {
		idf[j] = 1 + elementary.Log(float64(1+n)/float64(1+d))
	}
	return idf
}

// Apply returns the weighted histograms of x, n×m, which is not changed. A row of zeros stays one. It is an
// error if a value is negative or not finite, or if the weighting does not fit.
func (w Weighting) Apply(x *CSR) (*CSR, error) {
	n, m := x.Dims()
	if w.IDF != nil && len(w.IDF) != m || !(w.Power >= 0 && w.Power <= 1) {
		return nil, fmt.Errorf("weighting: %d inverse document frequencies for %d columns, and power %v; expected one per column, and a power up to 1", len(w.IDF), m, w.Power)
	}
	out := x.Clone()
	for i := range n {
		columns, values := out.Row(i)
		for p, v := range values {
			if w.IDF != nil {
				values[p] *= w.IDF[columns[p]]
			}
			if w.Power != 0 {
				values[p] = elementary.Pow(values[p], w.Power)
			}
			if math.IsNaN(values[p]) || math.IsInf(values[p], 0) || v < 0 || values[p] < 0 {
				return nil, fmt.Errorf("weighting: row %d, column %d: value %v", i+1, columns[p]+1, v)
			}
		}
		normalise(values, w.Norm)
	}
	return out, nil
}

// normalise divides values of 0 or more by their largest, against overflow, and then by their norm.
func normalise(values []float64, norm features.Norm) {
	if norm == features.NormNone || len(values) == 0 {
		return
	}
	largest := slices.Max(values)
	if largest == 0 {
		return
	}
	for p := range values {
		values[p] /= largest
	}
	length := 1.
	switch norm {
	case features.NormL2:
		length = elementary.Norm(values)
	case features.NormL1:
		length = elementary.Sum(values)
	}
	for p := range values {
		values[p] /= length
	}
}
