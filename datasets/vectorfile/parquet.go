package vectorfile

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/number"
)

// pandasIndex is the column of the index of a pandas.DataFrame that does not count rows.
const pandasIndex = "__index_level_0__"

// readParquet reads a Parquet file with one sample a row. Columns of numbers, and of lists of as many numbers in each row,
// are features; a null is a missing value. The column of classes is named as in a CSV file. A first column of a usual name
// or of words, or the index of a pandas.DataFrame, holds the samples' names.
func readParquet(in *input) (c *Content) {
	err := guard.Call(func() error {
		c = in.parquet()
		return nil
	})
	if broken, ok := errors.AsType[*guard.PanicError](err); ok { // of the library
		guard.Fail("the Parquet file is damaged: %v", broken.Value)
	}
	guard.Check(err)
	return c
}

func (in *input) parquet() *Content {
	var end [8]byte // the length of the metadata before it, and PAR1
	_, err := in.ReadAt(end[:], in.size-int64(len(end)))
	failIf(err != nil || !isParquet(end[4:]), "the Parquet file is incomplete")
	length := int64(binary.LittleEndian.Uint32(end[:]))
	failIf(length > in.size-12, "the Parquet file is damaged: wrong length of the metadata")
	in.reserve(16*length, "the metadata")
	f, err := parquet.OpenFile(in, in.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	failIf(err != nil, "not a readable Parquet file: %w", err)
	all := f.Root().Columns()
	columns := lists.Map(all, (*parquet.Column).Name)
	labels := labelColumns
	if given := in.opt.Labels; given != "" {
		labels = []string{given}
	}
	label := slices.IndexFunc(columns, func(name string) bool {
		return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, name) })
	})
	failIf(label < 0 && in.opt.Labels != "" && in.opt.Labels != "-", "no column is called %q; the columns are %s", in.opt.Labels, naming.Short(columns))
	n := int(f.NumRows())
	var classes, names []string
	var features [][]float64
	width := 0
	for i, c := range all {
		for !c.Leaf() && len(c.Columns()) == 1 { // a list
			c = c.Columns()[0]
		}
		isName := i != label && (columns[i] == pandasIndex || i == 0 && (isText(c) || slices.Contains(naming.Headers, strings.ToLower(columns[i]))))
		guard.Within(func() {
			failIf(!c.Leaf(), "a column of records; expected numbers")
			// Damaged values make the library take all memory.
			failIf(c.Compression().CompressionCodec() == format.Lz4Raw, "compressed by LZ4; write the file with snappy, zstd or no compression")
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
		}, "column %q", columns[i])
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

var isParquet = startsWith("PAR1")

func isText(c *parquet.Column) bool { return c.Leaf() && c.Type().Kind() == parquet.ByteArray }

// eachValue calls do for each value of a column of n rows.
func (in *input) eachValue(c *parquet.Column, n int, do func(row int, v parquet.Value)) {
	pages := c.Pages()
	defer pages.Close()
	buffer, row := make([]parquet.Value, 1024), -1
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			failIf(row != n-1, "%d rows, expected %d", row+1, n)
			return
		}
		guard.Check(err)
		for values, k := page.Values(), 0; err == nil; {
			k, err = values.ReadValues(buffer)
			failed := guard.Try(func() {
				for _, v := range buffer[:k] {
					if v.RepetitionLevel() == 0 {
						row++
					}
					do(row, v)
				}
			})
			guard.Check(guard.Wrap(failed, "row %d", row+1))
			guard.Check(in.ctx.Err())
		}
		parquet.Release(page)
		failIf(err != io.EOF, "%w", err)
	}
}

// numbersOf returns the numbers of a column of n rows, which has as many in each row.
func (in *input) numbersOf(c *parquet.Column, n int) (out []float64) {
	number := numberOf(c.Type())
	failIf(number == nil, "values of type %s; expected numbers (remove the column, or name it label)", c.Type())
	width := 0
	in.eachValue(c, n, func(row int, v parquet.Value) {
		in.reserve(3*8, "the values up to this row") // lists are copied as they grow
		x := math.NaN()
		if !v.IsNull() {
			x = number(v)
		}
		if math.IsNaN(x) && !in.opt.Missing || math.IsInf(x, 0) {
			guard.Fail("%v is not a finite number%s", v, missingHint)
		}
		if out = append(out, x); row == 0 {
			width++
		}
		if len(out) > (row+1)*width || v.RepetitionLevel() == 0 && len(out) != row*width+1 {
			guard.Fail("a list of another length than %d, as in the first row", width)
		}
	})
	failIf(len(out) != n*width, "row %d: a list of another length than %d, as in the first row", n, width)
	return out
}

// numberOf returns a function for the numbers of a type, or nil if its values are not numbers.
func numberOf(t parquet.Type) func(parquet.Value) float64 {
	scale, isUnsigned := 1., false
	if logical := t.LogicalType(); logical != nil {
		switch kind := logical.Value.(type) {
		case *format.IntType:
			isUnsigned = !kind.IsSigned
		case *format.DecimalType:
			scale = math.Pow10(int(kind.Scale))
		default:
			return nil // such as a date
		}
	}
	switch kind := t.Kind(); {
	case kind == parquet.FixedLenByteArray && t.LogicalType() != nil: // a decimal
		return func(v parquet.Value) (x float64) {
			for i, b := range v.ByteArray() { // big-endian, in two's complement
				if x = 256*x + float64(b); i == 0 {
					x = float64(int8(b))
				}
			}
			return x / scale
		}
	case kind == parquet.FixedLenByteArray && t.Length() == 2: // the library drops the logical type of half-precision numbers
		return func(v parquet.Value) float64 { return number.Half(binary.LittleEndian.Uint16(v.ByteArray())) }
	case kind == parquet.Boolean:
		return func(v parquet.Value) float64 { return map[bool]float64{true: 1}[v.Boolean()] }
	case kind == parquet.Int32 && isUnsigned:
		return func(v parquet.Value) float64 { return float64(v.Uint32()) }
	case kind == parquet.Int32:
		return func(v parquet.Value) float64 { return float64(v.Int32()) / scale }
	case kind == parquet.Int64 && isUnsigned:
		return func(v parquet.Value) float64 { return float64(v.Uint64()) }
	case kind == parquet.Int64:
		return func(v parquet.Value) float64 { return float64(v.Int64()) / scale }
	case kind == parquet.Float:
		return func(v parquet.Value) float64 { return float64(v.Float()) }
	case kind == parquet.Double:
		return parquet.Value.Double
	}
	return nil
}

// wordsOf returns the values of a column of n rows as words, "" for nulls.
func (in *input) wordsOf(c *parquet.Column, n int) []string {
	words := make([]string, 0, min(n, 1<<16))
	in.eachValue(c, n, func(row int, v parquet.Value) {
		failIf(len(words) != row, "a list; expected one value")
		word := v.String()
		if v.IsNull() || word == "NaN" {
			word = ""
		}
		words = append(words, word)
		in.reserve(int64(48+len(word)), "the names up to this row")
	})
	return words
}
