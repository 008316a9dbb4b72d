// Package matrix implements operations on rows of dense and sparse matrices.
package matrix

import (
	"encoding/binary"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Row is mat.Row, faster for a matrix of bytes: it returns row i of x in dst, or in a new slice if dst is nil.
func Row(dst []float64, i int, x mat.Matrix) []float64 {
	b, ok := x.(interface{ CopyRow(dst []float64, i int) })
	if !ok {
		return mat.Row(dst, i, x)
	}
	if dst == nil {
		_, m := x.Dims()
		dst = make([]float64, m)
	}
	b.CopyRow(dst, i)
	return dst
}

// SelectRows returns the given rows of x.
func SelectRows(x mat.Matrix, rows []int) mat.Matrix {
	switch x := x.(type) {
	case *sparse.CSR:
		return x.SelectRows(rows)
	case interface{ SelectRows([]int) mat.Matrix }:
		return x.SelectRows(rows)
	}
	_, m := x.Dims()
	if len(rows) == 0 || m == 0 {
		return &mat.Dense{}
	}
	out := mat.NewDense(len(rows), m, nil)
	for to, from := range rows {
		Row(out.RawRowView(to), from, x)
	}
	return out
}

// WriteRows writes the values of the given rows of x, with their columns if x is sparse. The identities of logged trials
// contain a digest of this output, so its format must not change.
func WriteRows(w io.Writer, x mat.Matrix, rows []int) {
	var buf []byte
	EachRow(x, rows, func(_ int, columns []int, values []float64) {
		buf = buf[:0]
		for j, v := range values {
			if columns != nil {
				buf = binary.LittleEndian.AppendUint64(buf, uint64(columns[j]))
			}
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		}
		w.Write(buf)
	})
}

// EachValue calls f with each stored value of the given rows of x: the index of the row in rows, the column and the
// value.
func EachValue(x mat.Matrix, rows []int, f func(at, column int, v float64)) {
	EachRow(x, rows, func(at int, columns []int, values []float64) {
		for j, v := range values {
			if columns != nil {
				j = columns[j]
			}
			f(at, j, v)
		}
	})
}

// EachRow calls f for each of the given rows of x, with the index of the row in rows and its values, which are valid
// until f returns. If x is sparse, values are the stored ones and columns holds their columns, else columns is nil.
func EachRow(x mat.Matrix, rows []int, f func(at int, columns []int, values []float64)) {
	_, m := x.Dims()
	var row []float64
	for at, i := range rows {
		switch x := x.(type) {
		case *sparse.CSR:
			columns, values := x.Row(i)
			f(at, columns, values)
		case *mat.Dense:
			f(at, nil, x.RawRowView(i))
		default:
			if row == nil {
				row = make([]float64, m)
			}
			f(at, nil, Row(row, i, x))
		}
	}
}

// Range returns 0, …, n−1.
func Range(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// AllRows returns the indices of all rows of x.
func AllRows(x mat.Matrix) []int {
	n, _ := x.Dims()
	return Range(n)
}

// FirstNegative returns the first negative value of the given rows of x, the index of its row in rows and its column.
func FirstNegative(x mat.Matrix, rows []int) (at, column int, value float64, found bool) {
	EachRow(x, rows, func(i int, columns []int, values []float64) {
		j := slices.IndexFunc(values, func(v float64) bool { return v < 0 })
		if found || j < 0 {
			return
		}
		if at, column, value, found = i, j, values[j], true; columns != nil {
			column = columns[j]
		}
	})
	return at, column, value, found
}

// Take returns the values at the given indices, nil for nil.
func Take[T any](values []T, places []int) []T {
	if values == nil {
		return nil
	}
	return lists.Map(places, func(i int) T { return values[i] })
}

// UnitRows returns a copy of x with rows scaled to unit length, except rows of zeros.
func UnitRows(x *mat.Dense) *mat.Dense {
	rows := mat.DenseCopyOf(x)
	n, _ := x.Dims()
	for i := range n {
		if length := elementary.Norm(rows.RawRowView(i)); length > 0 {
			floats.Scale(1/length, rows.RawRowView(i))
		}
	}
	return rows
}

// PositiveColumns returns p with the sign of each column changed so that its largest entry is positive.
func PositiveColumns(p *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(p)
	_, d := p.Dims()
	for c := range d {
		column, largest := mat.Col(nil, c, p), 0.0
		for _, x := range column {
			if math.Abs(x) > math.Abs(largest) {
				largest = x
			}
		}
		floats.Scale(math.Copysign(1, largest), column)
		out.SetCol(c, column)
	}
	return out
}
