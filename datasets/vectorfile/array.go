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

// matrix reads the numbers from r, in which at most most bytes are left, as a *Bytes where they are bytes.
func (a *array) matrix(r io.Reader, most int64, in *input) (mat.Matrix, error) {
	n, m := a.size()
	if a.kind == number.Uint8 {
		data, err := readValues(a, r, most, in, 1, func(raw []byte) func(int) uint8 { return func(i int) uint8 { return raw[i] } })
		if err != nil {
			return nil, err
		}
		return NewBytes(n, m, data), nil
	}
	data, err := a.floats(r, most, in)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(n, m, data), nil
}

// floats is matrix of any kind of numbers, row by row.
func (a *array) floats(r io.Reader, most int64, in *input) ([]float64, error) {
	return readValues(a, r, most, in, 8, func(raw []byte) func(int) float64 { return a.kind.In(raw, a.order) })
}

// readValues reads numbers, of bytes bytes each, some rows or columns at a time.
func readValues[T any](a *array, r io.Reader, most int64, in *input, bytes int64, decode func(raw []byte) func(i int) T) ([]T, error) {
	n, m := a.size()
	size := a.kind.Size()
	total := int64(n) * int64(m) * int64(size)
	lines, length, together := n, m, 1
	byColumns := a.columns && n > 1 && m > 1
	if byColumns {
		lines, length, together = m, n, 16
	}
	const chunk = 1 << 16
	together = min(lines, max(together, chunk/(length*size)))
	if total > most {
		return nil, promised(total, most)
	}
	if err := in.take(int64(n)*int64(m)*bytes+int64(together*length*size), fmt.Sprintf("%d×%d numbers", n, m)); err != nil {
		return nil, err
	}
	out, buffer := make([]T, n*m), make([]byte, together*length*size)
	for first := 0; first < lines; first += together {
		count := min(together, lines-first)
		raw := buffer[:count*length*size]
		if k, err := io.ReadFull(r, raw); err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, promised(total, int64(first*length*size+k))
		} else if err != nil {
			return nil, err
		}
		value := decode(raw)
		if !byColumns {
			for i := range out[first*m : (first+count)*m] {
				out[first*m+i] = value(i)
			}
			continue
		}
		for i := range n {
			for p := range count {
				out[i*m+a.column(first+p)] = value(p*n + i)
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
