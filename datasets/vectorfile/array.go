package vectorfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/number"
)

// array says how a file stores an array of numbers.
type array struct {
	kind  number.Kind
	order binary.ByteOrder
	// dims has one to three dimensions, of which the last runs fastest, or with columns the
	// first.
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

// read reads the size bytes of an array, of which known are known to be there, to the end of r.
// Errors begin with what, unless there is no room.
func read(r *bufio.Reader, size, known int64, what string, room *room) ([]byte, error) {
	raw, err := room.bytes(r, size, known, "the array of "+what)
	var tooLarge *limits.LimitError
	if errors.As(err, &tooLarge) {
		return nil, err
	}
	if err == nil {
		err = number.End(r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return raw, nil
}

// matrix returns the numbers in raw, as a *Bytes if they are bytes or else as a *mat.Dense. A
// *Bytes whose rows stand one after the other shares raw.
func (a *array) matrix(raw []byte, bytes bool, room *room) (mat.Matrix, error) {
	n, m := a.size()
	byColumns := a.columns && n > 1 && m > 1
	if bytes && !byColumns {
		return NewBytes(n, m, raw), nil
	}
	size := int64(n) * int64(m)
	if !bytes {
		size *= 8
	}
	if err := room.take(size, fmt.Sprintf("%d×%d numbers", n, m)); err != nil {
		return nil, err
	}
	defer room.give(int64(len(raw)))
	if bytes {
		data, err := transposed(a, func(i int) uint8 { return raw[i] }, room)
		if err != nil {
			return nil, err
		}
		return NewBytes(n, m, data), nil
	}
	at := a.kind.In(raw, a.order)
	if byColumns {
		data, err := transposed(a, at, room)
		if err != nil {
			return nil, err
		}
		return mat.NewDense(n, m, data), nil
	}
	data := make([]float64, 0, n*m)
	for row := range n {
		if err := room.ended(); err != nil {
			return nil, err
		}
		for i := row * m; i < (row+1)*m; i++ {
			data = append(data, at(i))
		}
	}
	return mat.NewDense(n, m, data), nil
}

// transposed returns the values of an array by columns row by row, of which at gives those of
// the file. It goes through a few columns at a time, so that those of large matrices stay in
// the processor's cache.
func transposed[T any](a *array, at func(i int) T, room *room) ([]T, error) {
	const few = 64
	n, m := a.size()
	places := make([]int, m) // of the columns in the file
	for j := range places {
		places[j] = j
		if len(a.dims) == 3 {
			places[j] = j%a.dims[2]*a.dims[1] + j/a.dims[2]
		}
	}
	out := make([]T, n*m)
	for first, some := range slices.Collect(slices.Chunk(places, few)) {
		if err := room.ended(); err != nil {
			return nil, err
		}
		for i := range n {
			for j, place := range some {
				out[i*m+first*few+j] = at(place*n + i)
			}
		}
	}
	return out, nil
}
