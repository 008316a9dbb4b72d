// Package sparse implements a sparse matrix in compressed row storage.
package sparse

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// CSR is a sparse r×c matrix: row i holds Values[RowStart[i]:RowStart[i+1]] in the columns of the same range of
// Columns, which are strictly increasing. It implements mat.Matrix.
type CSR struct {
	rows, cols int
	RowStart   []int // len rows+1
	Columns    []int // len nnz
	Values     []float64
}

// New returns an r×c matrix that shares the given slices, after validating them.
func New(r, c int, rowStart, columns []int, values []float64) (*CSR, error) {
	switch {
	case r < 0 || c < 0 || len(rowStart) != r+1 || len(columns) != len(values):
		return nil, fmt.Errorf("sparse: %d×%d matrix with %d row starts, %d columns and %d values", r, c, len(rowStart), len(columns), len(values))
	case rowStart[0] != 0 || rowStart[r] != len(values):
		return nil, fmt.Errorf("sparse: row starts run from %d to %d, expected 0 to %d", rowStart[0], rowStart[r], len(values))
	}
	for i := range r {
		if rowStart[i] > rowStart[i+1] || rowStart[i+1] > len(columns) {
			return nil, fmt.Errorf("sparse: row %d runs from %d to %d of %d values", i+1, rowStart[i], rowStart[i+1], len(columns))
		}
		prev := -1
		for _, j := range columns[rowStart[i]:rowStart[i+1]] {
			if j <= prev || j >= c {
				return nil, fmt.Errorf("sparse: row %d: column index %d after %d, of %d columns", i+1, j, prev, c)
			}
			prev = j
		}
	}
	return &CSR{rows: r, cols: c, RowStart: rowStart, Columns: columns, Values: values}, nil
}

// Entry is a value with its row and column.
type Entry struct {
	Row, Col int
	Value    float64
}

// FromEntries returns the r×c matrix of the entries, in any order. Entries with the same row and column are summed in
// their order. Zeros are not stored.
func FromEntries(r, c int, entries []Entry) *CSR {
	m := &CSR{rows: r, cols: c, RowStart: make([]int, 1, r+1)}
	rows := make([][]Entry, r)
	for _, e := range entries {
		rows[e.Row] = append(rows[e.Row], e)
	}
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b Entry) int { return a.Col - b.Col })
		for at := 0; at < len(row); {
			e := row[at]
			for at++; at < len(row) && row[at].Col == e.Col; at++ {
				e.Value += row[at].Value
			}
			if e.Value != 0 {
				m.Columns, m.Values = append(m.Columns, e.Col), append(m.Values, e.Value)
			}
		}
		m.RowStart = append(m.RowStart, len(m.Values))
	}
	return m
}

// Dims returns the numbers of rows and columns.
func (m *CSR) Dims() (r, c int) { return m.rows, m.cols }

// At returns the value at row i, column j, by binary search.
func (m *CSR) At(i, j int) float64 {
	if i < 0 || i >= m.rows || j < 0 || j >= m.cols {
		panic(mat.ErrIndexOutOfRange)
	}
	cols, vals := m.Row(i)
	if p, ok := slices.BinarySearch(cols, j); ok {
		return vals[p]
	}
	return 0
}

// T returns the transpose as a view.
func (m *CSR) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// Transpose returns the transpose in compressed row storage.
func (m *CSR) Transpose() *CSR {
	out := &CSR{m.cols, m.rows, make([]int, m.cols+1), make([]int, len(m.Columns)), make([]float64, len(m.Values))}
	for _, j := range m.Columns {
		out.RowStart[j+1]++
	}
	for j := range m.cols {
		out.RowStart[j+1] += out.RowStart[j]
	}
	next := slices.Clone(out.RowStart)
	for i := range m.rows {
		cols, vals := m.Row(i)
		for p, j := range cols {
			out.Columns[next[j]], out.Values[next[j]] = i, vals[p]
			next[j]++
		}
	}
	return out
}

// Row returns the columns and values of row i, without copying.
func (m *CSR) Row(i int) (columns []int, values []float64) {
	lo, hi := m.RowStart[i], m.RowStart[i+1]
	return m.Columns[lo:hi], m.Values[lo:hi]
}

// AddDot returns sum plus the inner product of row i and x.
func (m *CSR) AddDot(sum float64, i int, x []float64) float64 {
	columns, values := m.Row(i)
	for p, j := range columns {
		sum += values[p] * x[j]
	}
	return sum
}

// CopyRow sets dst to row i.
func (m *CSR) CopyRow(dst []float64, i int) {
	clear(dst)
	columns, values := m.Row(i)
	for p, j := range columns {
		dst[j] = values[p]
	}
}

// NNZ returns the number of stored values.
func (m *CSR) NNZ() int { return len(m.Values) }

// Clone returns a deep copy.
func (m *CSR) Clone() *CSR {
	return &CSR{m.rows, m.cols, slices.Clone(m.RowStart), slices.Clone(m.Columns), slices.Clone(m.Values)}
}

// SelectRows returns the matrix of the given rows, in the given order.
func (m *CSR) SelectRows(rows []int) *CSR {
	starts := make([]int, len(rows)+1)
	for at, i := range rows {
		starts[at+1] = starts[at] + m.RowStart[i+1] - m.RowStart[i]
	}
	out := &CSR{len(rows), m.cols, starts, make([]int, starts[len(rows)]), make([]float64, starts[len(rows)])}
	for at, i := range rows {
		cols, vals := m.Row(i)
		copy(out.Columns[starts[at]:], cols)
		copy(out.Values[starts[at]:], vals)
	}
	return out
}

// AppendBinary implements encoding.BinaryAppender. The format is the numbers of rows, columns and values, then the
// number of values of each row, the columns and the values.
func (m *CSR) AppendBinary(b []byte) ([]byte, error) {
	for _, n := range []int{m.rows, m.cols, len(m.Values)} {
		if n > math.MaxInt32 {
			return b, fmt.Errorf("sparse: %d is too large to write", n)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	for i := range m.rows {
		b = binary.LittleEndian.AppendUint32(b, uint32(m.RowStart[i+1]-m.RowStart[i]))
	}
	for _, j := range m.Columns {
		b = binary.LittleEndian.AppendUint32(b, uint32(j))
	}
	return binary.Append(b, binary.LittleEndian, m.Values)
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It allocates at most 4·len(b) bytes.
func (m *CSR) UnmarshalBinary(b []byte) (err error) {
	defer guard.Catch(&err)
	const head = 12
	guard.FailIf(len(b) < head, "sparse: %d bytes are not a matrix", len(b))
	next := func() int {
		n := binary.LittleEndian.Uint32(b)
		b = b[4:]
		return int(n)
	}
	size := len(b)
	r, c, nnz := next(), next(), next()
	guard.FailIf(r > size || nnz > size || c > math.MaxInt32 || size != head+4*r+12*nnz,
		"sparse: %d bytes do not contain a %d×%d matrix of %d values", size, r, c, nnz)
	starts, columns, values := make([]int, r+1), make([]int, nnz), make([]float64, nnz)
	for i := range r {
		starts[i+1] = starts[i] + next()
	}
	guard.FailIf(starts[r] != nnz, "sparse: rows have %d values in total; expected %d", starts[r], nnz)
	for p := range columns {
		columns[p] = next()
	}
	guard.Must(binary.Decode(b, binary.LittleEndian, values))
	*m = *guard.Must(New(r, c, starts, columns, values))
	return nil
}
