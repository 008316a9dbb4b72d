package vectorfile

import (
	"encoding/binary"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/number"
)

// array says how a file stores an array of numbers.
type array struct {
	kind  number.Kind
	order binary.ByteOrder
	// dims has one to three dimensions, of which the last runs fastest, or with columns the
	// first. None is 0, and the numbers take at most number.MaxBytes.
	dims    []int
	columns bool
}

// size returns the size of the matrix with a row for each index along the first dimension.
func (a *array) size() (n, m int) {
	m = 1
	for _, d := range a.dims[1:] {
		m *= d
	}
	return a.dims[0], m
}

// matrix reads the numbers from r, in which at most most bytes are left, into a *Bytes or a *mat.Dense.
func (a *array) matrix(r io.Reader, most int64, in *input, asBytes bool) (mat.Matrix, error) {
	n, m := a.size()
	if asBytes {
		data, err := readValues(a, r, most, in, 1, func(raw []byte) func(int) uint8 { return func(i int) uint8 { return raw[i] } })
		if err != nil {
			return nil, err
		}
		return NewBytes(n, m, data), nil
	}
	data, err := readValues(a, r, most, in, 8, func(raw []byte) func(int) float64 { return a.kind.In(raw, a.order) })
	if err != nil {
		return nil, err
	}
	return mat.NewDense(n, m, data), nil
}

// readValues reads numbers, of bytes bytes each in memory, some rows or columns at a time.
func readValues[T any](a *array, r io.Reader, most int64, in *input, bytes int64, decode func(raw []byte) func(i int) T) ([]T, error) {
	n, m := a.size()
	lines, length, byColumns := n, m, a.columns && m > 1
	if byColumns {
		lines, length = m, n
	}
	const chunk = 1 << 16
	line := length * a.kind.Size()
	together := min(lines, max(1, chunk/line))
	total := int64(lines) * int64(line)
	if total > most {
		return nil, promised(total, most)
	}
	if err := in.take(int64(n)*int64(m)*bytes+int64(together*line), fmt.Sprintf("%d×%d numbers", n, m)); err != nil {
		return nil, err
	}
	out, buffer := make([]T, n*m), make([]byte, together*line)
	for first := 0; first < lines; first += together {
		raw := buffer[:min(together, lines-first)*line]
		if k, err := io.ReadFull(r, raw); err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, promised(total, int64(first*line+k))
		} else if err != nil {
			return nil, err
		}
		value := decode(raw)
		for i := range len(raw) / line {
			at, step := (first+i)*m, 1
			if byColumns {
				at, step = a.column(first+i), m
			}
			for p := range length {
				out[at+p*step] = value(i*length + p)
			}
		}
	}
	return out, nil
}

// column returns the column of the matrix that stands at place p in an array by columns.
func (a *array) column(p int) int {
	if len(a.dims) == 3 {
		return p%a.dims[1]*a.dims[2] + p/a.dims[1]
	}
	return p
}

func promised(bytes, there int64) error {
	return fmt.Errorf("%d bytes are promised and %d are there: %w", bytes, there, io.ErrUnexpectedEOF)
}

// Bytes is an r×c matrix of numbers from 0 to 255, a byte each: an eighth of
// what a mat.Dense takes. It satisfies mat.Matrix.
type Bytes struct {
	rows, cols int
	data       []uint8
}

// NewBytes returns the r×c matrix whose rows stand one after the other in data, which it keeps without
// copying. It panics if data does not hold r·c numbers, as mat.NewDense does.
func NewBytes(r, c int, data []uint8) *Bytes {
	if r < 0 || c < 0 || len(data) != r*c {
		panic(fmt.Sprintf("datasets: %d×%d matrix of %d bytes", r, c, len(data)))
	}
	return &Bytes{rows: r, cols: c, data: data}
}

// Dims returns the numbers of rows and columns.
func (b *Bytes) Dims() (r, c int) { return b.rows, b.cols }

// At returns the value at row i, column j.
func (b *Bytes) At(i, j int) float64 {
	if i < 0 || i >= b.rows || j < 0 || j >= b.cols {
		panic(mat.ErrIndexOutOfRange)
	}
	return float64(b.data[i*b.cols+j])
}

// T returns the transpose as a view.
func (b *Bytes) T() mat.Matrix { return mat.Transpose{Matrix: b} }

// Values returns all values row by row, without copying.
func (b *Bytes) Values() []uint8 { return b.data }

// Row returns the c values of row i, without copying.
func (b *Bytes) Row(i int) []uint8 {
	return b.data[i*b.cols : (i+1)*b.cols : (i+1)*b.cols]
}

// Row is mat.Row, without a call for each value of a *Bytes: it returns row i of x in dst, or in
// a new slice where that is nil.
func Row(dst []float64, i int, x mat.Matrix) []float64 {
	b, ok := x.(*Bytes)
	if !ok {
		return mat.Row(dst, i, x)
	}
	if dst == nil {
		dst = make([]float64, b.cols)
	}
	row := b.Row(i)
	dst = dst[:len(row)]
	for j, v := range row {
		dst[j] = float64(v)
	}
	return dst
}

// SelectRows returns a new matrix of the given rows, in the given order.
func (b *Bytes) SelectRows(rows []int) *Bytes {
	data := make([]uint8, 0, len(rows)*b.cols)
	for _, i := range rows {
		data = append(data, b.Row(i)...)
	}
	return NewBytes(len(rows), b.cols, data)
}
