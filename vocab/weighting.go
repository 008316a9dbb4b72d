package vocab

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// Weighting weights histograms by its fields in their order: counts are multiplied by the inverse document
// frequencies, raised to the power and normalised. The zero value makes the length of each histogram 1, as the
// papers do.
type Weighting struct {
	// IDF is a factor for each column, see LearnIDF; nil means 1.
	IDF []float64
	// Power is the exponent, above 0 and up to 1; 0 means 1.
	Power float64
	// Norm is what is 1 in the end.
	Norm features.Norm
}

// LearnIDF returns the inverse document frequency of each column of x, n×m: 1 + ln((1+n)/(1+d)), where d of the
// n histograms have a value in the column. Unlike ln(n/d) it is above 0 for a word that every image has. x
// should be of training images only.
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
		return nil, fmt.Errorf("weighting: %d inverse document frequencies of %d columns, and a power of %v: want one each, and up to 1", len(w.IDF), m, w.Power)
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
				return nil, fmt.Errorf("weighting: row %d, column %d holds %v", i+1, columns[p]+1, v)
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
