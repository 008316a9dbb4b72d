package vectorfile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
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
	if v.Text != nil || v.Value == nil {
		return len(v.Text)
	}
	if r, c := v.Value.Dims(); r == 1 || c == 1 {
		return max(r, c)
	}
	return 0
}

// at returns the i-th number of a vector.
func (v *variable) at(i int) float64 {
	_, c := v.Value.Dims()
	return v.Value.At(i/c, i%c)
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

// variables are those of a file.
type variables []variable

// add adds a variable, or returns an error where one of its name is there.
func (vs *variables) add(v variable, in *input) error {
	if slices.ContainsFunc(*vs, func(other variable) bool { return other.Name == v.Name }) {
		return fmt.Errorf("the file holds %q twice", v.Name)
	}
	const most = 10_000
	if *vs = append(*vs, v); len(*vs) > most {
		return fmt.Errorf("the file holds more than %d variables", most)
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
	if !(h >= 0 && h <= math.MaxInt32 && w >= 0 && w <= math.MaxInt32) {
		return 0, 0, false
	}
	return int(h), int(w), true
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

// The variables beside the vectors and the labels that Write puts into a file: the names of samples
// and of classes, which the labels number from 1; height and width of the images that the vectors
// hold, or 0 and 0; and of several features their names, numbers of columns, and scales.
const (
	namesVariable    = "names"
	classesVariable  = "classes"
	sizeVariable     = "imagesize"
	featuresVariable = "features"
	columnsVariable  = "columns"
	scalesVariable   = "scales"
)

// namesVariables are the names that the list of the samples' names may have.
var namesVariables = []string{namesVariable, "files", "filenames", "file_names", "paths", "image_paths"}

// content makes the set of the vectors and labels among the variables, found by the names in the options or
// else by the given ones, in this order. Names of samples and classes are taken as Write puts them.
func (vs variables) content(in *input, features, labels []string) (*Content, error) {
	if in.opt.Features != "" {
		features = []string{in.opt.Features}
	}
	x := vs.find(features...)
	if x == nil {
		return nil, fmt.Errorf("no variable %s; the file holds %s", strings.Join(features, " or "), vs)
	}
	if x.Value == nil {
		return nil, fmt.Errorf("variable %s is not a matrix of numbers", x)
	}
	n, _ := x.Value.Dims()

	var words []string
	given := in.opt.Labels
	if given != "" {
		labels = []string{given}
	}
	y, names := vs.find(labels...), vs.find(namesVariables...)
	if names != nil && (names.Text == nil || names == x || names == y) {
		names = nil
	}
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
		return nil, fmt.Errorf("no variable %s; the file holds %s", given, vs)
	default:
		for i := range vs {
			if v := &vs[i]; v != x && v != names && v.len() == n && n > 1 {
				return nil, fmt.Errorf("no variable %s, but %s may hold the labels: give the variable of the labels, or - for none", strings.Join(labels, " or "), v)
			}
		}
	}
	s, err := in.content(x.Value, words)
	if err != nil {
		return nil, err
	}
	if names != nil {
		s.nameSamples(names.Text)
	}
	if classes := vs.find(classesVariable); classes != nil && y != nil {
		s.nameClasses(classes.Text, y)
	}
	return s, nil
}
