package vectorfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/number"
)

// array describes how a file stores an array of numbers.
type array struct {
	kind    number.Kind
	order   binary.ByteOrder
	dims    []int // one to three positive sizes; the last index varies fastest, or with columns the first
	columns bool
}

// size returns the size of the matrix, with a row for each index of the first dimension.
func (a *array) size() (n, m int) {
	m = 1
	for _, d := range a.dims[1:] {
		m *= d
	}
	return a.dims[0], m
}

// matrix reads the numbers from r, which holds up to most bytes, into a *Bytes or a *mat.Dense. It calls guard.Fail.
func (a *array) matrix(r io.Reader, most int64, in *input, asBytes bool) mat.Matrix {
	n, m := a.size()
	if asBytes {
		return NewBytes(n, m, readValues(a, r, most, in, 1, func(raw []byte) func(int) uint8 { return func(i int) uint8 { return raw[i] } }))
	}
	return mat.NewDense(n, m, readValues(a, r, most, in, 8, func(raw []byte) func(int) float64 { return a.kind.In(raw, a.order) }))
}

// readValues reads numbers, some rows or columns at a time. bytes is the size of a number in memory.
func readValues[T any](a *array, r io.Reader, most int64, in *input, bytes int64, decode func(raw []byte) func(i int) T) []T {
	n, m := a.size()
	lines, length, byColumns := n, m, a.columns && m > 1
	if byColumns {
		lines, length = m, n
	}
	const chunk = 1 << 16
	line := length * a.kind.Size()
	together := min(lines, max(1, chunk/line))
	total := int64(lines) * int64(line)
	failIf(total > most, "%w", truncatedError(total, most))
	in.reserve(int64(n)*int64(m)*bytes+int64(together*line), fmt.Sprintf("%d×%d numbers", n, m))
	out, buffer := make([]T, n*m), make([]byte, together*line)
	for first := 0; first < lines; first += together {
		raw := buffer[:min(together, lines-first)*line]
		k, err := io.ReadFull(r, raw)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = truncatedError(total, int64(first*line+k))
		}
		guard.Check(err)
		value := decode(raw)
		for i := range len(raw) / line {
			at, step := (first+i)*m, 1
			if byColumns {
				at, step = first+i, m
			}
			if byColumns && len(a.dims) == 3 {
				at = at%a.dims[1]*a.dims[2] + at/a.dims[1]
			}
			for p := range length {
				out[at+p*step] = value(i*length + p)
			}
		}
	}
	return out
}

func truncatedError(bytes, there int64) error {
	return fmt.Errorf("the header declares %d bytes, but the file has %d: %w", bytes, there, io.ErrUnexpectedEOF)
}

// Bytes is an r×c matrix of numbers from 0 to 255, one byte each. It implements mat.Matrix.
type Bytes struct {
	rows, cols int
	data       []uint8
}

// NewBytes returns the r×c matrix of data, row by row, without copying. It panics unless len(data) is r·c.
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

// CopyRow sets dst to row i.
func (b *Bytes) CopyRow(dst []float64, i int) {
	for j, v := range b.Row(i) {
		dst[j] = float64(v)
	}
}

// SelectRows returns a new matrix of the rows, in this order.
func (b *Bytes) SelectRows(rows []int) mat.Matrix {
	return NewBytes(len(rows), b.cols, slices.Concat(lists.Map(rows, b.Row)...))
}

// ErrChanged is wrapped by the error of a file that changed between two reads.
var ErrChanged = errors.New("the file changed during the run; run again when no program writes to it")

// Stored is an r×c matrix whose values stay in files. Read reads some rows. It implements mat.Matrix and Blocks of
// package factor, must be closed, and is safe for concurrent use.
type Stored struct {
	cols    int
	parts   []storedPart
	checks  bool // Read returns an error for values that are not finite, except NaN with missing
	missing bool
	// least and greatest are the range of the values; for bytes with a value above 1 they are 0 and 255.
	least, greatest float64
}

type storedPart struct {
	array
	file      *os.File
	path      string // the opened path
	temporary bool   // file is a temporary copy that Close removes
	start     int64  // the offset of the values
}

// Dims returns the numbers of rows and columns.
func (s *Stored) Dims() (r, c int) {
	for i := range s.parts {
		r += s.parts[i].dims[0]
	}
	return r, s.cols
}

// At returns the value at row i, column j, or NaN on a read error. Read is faster and returns the error.
func (s *Stored) At(i, j int) float64 {
	if r, c := s.Dims(); i < 0 || i >= r || j < 0 || j >= c {
		panic(mat.ErrIndexOutOfRange)
	}
	row := mat.NewDense(1, s.cols, nil)
	if err := s.Read(context.Background(), i, row); err != nil {
		return math.NaN()
	}
	return row.At(0, j)
}

// T returns the transpose as a view.
func (s *Stored) T() mat.Matrix { return mat.Transpose{Matrix: s} }

// Read reads the rows from, …, from+p−1 into dst, p×c. An error names the file.
func (s *Stored) Read(ctx context.Context, from int, dst *mat.Dense) (err error) {
	defer guard.Catch(&err)
	p, c := dst.Dims()
	if r, columns := s.Dims(); from < 0 || p > r-from || c != columns {
		panic(mat.ErrShape)
	}
	for done := 0; done < p; {
		guard.Check(context.Cause(ctx))
		at, row := 0, from+done // the part that holds the row, and the row's index in it
		for ; row >= s.parts[at].dims[0]; at++ {
			row -= s.parts[at].dims[0]
		}
		count := min(p-done, s.parts[at].dims[0]-row)
		rows := dst.Slice(done, done+count, 0, c).(*mat.Dense)
		guard.Check(s.parts[at].read(row, rows))
		for i := 0; s.checks && i < count; i++ {
			guard.Check(guard.Wrap(checkRow(row+i, nil, rows.RawRowView(i), s.missing), "%s", s.parts[at].path))
		}
		done += count
	}
	return nil
}

// read reads the rows from, … into dst.
func (p *storedPart) read(from int, dst *mat.Dense) error {
	rows, c := dst.Dims()
	stride := c * p.kind.Size()
	raw := make([]byte, rows*stride)
	if _, err := p.file.ReadAt(raw, p.start+int64(from)*int64(stride)); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("it became shorter: %w", ErrChanged)
		}
		return fmt.Errorf("%s: rows %d to %d: %w", p.path, from+1, from+rows, err)
	}
	for i := range rows {
		row, value := dst.RawRowView(i), p.kind.In(raw[i*stride:], p.order)
		for j := range row {
			row[j] = value(j)
		}
	}
	return nil
}

// Close closes the files, and removes temporary ones.
func (s *Stored) Close() (err error) {
	for _, p := range s.parts {
		err = errors.Join(err, p.file.Close())
		if p.temporary {
			err = errors.Join(err, os.Remove(p.file.Name()))
		}
	}
	s.parts = nil
	return err
}

// Range returns the smallest and the largest value; for bytes with a value above 1 these are 0 and 255.
func (s *Stored) Range() (least, greatest float64) { return s.least, s.greatest }

// scan finds the range of the values that are not missing. For bytes it stops at the first value above 1. It calls
// guard.Fail for values that are not finite.
func (s *Stored) scan(ctx context.Context, missing bool) {
	n, m := s.Dims()
	s.least, s.greatest = math.Inf(1), math.Inf(-1)
	rows := max(1, min(n, 1<<17/m))
	x := mat.NewDense(rows, m, nil)
	for from := 0; from < n; from += rows {
		x := x.Slice(0, min(rows, n-from), 0, m).(*mat.Dense)
		guard.Check(s.Read(ctx, from, x))
		p, _ := x.Dims()
		for i := range p {
			row := x.RawRowView(i)
			guard.Check(checkRow(from+i, nil, row, missing))
			for _, v := range row {
				if !math.IsNaN(v) {
					s.least, s.greatest = min(s.least, v), max(s.greatest, v)
				}
			}
		}
		if s.isBytes() && s.greatest > 1 {
			s.least, s.greatest = 0, 255
			break
		}
	}
}

// isBytes reports whether all values are bytes.
func (s *Stored) isBytes() bool {
	return !slices.ContainsFunc(s.parts, func(p storedPart) bool { return p.kind != number.Uint8 })
}

// storeOnDisk returns the matrix of an array in the bytes from start to end of the file, or that is unpacked to a temporary
// file. A negative end is the end of the file.
func (in *input) storeOnDisk(unpacked io.Reader, start, end int64, a array) *Stored {
	n, m := a.size()
	part := storedPart{array: a, path: in.path, start: start}
	need := int64(n) * int64(m) * int64(a.kind.Size())
	if unpacked == nil {
		part.file = guard.Must(os.Open(in.path))
	} else {
		part.file, part.start = guard.Must(os.CreateTemp("", "partwise-*.values")), 0
		part.temporary = os.Remove(part.file.Name()) != nil // on most systems an open file can be removed at once
	}
	in.stored = &Stored{cols: m, parts: []storedPart{part}}
	if unpacked != nil {
		guard.Must(io.Copy(part.file, io.LimitReader(unpacked, need+1)))
	}
	size := guard.Must(part.file.Stat()).Size()
	if end < 0 || unpacked != nil {
		end = size
	}
	there := min(end, size) - part.start
	failIf(there < need, "%w", truncatedError(need, there))
	failIf(there > need, "extra bytes after the %d bytes of values", need)
	return in.stored
}
