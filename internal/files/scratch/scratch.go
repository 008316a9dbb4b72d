// Package scratch keeps a matrix of float64 in a temporary file.
package scratch

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// Matrix is an n×k matrix in a temporary file. It is not safe for concurrent use, and must be closed.
type Matrix struct {
	n, k      int
	file      *os.File
	temporary bool // Close removes the file
	buffer    []byte
}

// Create returns a matrix of zeros whose file is in a folder. If the system allows it, the file has no name, so that it vanishes
// with the process.
func Create(folder string, n, k int) (*Matrix, error) {
	file, err := os.CreateTemp(folder, ".partwise-*.values")
	if err != nil {
		return nil, err
	}
	m := &Matrix{n: n, k: k, file: file}
	m.temporary = os.Remove(file.Name()) != nil
	if err := file.Truncate(8 * int64(n) * int64(k)); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Dims returns n and k.
func (m *Matrix) Dims() (n, k int) { return m.n, m.k }

// Read reads the rows from, …, from+p−1 to dst, p×k, which must be contiguous.
func (m *Matrix) Read(_ context.Context, from int, dst *mat.Dense) error {
	values, at := m.place(from, dst)
	_, err := m.file.ReadAt(m.buffer, at)
	if err == nil {
		_, err = binary.Decode(m.buffer, binary.LittleEndian, values)
	}
	return guard.Wrap(err, "temporary coefficients")
}

// Write writes src, p×k, which must be contiguous, to the rows from, …, from+p−1.
func (m *Matrix) Write(from int, src *mat.Dense) error {
	values, at := m.place(from, src)
	_, err := binary.Encode(m.buffer, binary.LittleEndian, values)
	if err == nil {
		_, err = m.file.WriteAt(m.buffer, at)
	}
	return guard.Wrap(err, "temporary coefficients")
}

// place returns the values of x, resizes the buffer for them, and returns the offset of row from.
func (m *Matrix) place(from int, x *mat.Dense) (values []float64, at int64) {
	p, _ := x.Dims()
	values = x.RawMatrix().Data[:p*m.k]
	m.buffer = slices.Grow(m.buffer[:0], 8*len(values))[:8*len(values)]
	return values, 8 * int64(from) * int64(m.k)
}

// Close closes and removes the file.
func (m *Matrix) Close() error {
	err := m.file.Close()
	if m.temporary {
		err = errors.Join(err, os.Remove(m.file.Name()))
	}
	return err
}
