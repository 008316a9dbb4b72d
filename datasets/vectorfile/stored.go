package vectorfile

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/number"
)

// ErrChanged is in the error of a file that holds something else than before.
var ErrChanged = errors.New("the file changed during the run; run it again when nothing writes to it")

// Stored is an r×c matrix whose values stay in files, from which Read takes some rows. It
// satisfies mat.Matrix and the Blocks of package factor. Whoever opened it closes it. Its
// methods may be called at once.
type Stored struct {
	cols  int
	parts []storedPart
	// least and greatest are the least and the greatest value, or of bytes 0 and 255 where one is above 1.
	least, greatest float64
}

// storedPart is the rows in one file, which stand one after the other.
type storedPart struct {
	file      *os.File
	path      string // what was opened
	temporary bool   // file is to be removed: what path holds is packed
	start     int64  // of the values
	rows      int
	kind      number.Kind
	order     binary.ByteOrder
}

// close closes the file.
func (p *storedPart) close() error {
	err := p.file.Close()
	if p.temporary {
		err = errors.Join(err, os.Remove(p.file.Name()))
	}
	return err
}

// Dims returns the numbers of rows and columns.
func (s *Stored) Dims() (r, c int) {
	for i := range s.parts {
		r += s.parts[i].rows
	}
	return r, s.cols
}

// At returns the value at row i, column j, or NaN where it cannot be read. Whoever wants
// many values uses Read.
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

// Read writes the rows from, …, from+p−1 to dst, p×c. An error names the file.
func (s *Stored) Read(ctx context.Context, from int, dst *mat.Dense) error {
	p, c := dst.Dims()
	if r, columns := s.Dims(); from < 0 || p > r-from || c != columns {
		panic(mat.ErrShape)
	}
	for done := 0; done < p; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		at, row := 0, from+done // the part that has the row, and its place there
		for ; row >= s.parts[at].rows; at++ {
			row -= s.parts[at].rows
		}
		count := min(p-done, s.parts[at].rows-row)
		if err := s.parts[at].read(row, dst.Slice(done, done+count, 0, c).(*mat.Dense)); err != nil {
			return err
		}
		done += count
	}
	return nil
}

// read writes the rows from, … to dst.
func (p *storedPart) read(from int, dst *mat.Dense) error {
	rows, c := dst.Dims()
	stride := c * p.kind.Size()
	raw := make([]byte, rows*stride)
	if _, err := p.file.ReadAt(raw, p.start+int64(from)*int64(stride)); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("it has become shorter: %w", ErrChanged)
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

// Close closes the files.
func (s *Stored) Close() (err error) {
	for i := range s.parts {
		err = errors.Join(err, s.parts[i].close())
	}
	s.parts = nil
	return err
}

// Range returns the least and the greatest value, or of bytes 0 and 255 where one is above 1.
func (s *Stored) Range() (least, greatest float64) { return s.least, s.greatest }

// scan reads all values once, for the least and the greatest. One that is no number is an
// error. Of bytes it reads as many as tell what they stand for.
func (s *Stored) scan(ctx context.Context) error {
	n, m := s.Dims()
	s.least, s.greatest = math.Inf(1), math.Inf(-1)
	rows := max(1, min(n, 1<<17/m))
	x := mat.NewDense(rows, m, nil)
	for from := 0; from < n; from += rows {
		x := x.Slice(0, min(rows, n-from), 0, m).(*mat.Dense)
		if err := s.Read(ctx, from, x); err != nil {
			return err
		}
		p, _ := x.Dims()
		for i := range p {
			row := x.RawRowView(i)
			if err := checkRow(from+i, nil, row); err != nil {
				return err
			}
			s.least, s.greatest = min(s.least, slices.Min(row)), max(s.greatest, slices.Max(row))
		}
		if s.bytes() && s.greatest > 1 {
			s.least, s.greatest = 0, 255
			break
		}
	}
	return nil
}

// bytes tells whether all values are bytes.
func (s *Stored) bytes() bool {
	return !slices.ContainsFunc(s.parts, func(p storedPart) bool { return p.kind != number.Uint8 })
}

// storedOf returns the matrix of an array whose values begin at start of the file at path.
// Where the file is packed, unpacked reads them and they go to a temporary file, else it is nil.
func storedOf(path string, unpacked io.Reader, start int64, a *array) (_ *Stored, err error) {
	n, m := a.size()
	part := storedPart{path: path, start: start, rows: n, kind: a.kind, order: a.order}
	need := int64(n) * int64(m) * int64(a.kind.Size())
	if unpacked == nil {
		part.file, err = os.Open(path)
	} else if part.file, err = os.CreateTemp("", "partwise-*.values"); err == nil {
		// Where a file that is open can be removed it needs no name.
		part.temporary, part.start = os.Remove(part.file.Name()) != nil, 0
		_, err = io.Copy(part.file, io.LimitReader(unpacked, need+1))
	}
	if part.file == nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			part.close()
		}
	}()
	info, statErr := part.file.Stat()
	if err = cmp.Or(err, statErr); err != nil {
		return nil, err
	}
	switch there := info.Size() - part.start; {
	case there < need:
		return nil, promised(need, there)
	case there > need:
		return nil, fmt.Errorf("more bytes follow than the %d of the values", need)
	}
	return &Stored{cols: m, parts: []storedPart{part}}, nil
}
