package vectorfile

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// variable is a named array of a file.
type variable struct {
	Name string
	// Class is the kind of its elements, as the file's format calls it.
	Class string
	// Dims is its size along each of its dimensions.
	Dims []int
	// Value holds its numbers, or is nil where it has none that fit a matrix.
	Value mat.Matrix
	// Text holds the elements of a list of words, else it is nil.
	Text []string
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
	if v.Text != nil {
		return len(v.Text)
	}
	if v.Value == nil {
		return 0
	}
	switch r, c := v.Value.Dims(); {
	case c == 1:
		return r
	case r == 1:
		return c
	}
	return 0
}

// at returns the i-th number of a vector.
func (v *variable) at(i int) float64 {
	_, c := v.Value.Dims()
	return v.Value.At(i/c, i%c)
}

// readArrays reads the arrays of the file at path by parse.
func readArrays(path string, room *room, parse func(io.ReaderAt, int64, *room) ([]variable, error)) ([]variable, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	vars, err := parse(f, info.Size(), room)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return vars, nil
}

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
	// Height and Width are the size of the images that the vectors hold, row by row and
	// upright, or 0.
	Height, Width int
	// Features says which columns belong to which feature. Write writes it; it is not read.
	Features []Columns
	// Test tells of each sample whether it is of the test part, or is nil.
	Test []bool
	// Beside are files that were read beside that of the vectors: of labels or topics.
	Beside []string
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

// Columns are those of one of several features.
type Columns struct {
	Name string
	// Count is how many there are, and Scale by what the feature's values were multiplied.
	Count int
	Scale float64
}

// Options says what to read from a file of vectors. The zero value takes
// the names that are common in the file's format.
type Options struct {
	// Features and Labels name the variables of a MATLAB or NPZ file that hold
	// the n×m vectors and the n labels. In a CSV file Labels names the column
	// of the labels, beside an IDX or NPY file the file of the labels. Labels
	// "-" says that there are none.
	Features, Labels string
	// Height and Width are the size of the images that the vectors hold, where
	// the file does not tell.
	Height, Width int
	// Limit is the most memory that reading takes at a time, in bytes: for what is
	// read and for what is made of it. A file that needs more is refused, as far as
	// it tells before that is allocated. 0 stands for half of the memory there is.
	Limit int64
	// OnDisk leaves the values of NumPy and IDX files where they are: Vectors is a
	// *Stored, and the set is to be closed. Files of other formats, and NumPy's in
	// Fortran order, are an error. What is gzipped is unpacked to a temporary file.
	OnDisk bool

	ctx context.Context // ends reading when it ends
}

// arraySet makes the set of the vectors and labels among vars, found by the
// names in opt or else by the given ones, in this order. Names of samples and
// classes are taken as Write puts them.
func arraySet(path string, vars []variable, features, labels []string, opt Options, room *room) (*Content, error) {
	if opt.Features != "" {
		features = []string{opt.Features}
	}
	x := variableNamed(vars, features)
	if x == nil {
		return nil, fmt.Errorf("%s: no variable %s; the file holds %s", path, strings.Join(features, " or "), listVariables(vars))
	}
	if x.Value == nil {
		return nil, fmt.Errorf("%s: variable %s is not a matrix of numbers", path, x)
	}
	n, _ := x.Value.Dims()

	var words []string
	if opt.Labels != "" {
		labels = []string{opt.Labels}
	}
	y, names := variableNamed(vars, labels), variableNamed(vars, namesVariables)
	if names != nil && (names.Text == nil || names == x || names == y) {
		names = nil
	}
	switch {
	case y != nil:
		var err error
		if words, err = y.words(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(words) != n {
			return nil, fmt.Errorf("%s: variable %s has %d labels for the %d rows of %s", path, y, len(words), n, x)
		}
	case opt.Labels == "-":
	case opt.Labels != "":
		return nil, fmt.Errorf("%s: no variable %s; the file holds %s", path, opt.Labels, listVariables(vars))
	default:
		for i := range vars {
			if v := &vars[i]; v != x && v != names && v.len() == n && n > 1 {
				return nil, fmt.Errorf("%s: no variable %s, but %s may hold the labels: give the variable of the labels, or - for none", path, strings.Join(labels, " or "), v)
			}
		}
	}
	s, err := newVectorSet(path, x.Value, words, opt, room)
	if err != nil {
		return nil, err
	}
	if names != nil {
		s.nameSamples(names.Text)
	}
	if classes := variableNamed(vars, []string{classesVariable}); classes != nil && y != nil {
		s.nameClasses(classes.Text, y)
	}
	return s, nil
}

// The variables beside the vectors and the labels that Write puts into a file.
const (
	// namesVariable is the list of the samples' names.
	namesVariable = "names"
	// classesVariable is the list of the classes' names. The labels are their
	// numbers, from 1.
	classesVariable = "classes"
	// sizeVariable holds the height and the width of the images that the
	// vectors hold, or 0 and 0.
	sizeVariable = "imagesize"
	// featuresVariable, columnsVariable and scalesVariable list the names of several
	// features, how many columns each has, and by what its values were multiplied.
	featuresVariable = "features"
	columnsVariable  = "columns"
	scalesVariable   = "scales"
)

// namesVariables are the names that the list of the samples' names may have.
var namesVariables = []string{namesVariable, "files", "filenames", "file_names", "paths", "image_paths"}

// nameSamples names the samples, if there is a name for each and none twice.
func (s *Content) nameSamples(names []string) {
	if len(names) == s.Len() && allDiffer(names) {
		s.Names = naming.Readable(names)
	}
}

// nameClasses names the classes of the labels in y, if these are numbers of
// names, from 1, and no name is there twice. Others keep their number for a name.
func (s *Content) nameClasses(names []string, y *variable) {
	if y.Value == nil || !allDiffer(names) {
		return
	}
	labels := make([]int, s.Len())
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
	s.Classes, s.Labels = naming.Readable(names), labels
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

// imageSize returns the size of the images that the vectors hold, if vars give it.
func imageSize(vars []variable) (height, width int, given bool) {
	v := variableNamed(vars, []string{sizeVariable})
	if v == nil || v.Value == nil || v.len() != 2 {
		return 0, 0, false
	}
	h, w := v.at(0), v.at(1)
	if !(h >= 0 && h <= math.MaxInt32 && w >= 0 && w <= math.MaxInt32) {
		return 0, 0, false
	}
	return int(h), int(w), true
}

// variableNamed returns the first variable that has one of the names, written just so
// or else in other case.
func variableNamed(vars []variable, names []string) *variable {
	for _, equal := range []func(a, b string) bool{
		func(a, b string) bool { return a == b }, strings.EqualFold,
	} {
		for _, name := range names {
			if i := slices.IndexFunc(vars, func(v variable) bool { return equal(v.Name, name) }); i >= 0 {
				return &vars[i]
			}
		}
	}
	return nil
}

// listVariables lists variables, only the first of many.
func listVariables(vars []variable) string {
	const most = 20
	if len(vars) == 0 {
		return "no variables"
	}
	var list []string
	for i := range vars[:min(len(vars), most)] {
		list = append(list, vars[i].String())
	}
	if more := len(vars) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

// variables are those of a file, by name.
type variables struct {
	all   []variable
	names map[string]bool
	room  *room
}

// add adds a variable, or returns an error where one of its name is there or what
// it takes beside its values has no room.
func (vs *variables) add(v variable) error {
	if vs.names[v.Name] {
		return fmt.Errorf("the file holds %q twice", v.Name)
	}
	const least = 512 // its place in the list and in the index, which double as they grow
	if err := vs.room.take(least+2*int64(len(v.Name))+8*int64(len(v.Dims)), fmt.Sprintf("the variables up to %q", v.Name)); err != nil {
		return err
	}
	if vs.names == nil {
		vs.names = map[string]bool{}
	}
	vs.names[v.Name] = true
	vs.all = append(vs.all, v)
	return nil
}

// words returns the labels in v as text: a number as its digits, NaN, which
// stands for an unknown label, as "".
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

// newVectorSet returns the set of the rows of x, which path holds. There is a
// word for each row's class, "" where it is not known, or no words at all.
func newVectorSet(path string, x mat.Matrix, words []string, opt Options, room *room) (*Content, error) {
	n, m := x.Dims()
	if n == 0 || m == 0 {
		return nil, fmt.Errorf("%s: %d×%d matrix holds no samples", path, n, m)
	}
	if opt.Height != 0 || opt.Width != 0 {
		if opt.Height <= 0 || opt.Width <= 0 || opt.Height*opt.Width != m {
			return nil, fmt.Errorf("%s: its vectors of %d values are no images of height %d and width %d", path, m, opt.Height, opt.Width)
		}
	}
	err := error(nil)
	if stored, ok := x.(*Stored); ok {
		err = stored.scan(room.ctx)
	} else {
		err = checkFinite(x)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	file := naming.ReadableName(filepath.Base(path))
	// A name, its class, their places in lists and in the table of classes.
	if err := room.take(int64(n)*int64(256+len(file)), fmt.Sprintf("%s: the names and labels of %d samples", path, n)); err != nil {
		return nil, err
	}
	s := &Content{Name: stem(file), Names: make([]string, n), Vectors: x, Height: opt.Height, Width: opt.Width}
	for i := range s.Names {
		s.Names[i] = fmt.Sprintf("%s row %d", file, i+1)
	}
	if words == nil {
		words = make([]string, n)
	}
	s.Classes, s.Labels = Classes(words)
	return s, nil
}

// stem returns a file's name without what tells its format.
func stem(file string) string {
	file = strings.TrimSuffix(file, ".gz")
	if s := strings.TrimSuffix(file, filepath.Ext(file)); s != "" {
		return s
	}
	return file
}

// notFinite says that the value of row i, column j is NaN or infinite.
func notFinite(i, j int, v float64) error {
	return fmt.Errorf("row %d, column %d: %v is no number to work with", i+1, j+1, v)
}

// checkFinite returns an error that names the first value of x that is NaN or
// infinite.
func checkFinite(x mat.Matrix) error {
	switch x := x.(type) {
	case *Bytes:
	case *sparse.CSR:
		n, _ := x.Dims()
		for i := range n {
			columns, values := x.Row(i)
			for p, v := range values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return notFinite(i, columns[p], v)
				}
			}
		}
	default:
		n, _ := x.Dims()
		row := rowsOf(x)
		for i := range n {
			for j, v := range row(i) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return notFinite(i, j, v)
				}
			}
		}
	}
	return nil
}

// Classes returns the classes of the samples' words in natural order, "" for none, and each
// sample's label.
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
