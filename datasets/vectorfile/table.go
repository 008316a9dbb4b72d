package vectorfile

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/naming"
)

// pandasIndex is the column of the index of a pandas.DataFrame that does not count rows.
const pandasIndex = "__index_level_0__"

// column is a column of a table, in a Parquet or Arrow file.
type column struct {
	name   string
	kind   string // the type of its values
	wrong  string // why it cannot be read, or ""
	isText bool
	// numbers and words are its values, and whether each is the first one of its row: a list has several. Nulls are NaN
	// and "". They end with guard.Fail. numbers is nil for a column of other values.
	numbers iter.Seq2[float64, bool]
	words   iter.Seq2[string, bool]
}

// table returns the content of a table with one sample a row. Columns of numbers, and of lists of as many numbers in each
// row, are features; a null is a missing value. The column of classes is named as in a CSV file. A first column of a usual
// name or of words, or the index of a pandas.DataFrame, holds the samples' names.
func (in *input) table(n int, columns []column) *Content {
	before := in.left
	in.reserve(numberRoom*int64(n), fmt.Sprintf("%d rows", n)) // nulls take no place in a file
	in.left = before
	label := in.labelColumn(lists.Map(columns, func(c column) string { return c.name }))
	var classes, names []string
	var features [][]float64
	width := 0
	for i, c := range columns {
		guard.Check(in.ctx.Err())
		isName := c.name == pandasIndex || i == 0 && (c.isText || slices.Contains(naming.Headers, strings.ToLower(c.name)))
		guard.Within(func() {
			failIf(c.wrong != "", "%s", c.wrong)
			switch {
			case i == label:
				classes = in.wordsOf(c, n)
			case isName:
				names = in.wordsOf(c, n)
			default:
				if values := in.numbersOf(c, n); n > 0 {
					features, width = append(features, values), width+len(values)/n
				}
			}
		}, "column %q", c.name)
	}
	failIf(n == 0 || width == 0, "the file has %d rows and no columns of numbers", n)
	x, at := mat.NewDense(n, width, nil), 0
	for _, values := range features {
		m := len(values) / n
		for i := range n {
			copy(x.RawRowView(i)[at:], values[i*m:(i+1)*m])
		}
		at += m
	}
	s := in.content(x, classes)
	s.nameSamples(names)
	return s
}

// labelColumn returns the column with the name of the options, else the first with a usual name, or -1.
func (in *input) labelColumn(columns []string) int {
	given, names := in.opt.Labels, labelColumns
	if given != "" {
		names = []string{given}
	}
	for _, name := range names {
		if at := slices.IndexFunc(columns, func(column string) bool { return strings.EqualFold(column, name) }); at >= 0 {
			return at
		}
	}
	failIf(given != "" && given != "-", "no column is called %q; the columns are %s", given, naming.Short(columns))
	return -1
}

const numberRoom = 3 * 8 // lists are copied as they grow

// numbersOf returns the numbers of a column of n rows, which has as many in each row.
func (in *input) numbersOf(c column, n int) (out []float64) {
	failIf(c.numbers == nil, "values of type %s; expected numbers (remove the column, or name it label)", c.kind)
	width := 0
	eachValue(c.numbers, n, func(row int, x float64, first bool) {
		in.reserve(numberRoom, "the values up to this row")
		if math.IsNaN(x) && !in.opt.Missing {
			guard.Fail("null or NaN is not a finite number%s", missingHint)
		} else if math.IsInf(x, 0) {
			guard.Fail("%v is not a finite number", x)
		}
		if out = append(out, x); row == 0 {
			width++
		}
		if len(out) > (row+1)*width || first && len(out) != row*width+1 {
			guard.Fail("a list of another length than %d, as in the first row", width)
		}
	})
	failIf(len(out) != n*width, "row %d: a list of another length than %d, as in the first row", n, width)
	return out
}

// wordsOf returns the values of a column of n rows as words, "" for nulls.
func (in *input) wordsOf(c column, n int) []string {
	words := make([]string, 0, min(n, 1<<16))
	eachValue(c.words, n, func(row int, word string, _ bool) {
		if len(words) != row {
			guard.Fail("a list; expected one value")
		}
		if word == "NaN" {
			word = ""
		}
		words = append(words, word)
		in.reserve(int64(48+len(word)), "the names up to this row")
	})
	return words
}

// eachValue calls do for each of the values of n rows. Errors name the row.
func eachValue[T any](values iter.Seq2[T, bool], n int, do func(row int, v T, first bool)) {
	row := -1
	err := guard.Try(func() {
		for v, first := range values {
			if first {
				row++
			}
			do(row, v, first)
		}
	})
	guard.Check(guard.Wrap(err, "row %d", max(row, 0)+1))
	failIf(row+1 != n, "%d rows, expected %d", row+1, n)
}

// undamaged returns a reader like read, whose panics are errors of a damaged file of the format.
func undamaged(format string, read func(in *input) *Content) func(in *input) *Content {
	return func(in *input) (c *Content) {
		err := guard.Call(func() error {
			c = read(in)
			return nil
		})
		if broken, ok := errors.AsType[*guard.PanicError](err); ok {
			guard.Fail("the %s file is damaged: %v", format, broken.Value)
		}
		guard.Check(err)
		return c
	}
}
