// Package vectorfile reads and writes files of vectors: CSV, NumPy's .npy and .npz, MATLAB's .mat, IDX, Parquet,
// Arrow and SVMlight. It checks headers before it allocates memory for them.
package vectorfile

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/naming"
)

// Content is the content of a file of vectors.
type Content struct {
	// Name is the file's name without its extension. Names holds a unique name for each sample: the one in the file,
	// else "FILE row 17" (from 1).
	Name    string
	Names   []string
	Classes []string // names; Labels holds for each sample an index into them, or −1
	Labels  []int
	Vectors mat.Matrix // n×m, one sample a row: a *mat.Dense, *Bytes, *sparse.CSR or *Stored
	// Height and Width are the size of images in the vectors, row by row and upright, or 0.
	Height, Width int
	// Features describes which columns belong to which feature, and Lists are further lists. Write stores them; Open does
	// not read them.
	Features []Columns
	Lists    []List
	Missing  bool     // Write accepts NaN as a missing value
	Single   bool     // Write stores the vectors of a .npz file in single precision
	Settings string   // the settings of the features of the vectors, in JSON, or ""
	Test     []bool   // whether each sample is in the test part, or nil
	Beside   []string // further files that were read, with labels or topics
}

// Columns are the columns of one of several features.
type Columns struct {
	Name  string
	Count int // the number of columns; Scale is the factor of their values
	Scale float64
}

// Len returns the number of samples.
func (c *Content) Len() int { return len(c.Names) }

// Close closes the files of vectors that are on disk.
func (c *Content) Close() error {
	if stored, ok := c.Vectors.(*Stored); ok {
		return stored.Close()
	}
	return nil
}

// content returns the content with the rows of x. words has a class for each row, or "", or is nil.
func (in *input) content(x mat.Matrix, words []string) *Content {
	n, m := x.Dims()
	failIf(n == 0 || m == 0, "the %d×%d matrix has no samples", n, m)
	h, w := in.opt.Height, in.opt.Width
	failIf((h != 0 || w != 0) && (h <= 0 || w <= 0 || h*w != m), "its vectors of %d values are not images of height %d and width %d", m, h, w)
	stored, onDisk := x.(*Stored)
	_, isShard := ShardOf(in.path)
	switch {
	case onDisk && isShard && h == 0: // its range is not needed, and it may be large
		stored.checks, stored.missing = true, in.opt.Missing
	case onDisk:
		stored.scan(in.ctx, in.opt.Missing)
	default:
		guard.Check(checkFinite(x, in.opt.Missing))
	}
	file := naming.ReadableName(filepath.Base(in.path))
	// For each sample: a name, a class, and their entries in lists and in the table of classes.
	in.reserve(int64(n)*int64(256+len(file)), fmt.Sprintf("names and labels of %d samples", n))
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
	return s
}

// nameSamples sets the names of the samples, if there is a distinct one for each.
func (c *Content) nameSamples(names []string) {
	if len(names) == c.Len() && allDiffer(names) {
		c.Names = naming.Readable(names)
	}
}

// allDiffer reports whether all names are distinct and not empty.
func allDiffer(names []string) bool {
	_, found := duplicate(names)
	return !found
}

// duplicate returns the first name that is empty or that an earlier sample has.
func duplicate(names []string) (name string, found bool) {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if name == "" || seen[name] {
			return name, true
		}
		seen[name] = true
	}
	return "", false
}

// checkFinite returns an error with the place of the first infinite value of x or, unless missing is set, NaN.
func checkFinite(x mat.Matrix, missing bool) (err error) {
	defer guard.Catch(&err)
	if _, ok := x.(*Bytes); !ok {
		matrix.EachRow(x, matrix.AllRows(x), func(i int, columns []int, values []float64) {
			guard.Check(checkRow(i, columns, values, missing))
		})
	}
	return nil
}

const missingHint = "; set missing to nan if the value is missing"

// checkRow is checkFinite for row i, whose values are in columns, or with nil in all columns.
func checkRow(i int, columns []int, values []float64, missing bool) error {
	for j, v := range values {
		if math.IsNaN(v) && !missing || math.IsInf(v, 0) {
			if columns != nil {
				j = columns[j]
			}
			hint := ""
			if math.IsNaN(v) {
				hint = missingHint
			}
			return fmt.Errorf("row %d, column %d: %v is not finite%s", i+1, j+1, v, hint)
		}
	}
	return nil
}

// rowsOf returns a function that returns rows of a matrix; each is valid until the next call.
func rowsOf(x mat.Matrix) func(i int) []float64 {
	_, m := x.Dims()
	row := make([]float64, m)
	return func(i int) []float64 { return matrix.Row(row, i, x) }
}

// Classes returns the distinct class names in natural order, and the label of each sample, −1 for "".
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
	return classes, lists.Map(words, func(word string) int { return label[word] })
}

// Variable is an array or a list of words of a file.
type Variable struct {
	Name  string
	Class string     // the type of its elements, in the terms of the file's format
	Dims  []int      // its size along each dimension
	Value mat.Matrix // its numbers, nil if they do not fit a matrix
	Text  []string   // the elements of a list of words, else nil
}

// String describes the variable as in "fea (165×1024 uint8)".
func (v *Variable) String() string {
	dims := strings.ReplaceAll(strings.Trim(fmt.Sprint(v.Dims), "[]"), " ", "×")
	return fmt.Sprintf("%s (%s %s)", v.Name, dims, v.Class)
}

// len returns the number of elements of a vector, or 0 for other variables.
func (v *Variable) len() int {
	if v.Text != nil || v.Value == nil {
		return len(v.Text)
	}
	if r, c := v.Value.Dims(); r == 1 || c == 1 {
		return max(r, c)
	}
	return 0
}

func (v *Variable) number(i int) float64 {
	_, c := v.Value.Dims()
	return v.Value.At(i/c, i%c)
}

// words returns the labels in v as text: numbers as digits, and NaN, an unknown label, as "".
func (v *Variable) words() []string {
	n := v.len()
	failIf(n == 0, "variable %s is not a list of labels", v)
	if v.Text != nil {
		return v.Text
	}
	words := make([]string, n)
	for i := range words {
		if x := v.number(i); !math.IsNaN(x) {
			failIf(x != math.Trunc(x) || math.IsInf(x, 0), "variable %s: label %v of row %d is not a whole number", v, x, i+1)
			words[i] = strconv.FormatFloat(x, 'f', -1, 64)
		}
	}
	return words
}

type variables []Variable

// add adds a variable. It fails if its name is taken.
func (vs *variables) add(v Variable, in *input) {
	const most = 10_000
	failIf(slices.ContainsFunc(*vs, func(other Variable) bool { return other.Name == v.Name }), "the file has %q twice", v.Name)
	failIf(len(*vs) >= most, "the file has more than %d variables", most)
	in.reserve(512+int64(len(v.Name))+8*int64(len(v.Dims)), fmt.Sprintf("the variables up to %q", v.Name))
	*vs = append(*vs, v)
}

// find returns the first variable with one of the names, preferably in the same case, or nil.
func (vs variables) find(names ...string) *Variable {
	for _, equal := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, name := range names {
			if i := slices.IndexFunc(vs, func(v Variable) bool { return equal(v.Name, name) }); i >= 0 {
				return &vs[i]
			}
		}
	}
	return nil
}

// imageSize returns the size of the images in the vectors, if a variable gives it.
func (vs variables) imageSize() (height, width int, given bool) {
	v := vs.find(sizeVariable)
	if v == nil || v.Value == nil || v.len() != 2 {
		return 0, 0, false
	}
	h, w := v.number(0), v.number(1)
	if given = h >= 0 && h <= math.MaxInt32 && w >= 0 && w <= math.MaxInt32; given {
		height, width = int(h), int(w)
	}
	return height, width, given
}

// String lists the variables.
func (vs variables) String() string {
	if len(vs) == 0 {
		return "no variables"
	}
	return naming.Short(lists.Map(vs, func(v Variable) string { return v.String() }))
}

// Variables that Write stores beside the vectors: names of samples and classes, the size of images or 0, 0, and the
// settings of the features.
const namesVariable, classesVariable, sizeVariable, settingsVariable = "names", "classes", "imagesize", "settings"

// namesVariables are accepted names of the variable with the samples' names.
var namesVariables = []string{namesVariable, "files", "filenames", "file_names", "paths", "image_paths"}

// content returns the vectors and labels that the options name, or else the first of features and labels.
func (vs variables) content(in *input, features, labels []string) *Content {
	if in.opt.Features != "" {
		features = []string{in.opt.Features}
	}
	x := vs.find(features...)
	failIf(x == nil, "no variable %s; the file has %s", strings.Join(features, " or "), vs)
	failIf(x.Value == nil, "variable %s is not a matrix of numbers", x)
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
		words = y.words()
		failIf(len(words) != n, "variable %s has %d labels for the %d rows of %s", y, len(words), n, x)
	case given == "-":
	case given != "":
		guard.Fail("no variable %s; the file has %s", given, vs)
	default:
		for i := range vs {
			if v := &vs[i]; v != x && v != names && v.len() == n && n > 1 {
				guard.Fail("no variable %s, but %s may be the labels: set gnd to the variable of the labels, or to - for none", strings.Join(labels, " or "), v)
			}
		}
	}
	c := in.content(x.Value, words)
	if names != nil {
		c.nameSamples(names.Text)
	}
	if made := vs.find(settingsVariable); made != nil && len(made.Text) == 1 {
		c.Settings = made.Text[0]
	}
	if classes := vs.find(classesVariable); classes != nil && y != nil && y.Value != nil && allDiffer(classes.Text) {
		if numbers, ok := y.numbers(len(classes.Text)); ok {
			c.Classes, c.Labels = naming.Readable(classes.Text), numbers
		}
	}
	return c
}

// numbers returns labels from 0 for class numbers from 1 to most; NaN means unknown.
func (v *Variable) numbers(most int) (labels []int, ok bool) {
	labels = make([]int, v.len())
	for i := range labels {
		l := v.number(i)
		if l < 1 || l > float64(most) {
			return nil, false
		}
		if labels[i] = int(l) - 1; math.IsNaN(l) {
			labels[i] = -1
		}
	}
	return labels, true
}
