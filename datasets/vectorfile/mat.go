package vectorfile

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unicode/utf16"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// readMAT reads the matrix "fea" and the labels "gnd" of a MATLAB file. Images, known by their size or because m is the
// square of a number from 16 to 256, are transposed, because MATLAB stores them by column.
func readMAT(in *input) *Content {
	vars := matVariables(in)
	s := vars.content(in, []string{"fea"}, []string{"gnd"})
	_, m := s.Vectors.Dims()
	if _, _, given := vars.imageSize(); s.Height == 0 && !given {
		if side := int(math.Round(math.Sqrt(float64(m)))); side*side == m && 16 <= side && side <= 256 {
			s.Height, s.Width = side, side
		}
	}
	switch x := s.Vectors.(type) {
	case *Bytes:
		turnImages(len(s.Names), s.Height, s.Width, x.Row)
	case *mat.Dense:
		turnImages(len(s.Names), s.Height, s.Width, x.RawRowView)
	default:
		s.Height, s.Width = 0, 0
	}
	return s
}

// turnImages transposes n images of h×w pixels, which row returns, from column-major to row-major.
func turnImages[T any](n, h, w int, row func(i int) []T) {
	upright := make([]T, h*w)
	for i := range n {
		image := row(i)
		for r := range h {
			for c := range w {
				upright[r*w+c] = image[c*h+r]
			}
		}
		copy(image, upright)
	}
}

// The types of elements and the classes of variables, named as in the format's description.
const (
	miINT8, miUINT8, miUINT16, miINT32, miUINT32, miDOUBLE          = 1, 2, 4, 5, 6, 9
	miMATRIX, miCOMPRESSED, miUTF8, miUTF16                         = 14, 15, 16, 17
	mxCELL, mxCHAR, mxSPARSE, mxDOUBLE, mxUINT8, mxUINT64, mxOPAQUE = 1, 4, 5, 6, 9, 15, 17
)

// matNumbers maps element types to their storage.
var matNumbers = map[uint32]number.Kind{
	1: number.Int8, 2: number.Uint8, 3: number.Int16, 4: number.Uint16, 5: number.Int32, 6: number.Uint32,
	7: number.Float32, 9: number.Float64, 12: number.Int64, 13: number.Uint64,
}

var matClasses = []string{
	1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 6: "double", 7: "single",
	8: "int8", 9: "uint8", 10: "int16", 11: "uint16", 12: "int32", 13: "uint32",
	14: "int64", 15: "uint64", 16: "function", 17: "opaque", 18: "object",
}

const matHeader = 128 // the length of the text and version at the start of a file

// matVariables reads the variables of a MATLAB file of version 5, as written by -v6 and -v7 ("MAT-File Format", The
// MathWorks, chapter 1). Numeric matrices get a value: a *Bytes for uint8 and logical, a *sparse.CSR for sparse, a
// *mat.Dense for others. Cells with a line of text each become a list of words.
func matVariables(in *input) (vars variables) {
	head := make([]byte, min(in.size, matHeader))
	guard.Must(in.ReadAt(head, 0))
	order, isMAT := sniffMAT(head)
	failIf(!isMAT, "not a MATLAB file of version 5 to 7")
	failIf(order == nil, `HDF5, also of MATLAB 7.3, is not supported; save in MATLAB with -v7, or in Python with numpy.savez("x.npz", X=h5py.File("x.h5")["X"])`)
	for off := int64(matHeader); off < in.size; {
		e, size := &matElement{order: order, in: in}, int64(0)
		guard.Within(func() {
			err := guard.Try(func() {
				if size = e.read(off); len(e.data) > 0 {
					e.variable()
				}
			})
			in.left += e.taken
			if e.v.Name != "" {
				guard.Check(guard.Wrap(err, "variable %q", e.v.Name))
				vars.add(e.v, in)
			}
			guard.Check(err)
		}, "byte %d", off)
		off += size
	}
	return vars
}

// sniffMAT recognises a MATLAB file and its byte order from its first 128 bytes. The order is nil for version 7.3.
func sniffMAT(head []byte) (order binary.ByteOrder, isMAT bool) {
	if len(head) >= matHeader {
		switch string(head[124:matHeader]) {
		case "\x00\x01IM":
			return binary.LittleEndian, true
		case "\x01\x00MI":
			return binary.BigEndian, true
		case "\x00\x02IM", "\x02\x00MI":
			return nil, true
		}
	}
	return nil, bytes.HasPrefix(head, []byte("\x89HDF\r\n\x1a\n"))
}

// matElement is the unread content of an element, and its variable as far as it is read. Methods call guard.Fail.
type matElement struct {
	data  []byte
	order binary.ByteOrder
	in    *input
	taken int64 // bytes of memory
	v     Variable
}

// read reads the element at off, if it is a variable, and returns its size in the file.
func (e *matElement) read(off int64) (size int64) {
	typ, n := e.tag(e.in.section(off, 8))
	most := e.in.size - off - 8
	failIf(n > most, "the file ends within an element: %w", truncatedError(n, most))
	r, packed := e.in.section(off+8, n), typ == miCOMPRESSED
	if size = 8 + n; packed {
		z, err := zlib.NewReader(r)
		guard.Check(err)
		defer z.Close()
		r, most = z, zipfile.MostDeflate*n
		typ, n = e.tag(z)
	} else {
		size += -n & 7
	}
	if typ != miMATRIX {
		return size
	}
	failIf(n > most, "%w", truncatedError(n, most))
	e.in.reserve(n, "a variable")
	e.taken = n
	data, err := number.ReadBytes(r, n, n)
	if err == nil && packed {
		err = number.End(bufio.NewReader(r)) // lets zlib check its sum
	}
	guard.Check(err)
	e.data = data
	return size
}

// tag reads a type and a size in bytes.
func (e *matElement) tag(r io.Reader) (typ uint32, n int64) {
	var tag [8]byte
	_, err := io.ReadFull(r, tag[:])
	failIf(err != nil, "the file ends within an element's tag: %w", err)
	return e.order.Uint32(tag[:]), int64(e.order.Uint32(tag[4:]))
}

// variable reads one variable as far as possible. Undocumented ones get no name.
func (e *matElement) variable() {
	v, flags := &e.v, e.header()
	class, isComplex := flags&0xff, flags&0x800 != 0
	if isComplex {
		v.Class = "complex " + v.Class
	} else if flags&0x200 != 0 {
		v.Class = "logical " + v.Class
	}
	switch {
	case isComplex || len(v.Dims) != 2 || v.Dims[0] == 0 || v.Dims[1] == 0:
	case class == mxCELL:
		v.Text = e.words(v.Dims[0], v.Dims[1])
	case class == mxSPARSE:
		v.Value = e.sparse(v.Dims[0], v.Dims[1])
	case mxDOUBLE <= class && class <= mxUINT64:
		v.Value = e.matrix(v.Dims, class == mxUINT8)
	}
}

// header reads the start of a variable: flags, whose lowest byte is the class, dimensions and name.
func (e *matElement) header() (flags uint32) {
	typ, data := e.nextPart()
	failIf(typ != miUINT32 || len(data) != 8, "array flags of type %d and %d bytes", typ, len(data))
	flags = e.order.Uint32(data)
	class := int(flags & 0xff)
	if class == mxOPAQUE {
		return flags
	}
	failIf(class == 0 || class >= len(matClasses), "class %d is unknown", class)
	e.v.Class = matClasses[class]
	typ, data = e.nextPart()
	failIf(typ != miINT32 || len(data) < 8 || len(data) > 4*64 || len(data)%4 != 0, "dimensions of type %d and %d bytes", typ, len(data))
	for at := range len(data) / 4 {
		d := int32(e.order.Uint32(data[4*at:]))
		failIf(d < 0, "dimension %d is %d", at+1, d)
		e.v.Dims = append(e.v.Dims, int(d))
	}
	_, data = e.nextPart()
	e.v.Name = string(data[:min(len(data), 1<<10)])
	return flags
}

// nextPart reads the next part. A small part shares eight bytes with its tag.
func (e *matElement) nextPart() (typ uint32, data []byte) {
	failIf(len(e.data) < 8, "the variable ends within a part's tag")
	typ, n, at := e.order.Uint32(e.data), int64(e.order.Uint32(e.data[4:])), int64(8)
	size := 8 + n + -n&7
	if small := typ >> 16; small != 0 {
		failIf(small > 4, "a small part of %d bytes; expected at most 4", small)
		typ, n, at, size = typ&0xffff, int64(small), 4, 8
	}
	failIf(at+n > int64(len(e.data)), "a part of %d bytes where the variable has %d left", n, len(e.data)-8)
	data = e.data[at : at+n]
	e.data = e.data[min(size, int64(len(e.data))):] // the last part may lack padding
	return typ, data
}

// numbers reads a part with numbers as an array of one dimension.
func (e *matElement) numbers() (a array, data []byte) {
	typ, data := e.nextPart()
	k, ok := matNumbers[typ]
	failIf(!ok || len(data)%k.Size() != 0, "values of type %d in %d bytes", typ, len(data))
	return array{kind: k, order: e.order, dims: []int{len(data) / k.Size()}}, data
}

// matrix reads a matrix in column-major order. Only MATLAB's uint8 becomes a *Bytes.
func (e *matElement) matrix(dims []int, isBytes bool) mat.Matrix {
	a, data := e.numbers()
	failIf(int64(dims[0])*int64(dims[1]) != int64(a.dims[0]), "%d×%d matrix with %d values", dims[0], dims[1], a.dims[0])
	failIf(isBytes && a.kind != number.Uint8, "uint8 matrix whose values take %d bytes each", a.kind.Size())
	a.dims, a.columns = dims, true
	return a.matrix(bytes.NewReader(data), int64(len(data)), e.in, isBytes)
}

// integers reads a list of integers.
func (e *matElement) integers() []int {
	a, data := e.numbers()
	failIf(!a.kind.Whole(), "rows or column starts that are not whole numbers")
	e.in.reserve(8*int64(a.dims[0]), "a list of numbers")
	out, value := make([]int, a.dims[0]), a.kind.In(data, a.order)
	for i := range out {
		out[i] = int(value(i))
	}
	return out
}

// sparse reads an r×c matrix in compressed columns and returns it in compressed rows.
func (e *matElement) sparse(r, c int) mat.Matrix {
	rows, starts := e.integers(), e.integers()
	a, data := e.numbers()
	failIf(len(starts) != c+1, "%d×%d sparse matrix with %d column starts", r, c, len(starts))
	nnz := starts[c]
	failIf(nnz < 0 || nnz > min(len(rows), a.dims[0]), "%d×%d sparse matrix of %d values with %d row indices and %d stored values", r, c, nnz, len(rows), a.dims[0])
	// The size of the file does not limit the number of rows.
	failIf(r > nnz+1<<20, "%d×%d sparse matrix with only %d values", r, c, nnz)
	e.in.reserve(8*(2*int64(r)+3*int64(nnz)), fmt.Sprintf("%d×%d sparse matrix of %d values", r, c, nnz))
	values, value := make([]float64, nnz), a.kind.In(data, a.order)
	for i := range values {
		values[i] = value(i)
	}
	columns, err := sparse.New(c, r, starts, rows[:nnz], values)
	failIf(err != nil, "%d×%d sparse matrix, transposed: %w", r, c, err)
	return columns.Transpose()
}

// words reads the cells of a row or column, each a line of text. It returns nil for any other content.
func (e *matElement) words(r, c int) (words []string) {
	if r != 1 && c != 1 {
		return nil
	}
	for range r * c {
		typ, data := e.nextPart()
		if typ != miMATRIX || len(data) == 0 {
			return nil
		}
		cell := &matElement{data: data, order: e.order, in: e.in}
		word, isText := cell.line()
		if !isText {
			return nil
		}
		words = append(words, word)
	}
	return words
}

// line reads a variable that may be a line of text.
func (e *matElement) line() (text string, ok bool) {
	if flags := e.header(); flags&0xff != mxCHAR || len(e.v.Dims) != 2 || e.v.Dims[0] > 1 {
		return "", false
	}
	typ, data := e.nextPart()
	// Four bytes for the rune of each character, the string, and its entry in a list.
	e.in.reserve(48+6*int64(len(data)), "a list of strings")
	switch typ {
	case miUTF8:
		return string(data), utf8.Valid(data)
	case miUTF16, miUINT16:
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = e.order.Uint16(data[2*i:])
		}
		return string(utf16.Decode(units)), true
	case miINT8, miUINT8:
		return string(lists.Map(data, func(b byte) rune { return rune(b) })), true
	}
	return "", false
}
