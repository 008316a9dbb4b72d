package vectorfile

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

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
