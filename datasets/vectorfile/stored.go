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

	"github.com/seed4492f2cd/partwise/internal/freelist"
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
	// least and greatest are the least and the greatest value, or of bytes 0 and 255
	// where one is above 1.
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
		part, at := s.part(from + done)
		count := min(p-done, part.rows-at)
		if err := part.read(at, dst.Slice(done, done+count, 0, c).(*mat.Dense)); err != nil {
			return err
		}
		done += count
	}
	return nil
}

// part returns the part that has row i, and the row's place in it.
func (s *Stored) part(i int) (*storedPart, int) {
	at := 0
	for ; i >= s.parts[at].rows; at++ {
		i -= s.parts[at].rows
	}
	return &s.parts[at], i
}

// storedBytes hold what is read of a file.
var storedBytes = freelist.List[*[]byte]{New: func() *[]byte { return new([]byte) }}

// read writes the rows from, … to dst.
func (p *storedPart) read(from int, dst *mat.Dense) error {
	rows, c := dst.Dims()
	stride := c * p.kind.Size()
	room := storedBytes.Get()
	defer storedBytes.Put(room)
	raw := slices.Grow((*room)[:0], rows*stride)[:rows*stride]
	*room = raw
	if _, err := p.file.ReadAt(raw, p.start+int64(from)*int64(stride)); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("it has become shorter: %w", ErrChanged)
		}
		return fmt.Errorf("%s: rows %d to %d: %w", p.path, from+1, from+rows, err)
	}
	for i := range rows {
		to, from := dst.RawRowView(i), raw[i*stride:][:stride]
		if p.kind == number.Uint8 {
			for j, x := range from {
				to[j] = float64(x)
			}
			continue
		}
		at := p.kind.In(from, p.order)
		for j := range to {
			to[j] = at(j)
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
			for j, v := range x.RawRowView(i) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return notFinite(from+i, j, v)
				}
				s.least, s.greatest = min(s.least, v), max(s.greatest, v)
			}
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

// storedOf returns the matrix of the values that follow what was read of a file: count of
// them, in rows of m. Where the file is packed unpacked is what follows in it, and goes to a
// temporary file, else nil.
func storedOf(path string, file *os.File, unpacked io.Reader, start int64, n, m int, kind number.Kind, order binary.ByteOrder) (_ *Stored, err error) {
	size := int64(n) * int64(m) * int64(kind.Size())
	part := storedPart{file: file, path: path, start: start, rows: n, kind: kind, order: order}
	if unpacked != nil {
		if part.file, err = os.CreateTemp("", "partwise-*.values"); err != nil {
			return nil, err
		}
		// Where a file that is open can be removed it needs no name.
		part.temporary, part.start = os.Remove(part.file.Name()) != nil, 0
		defer func() {
			if err != nil {
				part.close()
			}
		}()
		written, err := io.Copy(part.file, io.LimitReader(unpacked, size+1))
		if err != nil {
			return nil, err
		}
		return part.whole(m, written, size)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return part.whole(m, info.Size()-start, size)
}

// whole returns the matrix of the part, which has as many bytes as it needs, or an error.
func (p storedPart) whole(m int, there, need int64) (*Stored, error) {
	switch cmp.Compare(there, need) {
	case -1:
		return nil, fmt.Errorf("%d bytes are promised and %d are there: %w", need, there, io.ErrUnexpectedEOF)
	case 1:
		return nil, fmt.Errorf("more bytes follow than the %d of the values", need)
	}
	return &Stored{cols: m, parts: []storedPart{p}}, nil
}
