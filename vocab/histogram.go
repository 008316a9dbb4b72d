package vocab

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Grid is a spatial pyramid: one or more divisions of an image into cells, each with its own histogram. The zero value is
// a single cell, the whole image.
//
// Cells are numbered from 0 by division, then by rows. The histogram's column of a word is cell·words + word.
type Grid []features.Cells

// UnmarshalText implements [encoding.TextUnmarshaler]. It parses "ROWSxCOLUMNS", such as "4x4", or several divisions
// joined by "+", such as the spatial pyramid "1x1+2x2+4x4" (Lazebnik et al. 2006, without their weights).
func (g *Grid) UnmarshalText(text []byte) error {
	var read Grid
	for part := range strings.SplitSeq(string(text), "+") {
		var c features.Cells
		if err := c.Parse(part, 1<<10); err != nil {
			return err
		}
		read = append(read, c)
	}
	*g = read
	return nil
}

// String returns the text that UnmarshalText parses.
func (g Grid) String() string {
	parts := lists.Map(g.divisions(), func(c features.Cells) string { return fmt.Sprintf("%dx%d", c.Rows, c.Columns) })
	return strings.Join(parts, "+")
}

// GoString is part of the cache keys of histograms, so its format must not change.
func (g Grid) GoString() string {
	parts := lists.Map(g, func(c features.Cells) string {
		return fmt.Sprintf("vocab.Cells{Rows:%d, Cols:%d}", c.Rows, c.Columns)
	})
	return "vocab.Grid{" + strings.Join(parts, ", ") + "}"
}

func (g Grid) divisions() Grid {
	if len(g) == 0 {
		return Grid{{Rows: 1, Columns: 1}}
	}
	return g
}

// Len returns the number of cells of all divisions.
func (g Grid) Len() (cells int) {
	for _, c := range g.divisions() {
		cells += c.Rows * c.Columns
	}
	return cells
}

// AppendCells appends, for each division, the cell that contains the position x, y, in pixels, of an image. A position on
// a border belongs to the cell to the right or below; one outside the image belongs to the nearest cell.
func (g Grid) AppendCells(cells []int, x, y float32, width, height int) []int {
	first := 0
	for _, c := range g.divisions() {
		cells = append(cells, first+interval(y, height, c.Rows)*c.Columns+interval(x, width, c.Columns))
		first += c.Rows * c.Columns
	}
	return cells
}

// interval returns which of n equal parts of a length contains a position; the first pixel starts at −½.
func interval(place float32, length, n int) int {
	part := (float64(place) + 0.5) * float64(n) / float64(length)
	return int(min(max(part, 0), float64(n-1)))
}

// Histogram is a sparse row of counts.
type Histogram struct {
	Columns []int     // strictly increasing
	Values  []float64 // one for each of Columns
}

// mostColumns is the largest number of columns of a histogram, whose counts then take 0.5 GB.
const mostColumns = 1 << 26

// Count returns the histogram of an image, with g.Len()·words columns: the sum of the weights of each word in the cell
// that contains the centre of the descriptor's patch. For an image without descriptors the error wraps
// [features.ErrNoDescriptors].
func (g Grid) Count(words int, d *features.Descriptors, as *Assigned) (h Histogram, err error) {
	defer wrap(&err, "histogram")
	defer guard.Catch(&err)
	n, most := d.Len(), mostColumns/g.Len()
	guard.FailIf(words < 1 || words > most, "%d words in each of %d cells; expected 1 to %d words", words, g.Len(), most)
	guard.FailIf(n == 0, "%w", features.ErrNoDescriptors)
	guard.FailIf(d.Width < 1 || d.Height < 1 || len(as.Words) != n*as.Nearest || len(as.Weights) != len(as.Words),
		"%d descriptors of an image of %d×%d pixels with %d words and %d weights, %d for each",
		n, d.Width, d.Height, len(as.Words), len(as.Weights), as.Nearest)
	counts := make([]float64, g.Len()*words)
	cells := make([]int, 0, len(g)+1)
	for i := range n {
		cells = g.AppendCells(cells[:0], d.X[i], d.Y[i], d.Width, d.Height)
		for at := i * as.Nearest; at < (i+1)*as.Nearest; at++ {
			for _, cell := range cells {
				counts[cell*words+int(as.Words[at])] += as.Weights[at]
			}
		}
	}
	for j, count := range counts {
		if count > 0 {
			h.Columns, h.Values = append(h.Columns, j), append(h.Values, count)
		}
	}
	return h, nil
}

// CSR is a sparse matrix in compressed row storage, the same type as factor.CSR.
type CSR = sparse.CSR

// Matrix returns the histograms as rows of an n×columns matrix. Columns out of range are an error.
func Matrix(columns int, rows []Histogram) (*CSR, error) {
	starts, cols, values := []int{0}, []int{}, []float64{}
	for _, h := range rows {
		cols, values = append(cols, h.Columns...), append(values, h.Values...)
		starts = append(starts, len(values))
	}
	x, err := sparse.New(len(rows), columns, starts, cols, values)
	return x, guard.Wrap(err, "histograms")
}

// Weighting applies IDF, Power and Norm to histograms, in this order. The zero value normalises histograms to unit
// length, as the papers do.
type Weighting struct {
	IDF   []float64     // factor of each column, from LearnIDF; nil means 1
	Power float64       // exponent in (0, 1]; 0 means 1
	Norm  features.Norm // normalisation of each histogram
}

// LearnIDF returns the smoothed inverse document frequency of each column of x, n×m, the histograms of training
// images: 1 + ln((1+n)/(1+d)), where d histograms are non-zero in the column. Unlike ln(n/d) it is positive for a
// word that occurs in every image.
func LearnIDF(x *CSR) []float64 {
	n, m := x.Dims()
	images := make([]int, m)
	for p, j := range x.Columns {
		if x.Values[p] != 0 {
			images[j]++
		}
	}
	return lists.Map(images, func(d int) float64 { return 1 + elementary.Log(float64(1+n)/float64(1+d)) })
}

// Apply returns a weighted copy of the histograms x, n×m. Rows of zeros stay zero. It is an error if a value is
// negative or not finite, or if IDF does not have m values.
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

// normalise normalises values ≥ 0. It divides by the largest first to avoid overflow.
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
