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
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Content is what a file of vectors holds.
type Content struct {
	// Name is the file's without what tells its format, and Names holds a unique name for
	// each sample: that in the file, else "FILE row 17" (from 1).
	Name    string
	Names   []string
	Classes []string // names; Labels holds for each sample an index into them, or -1
	Labels  []int
	Vectors mat.Matrix // n×m, a sample a row: a *mat.Dense, a *Bytes, a *sparse.CSR or a *Stored
	// Height and Width are the size of the images that the vectors hold, row by row and upright, or 0.
	Height, Width int
	// Features says which columns belong to which feature. Write writes it; it is not read.
	Features []Columns
	Test     []bool   // whether each sample is of the test part, or nil
	Beside   []string // files that were read beside that of the vectors: of labels or topics
}

// Columns are those of one of several features.
type Columns struct {
	Name  string
	Count int // how many there are; Scale is the factor of their values
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

// content returns the set of the rows of x. There is a word for each row's class, or "", or no words at all.
func (in *input) content(x mat.Matrix, words []string) (*Content, error) {
	n, m := x.Dims()
	if n == 0 || m == 0 {
		return nil, fmt.Errorf("the %d×%d matrix has no samples", n, m)
	}
	h, w := in.opt.Height, in.opt.Width
	if (h != 0 || w != 0) && (h <= 0 || w <= 0 || h*w != m) {
		return nil, fmt.Errorf("its vectors of %d values are not images of height %d and width %d", m, h, w)
	}
	check := func() error { return checkFinite(x) }
	if stored, ok := x.(*Stored); ok {
		check = func() error { return stored.scan(in.ctx) }
	}
	if err := check(); err != nil {
		return nil, err
	}
	file := naming.ReadableName(filepath.Base(in.path))
	// A name, its class, their places in lists and in the table of classes.
	if err := in.take(int64(n)*int64(256+len(file)), fmt.Sprintf("names and labels of %d samples", n)); err != nil {
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
	if _, ok := x.(*Bytes); ok {
		return nil
	}
	n, _ := x.Dims()
	row := rowsOf(x)
	csr, isSparse := x.(*sparse.CSR)
	for i := range n {
		var columns []int
		var values []float64
		if isSparse {
			columns, values = csr.Row(i)
		} else {
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

// rowsOf returns a function that gives the rows of a matrix, each until the next is asked for.
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

type variable struct {
	Name  string
	Class string     // the kind of its elements, as the file's format calls it
	Dims  []int      // its size along each of its dimensions
	Value mat.Matrix // its numbers, or nil where it has none that fit a matrix
	Text  []string   // the elements of a list of words, else it is nil
}

// String describes the variable as in "fea (165×1024 uint8)".
func (v *variable) String() string {
	dims := make([]string, len(v.Dims))
	for i, d := range v.Dims {
		dims[i] = strconv.Itoa(d)
	}
	return fmt.Sprintf("%s (%s %s)", v.Name, strings.Join(dims, "×"), v.Class)
}

// len returns the number of the elements of a vector, or 0 where v is none.
func (v *variable) len() int {
	if v.Text != nil || v.Value == nil {
		return len(v.Text)
	}
	if r, c := v.Value.Dims(); r == 1 || c == 1 {
		return max(r, c)
	}
	return 0
}

func (v *variable) at(i int) float64 {
	_, c := v.Value.Dims()
	return v.Value.At(i/c, i%c)
}

// words returns the labels in v as text: a number as its digits, NaN, an unknown label, as "".
func (v *variable) words() ([]string, error) {
	n := v.len()
	if n == 0 {
		return nil, fmt.Errorf("variable %s is not a list of labels", v)
	}
	if v.Text != nil {
		return v.Text, nil
	}
	words := make([]string, n)
	for i := range words {
		switch x := v.at(i); {
		case math.IsNaN(x):
		case x != math.Trunc(x) || math.IsInf(x, 0):
			return nil, fmt.Errorf("variable %s: label %v of row %d is not a whole number", v, x, i+1)
		default:
			words[i] = strconv.FormatFloat(x, 'f', -1, 64)
		}
	}
	return words, nil
}

type variables []variable

// add adds a variable, or returns an error where one of its name is there.
func (vs *variables) add(v variable, in *input) error {
	if slices.ContainsFunc(*vs, func(other variable) bool { return other.Name == v.Name }) {
		return fmt.Errorf("the file has %q twice", v.Name)
	}
	const most = 10_000
	if *vs = append(*vs, v); len(*vs) > most {
		return fmt.Errorf("the file has more than %d variables", most)
	}
	return in.take(512+int64(len(v.Name))+8*int64(len(v.Dims)), fmt.Sprintf("the variables up to %q", v.Name))
}

// find returns the first variable that has one of the names, written just so or else in other case, or nil.
func (vs variables) find(names ...string) *variable {
	for _, equal := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, name := range names {
			if i := slices.IndexFunc(vs, func(v variable) bool { return equal(v.Name, name) }); i >= 0 {
				return &vs[i]
			}
		}
	}
	return nil
}

// imageSize returns the size of the images that the vectors hold, if a variable gives it.
func (vs variables) imageSize() (height, width int, given bool) {
	v := vs.find(sizeVariable)
	if v == nil || v.Value == nil || v.len() != 2 {
		return 0, 0, false
	}
	h, w := v.at(0), v.at(1)
	if given = h >= 0 && h <= math.MaxInt32 && w >= 0 && w <= math.MaxInt32; given {
		height, width = int(h), int(w)
	}
	return height, width, given
}

// String lists the variables, only the first of many.
func (vs variables) String() string {
	const most = 20
	if len(vs) == 0 {
		return "no variables"
	}
	var list []string
	for i := range vs[:min(len(vs), most)] {
		list = append(list, vs[i].String())
	}
	if more := len(vs) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

// Variables that Write puts beside the vectors: names of samples and classes, and the size of images or 0 and 0.
const namesVariable, classesVariable, sizeVariable = "names", "classes", "imagesize"

// namesVariables are the names that the list of the samples' names may have.
var namesVariables = []string{namesVariable, "files", "filenames", "file_names", "paths", "image_paths"}

// content makes the set of the vectors and labels of the names in the options or else of the first given ones.
func (vs variables) content(in *input, features, labels []string) (*Content, error) {
	if in.opt.Features != "" {
		features = []string{in.opt.Features}
	}
	x := vs.find(features...)
	if x == nil {
		return nil, fmt.Errorf("no variable %s; the file has %s", strings.Join(features, " or "), vs)
	}
	if x.Value == nil {
		return nil, fmt.Errorf("variable %s is not a matrix of numbers", x)
	}
	if in.opt.Height == 0 && in.opt.Width == 0 {
		in.opt.Height, in.opt.Width, _ = vs.imageSize()
	}
	n, _ := x.Value.Dims()
	given := in.opt.Labels
	if given != "" {
		labels = []string{given}
	}
	y, names := vs.find(labels...), vs.find(namesVariables...)
	if names != nil && (names.Text == nil || names == x || names == y) {
		names = nil
	}
	var words []string
	switch {
	case y != nil:
		var err error
		if words, err = y.words(); err != nil {
			return nil, err
		}
		if len(words) != n {
			return nil, fmt.Errorf("variable %s has %d labels for the %d rows of %s", y, len(words), n, x)
		}
	case given == "-":
	case given != "":
		return nil, fmt.Errorf("no variable %s; the file has %s", given, vs)
	default:
		for i := range vs {
			if v := &vs[i]; v != x && v != names && v.len() == n && n > 1 {
				return nil, fmt.Errorf("no variable %s, but %s may be the labels: set gnd to the variable of the labels, or to - for none", strings.Join(labels, " or "), v)
			}
		}
	}
	c, err := in.content(x.Value, words)
	if err != nil {
		return nil, err
	}
	if names != nil {
		c.nameSamples(names.Text)
	}
	if classes := vs.find(classesVariable); classes != nil && y != nil && y.Value != nil && allDiffer(classes.Text) {
		if numbers, ok := y.numbers(len(classes.Text)); ok {
			c.Classes, c.Labels = naming.Readable(classes.Text), numbers
		}
	}
	return c, nil
}

// numbers returns the labels from 0 of a list of numbers of classes, from 1 to most or NaN for an unknown one.
func (v *variable) numbers(most int) (labels []int, ok bool) {
	labels = make([]int, v.len())
	for i := range labels {
		l := v.at(i)
		if l < 1 || l > float64(most) {
			return nil, false
		}
		if labels[i] = int(l) - 1; math.IsNaN(l) {
			labels[i] = -1
		}
	}
	return labels, true
}
