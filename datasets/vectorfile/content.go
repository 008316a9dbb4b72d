// Package vectorfile reads and writes files of vectors: CSV, NumPy's .npy and .npz, MATLAB's
// .mat, IDX and SVMlight. What a file promises is checked before memory is taken for it.
//
// NumPy's files are read by internal/npz: sbinet/npyio takes the memory that a header promises at its
// word, panics on one without a line end, and knows no half-precision numbers.
package vectorfile

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Content is what a file of vectors holds.
type Content struct {
	// Name is the file's without what tells its format, and Names holds a unique name for
	// each sample: that in the file, else "FILE row 17" (from 1).
	Name  string
	Names []string
	// Classes holds the classes' names, and Labels for each sample an index into them, or -1.
	Classes []string
	Labels  []int
	// Vectors is n×m, a sample a row: a *mat.Dense, a *Bytes, a *sparse.CSR or a *Stored.
	Vectors mat.Matrix
	// Height and Width are the size of the images that the vectors hold, row by row and upright, or 0.
	Height, Width int
	// Features says which columns belong to which feature. Write writes it; it is not read.
	Features []Columns
	// Test tells of each sample whether it is of the test part, or is nil.
	Test []bool
	// Beside are files that were read beside that of the vectors: of labels or topics.
	Beside []string
}

// Columns are those of one of several features.
type Columns struct {
	Name string
	// Count is how many there are, and Scale by what the feature's values were multiplied.
	Count int
	Scale float64
}

// Len returns the number of samples.
func (c *Content) Len() int { return len(c.Names) }

// Close closes the files that the vectors are in, where they were left there.
func (c *Content) Close() error {
	if stored, ok := c.Vectors.(*Stored); ok {
		return stored.Close()
	}
	return nil
}

// content returns the set of the rows of x. There is a word for each row's class, "" where it is
// not known, or no words at all.
func (in *input) content(x mat.Matrix, words []string) (*Content, error) {
	n, m := x.Dims()
	if n == 0 || m == 0 {
		return nil, fmt.Errorf("%d×%d matrix holds no samples", n, m)
	}
	h, w := in.opt.Height, in.opt.Width
	if (h != 0 || w != 0) && (h <= 0 || w <= 0 || h*w != m) {
		return nil, fmt.Errorf("its vectors of %d values are no images of height %d and width %d", m, h, w)
	}
	err := error(nil)
	if stored, ok := x.(*Stored); ok {
		err = stored.scan(in.ctx)
	} else {
		err = checkFinite(x)
	}
	if err != nil {
		return nil, err
	}
	file := naming.ReadableName(filepath.Base(in.path))
	// A name, its class, their places in lists and in the table of classes.
	if err := in.take(int64(n)*int64(256+len(file)), fmt.Sprintf("the names and labels of %d samples", n)); err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(file, ".gz")
	s := &Content{Name: name, Names: make([]string, n), Vectors: x, Height: h, Width: w}
	if stem := strings.TrimSuffix(name, filepath.Ext(name)); stem != "" {
		s.Name = stem
	}
	for i := range s.Names {
		s.Names[i] = fmt.Sprintf("%s row %d", file, i+1)
	}
	if words == nil {
		words = make([]string, n)
	}
	s.Classes, s.Labels = Classes(words)
	return s, nil
}

// nameSamples names the samples, if there is a name for each and none twice.
func (c *Content) nameSamples(names []string) {
	if len(names) == c.Len() && allDiffer(names) {
		c.Names = naming.Readable(names)
	}
}

// nameClasses names the classes of the labels in y, if these are numbers of
// names, from 1, and no name is there twice. Others keep their number for a name.
func (c *Content) nameClasses(names []string, y *variable) {
	if y.Value == nil || !allDiffer(names) {
		return
	}
	labels := make([]int, c.Len())
	for i := range labels {
		switch l := y.at(i); {
		case math.IsNaN(l):
			labels[i] = -1
		case l < 1 || l > float64(len(names)):
			return
		default:
			labels[i] = int(l) - 1
		}
	}
	c.Classes, c.Labels = naming.Readable(names), labels
}

// allDiffer tells whether no name is empty or there twice.
func allDiffer(names []string) bool {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if name == "" || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

// checkFinite returns an error that names the first value of x that is NaN or infinite.
func checkFinite(x mat.Matrix) error {
	n, _ := x.Dims()
	row := rowsOf(x)
	for i := range n {
		var columns []int
		var values []float64
		switch x := x.(type) {
		case *Bytes:
			return nil
		case *sparse.CSR:
			columns, values = x.Row(i)
		default:
			values = row(i)
		}
		if err := checkRow(i, columns, values); err != nil {
			return err
		}
	}
	return nil
}

// checkRow is checkFinite of row i, whose values stand in these columns, or with nil in all.
func checkRow(i int, columns []int, values []float64) error {
	for j, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			if columns != nil {
				j = columns[j]
			}
			return fmt.Errorf("row %d, column %d: %v is not finite", i+1, j+1, v)
		}
	}
	return nil
}

// rowsOf returns a function that gives the rows of a matrix, each of which stands
// until the next is asked for.
func rowsOf(x mat.Matrix) func(i int) []float64 {
	_, m := x.Dims()
	row := make([]float64, m)
	switch x := x.(type) {
	case *mat.Dense:
		return x.RawRowView
	case *sparse.CSR:
		return func(i int) []float64 {
			clear(row)
			columns, values := x.Row(i)
			for p, j := range columns {
				row[j] = values[p]
			}
			return row
		}
	}
	return func(i int) []float64 { return Row(row, i, x) }
}

// Classes returns the classes of the samples' words in natural order, "" for none, and each sample's label.
func Classes(words []string) (classes []string, labels []int) {
	words = naming.Readable(words)
	classes = slices.Clone(words)
	slices.SortFunc(classes, naming.CompareNatural)
	classes = slices.Compact(classes)
	if len(classes) > 0 && classes[0] == "" {
		classes = classes[1:]
	}
	label := map[string]int{"": -1}
	for i, class := range classes {
		label[class] = i
	}
	labels = make([]int, len(words))
	for i, word := range words {
		labels[i] = label[word]
	}
	return classes, labels
}
