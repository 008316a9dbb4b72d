package vectorfile

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf16"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// readMAT reads a MATLAB file: the n×m matrix "fea" and the n labels "gnd", or the variables that the options name.
//
// MATLAB stores an image column by column. Where the options or the file give the size
// of the images, or neither does and m is the square of a number from 16 to 256,
// vectors are turned so that images stand row by row. Sparse vectors hold no images.
func readMAT(in *input) (*Content, error) {
	vars, err := matVariables(in)
	if err != nil {
		return nil, err
	}
	s, err := vars.content(in, []string{"fea"}, []string{"gnd"})
	if err != nil {
		return nil, err
	}
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
	return s, nil
}

// turnImages rewrites the n images of h×w pixels, which row returns, from column by column to row by row.
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

// The types of a file's elements and the classes of variables that matter here, by the names of the format's description.
const (
	miINT8, miUINT8, miUINT16, miINT32, miUINT32, miDOUBLE = 1, 2, 4, 5, 6, 9

	miMATRIX, miCOMPRESSED, miUTF8, miUTF16 = 14, 15, 16, 17

	mxCELL, mxCHAR, mxSPARSE, mxDOUBLE, mxUINT8, mxUINT64, mxOPAQUE = 1, 4, 5, 6, 9, 15, 17
)

// matNumbers tells how the numbers of an element type are stored.
var matNumbers = map[uint32]number.Kind{
	1: number.Int8, 2: number.Uint8, 3: number.Int16, 4: number.Uint16, 5: number.Int32, 6: number.Uint32,
	7: number.Float32, 9: number.Float64, 12: number.Int64, 13: number.Uint64,
}

var matClasses = []string{
	1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 6: "double", 7: "single",
	8: "int8", 9: "uint8", 10: "int16", 11: "uint16", 12: "int32", 13: "uint32",
	14: "int64", 15: "uint64", 16: "function", 17: "opaque", 18: "object",
}

// matHeader is the length of the text and the version that open a file.
const matHeader = 128

// matVariables reads the variables of a MATLAB file of version 5 (what MATLAB writes with -v6 and -v7), of
// either byte order, compressed or not ("MAT-File Format", The MathWorks, chapter 1). Numeric matrices get
// a value: uint8 and logical ones a *Bytes, sparse ones a *sparse.CSR, others a *mat.Dense. A row or column
// of cells that each hold a line of text gets these as its text. Other variables are listed without either.
func matVariables(in *input) (vars variables, err error) {
	head := make([]byte, min(in.size, matHeader))
	if _, err := in.ReadAt(head, 0); err != nil {
		return nil, err
	}
	order, isMAT := sniffMAT(head)
	if !isMAT {
		return nil, errors.New("not a MATLAB file of version 5 to 7")
	}
	if order == nil {
		return nil, errors.New("a MATLAB file of version 7.3 (HDF5), which is not read: save it again in MATLAB with -v7")
	}
	for off := int64(matHeader); off < in.size; {
		e, n, err := readElement(in, off, order)
		var v *variable
		if err == nil {
			v, err = e.variable()
			in.left += e.taken
		}
		if v != nil && v.Name != "" {
			if err == nil {
				err = vars.add(*v, in)
			} else {
				err = fmt.Errorf("variable %q: %w", v.Name, err)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("byte %d: %w", off, err)
		}
		off += n
	}
	return vars, nil
}

// matElement is what is left of an element's content.
type matElement struct {
	data  []byte
	order binary.ByteOrder
	in    *input
	taken int64 // bytes of memory
}

// readElement reads the element at off, unpacked, and returns how many bytes it takes in the file. What is no
// variable has no content.
func readElement(in *input, off int64, order binary.ByteOrder) (e *matElement, size int64, err error) {
	e = &matElement{order: order, in: in}
	typ, n, err := e.readTag(in.part(off, 8))
	if err != nil {
		return e, 0, err
	}
	most := in.size - off - 8
	if n > most {
		return e, 0, fmt.Errorf("the file ends within an element: %w", promised(n, most))
	}
	r, size, packed := in.part(off+8, n), 8+n, typ == miCOMPRESSED
	if packed {
		z, err := zlib.NewReader(r)
		if err != nil {
			return e, 0, err
		}
		defer z.Close()
		most = zipfile.MostDeflate * n
		if typ, n, err = e.readTag(z); err != nil {
			return e, 0, err
		}
		r = z
	} else {
		size += -n & 7
	}
	switch {
	case typ != miMATRIX:
		return e, size, nil
	case n > most:
		return e, 0, promised(n, most)
	}
	if err := in.take(n, "a variable"); err != nil {
		return e, 0, err
	}
	e.taken = n
	if e.data, err = number.ReadBytes(r, n, n); err == nil && packed {
		err = number.End(bufio.NewReader(r)) // lets zlib check its sum
	}
	return e, size, err
}

func (e *matElement) readTag(r io.Reader) (typ uint32, n int64, err error) {
	var tag [8]byte
	if _, err := io.ReadFull(r, tag[:]); err != nil {
		return 0, 0, fmt.Errorf("the file ends within an element's tag: %w", err)
	}
	return e.order.Uint32(tag[:]), int64(e.order.Uint32(tag[4:])), nil
}

// sniffMAT tells a MATLAB file by its first 128 bytes, and its byte order, which is nil for version 7.3.
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

// variable reads one variable. Where it fails, it still returns what it
// knows of it. What is no variable, and a kind that the format's description leaves out, is nil.
func (e *matElement) variable() (*variable, error) {
	if len(e.data) == 0 {
		return nil, nil
	}
	v, flags, err := e.header()
	if v == nil || err != nil {
		return v, err
	}
	class := flags & 0xff
	isComplex := flags&0x800 != 0
	if isComplex {
		v.Class = "complex " + v.Class
	} else if flags&0x200 != 0 {
		v.Class = "logical " + v.Class
	}
	if isComplex || len(v.Dims) != 2 || v.Dims[0] == 0 || v.Dims[1] == 0 {
		return v, nil
	}
	switch {
	case class == mxCELL:
		v.Text, err = e.words(v.Dims[0], v.Dims[1])
	case class == mxSPARSE:
		v.Value, err = e.sparse(v.Dims[0], v.Dims[1])
	case mxDOUBLE <= class && class <= mxUINT64:
		v.Value, err = e.matrix(v.Dims, class == mxUINT8)
	}
	return v, err
}

// header reads what every variable begins with: its flags, the lowest byte of
// which is its class, and its dimensions and name.
func (e *matElement) header() (v *variable, flags uint32, err error) {
	typ, data, err := e.part()
	if err != nil {
		return nil, 0, err
	}
	if typ != miUINT32 || len(data) != 8 {
		return nil, 0, fmt.Errorf("array flags of type %d and %d bytes", typ, len(data))
	}
	flags = e.order.Uint32(data)
	class := int(flags & 0xff)
	if class == mxOPAQUE {
		return nil, flags, nil
	}
	if class == 0 || class >= len(matClasses) {
		return nil, flags, fmt.Errorf("class %d is unknown", class)
	}
	v = &variable{Class: matClasses[class]}
	if typ, data, err = e.part(); err != nil {
		return v, flags, err
	}
	if typ != miINT32 || len(data) < 8 || len(data) > 4*64 || len(data)%4 != 0 {
		return v, flags, fmt.Errorf("dimensions of type %d and %d bytes", typ, len(data))
	}
	for at := range len(data) / 4 {
		d := int32(e.order.Uint32(data[4*at:]))
		if d < 0 {
			return v, flags, fmt.Errorf("dimension %d is %d", at+1, d)
		}
		v.Dims = append(v.Dims, int(d))
	}
	_, data, err = e.part()
	v.Name = string(data[:min(len(data), 1<<10)])
	return v, flags, err
}

// part reads the next part. A small one is packed into eight bytes together with its tag.
func (e *matElement) part() (typ uint32, data []byte, err error) {
	if len(e.data) < 8 {
		return 0, nil, errors.New("the variable ends within a part's tag")
	}
	typ, n, at, size := e.order.Uint32(e.data), int64(e.order.Uint32(e.data[4:])), int64(8), int64(0)
	if small := typ >> 16; small != 0 {
		if small > 4 {
			return 0, nil, fmt.Errorf("a small part of %d bytes", small)
		}
		typ, n, at, size = typ&0xffff, int64(small), 4, 8
	} else if size = 8 + n + -n&7; n > int64(len(e.data))-8 {
		return 0, nil, fmt.Errorf("a part of %d bytes where the variable has %d left", n, len(e.data)-8)
	}
	data = e.data[at : at+n]
	e.data = e.data[min(size, int64(len(e.data))):] // the last part may come without what fills it up
	return typ, data, nil
}

// numbers reads a part of numbers, which are an array of one dimension.
func (e *matElement) numbers() (a array, data []byte, err error) {
	typ, data, err := e.part()
	k, ok := matNumbers[typ]
	if err == nil && (!ok || len(data)%k.Size() != 0) {
		err = fmt.Errorf("values of type %d in %d bytes", typ, len(data))
	}
	if err != nil {
		return a, nil, err
	}
	return array{kind: k, order: e.order, dims: []int{len(data) / k.Size()}}, data, nil
}

// matrix reads a matrix, whose values stand column by column. Only what MATLAB calls uint8 becomes a *Bytes.
func (e *matElement) matrix(dims []int, isBytes bool) (mat.Matrix, error) {
	a, data, err := e.numbers()
	switch n := a.dims; {
	case err != nil:
		return nil, err
	case int64(dims[0])*int64(dims[1]) != int64(n[0]):
		return nil, fmt.Errorf("%d×%d matrix with %d values", dims[0], dims[1], n[0])
	case isBytes && a.kind != number.Uint8:
		return nil, fmt.Errorf("uint8 matrix whose values take %d bytes each", a.kind.Size())
	}
	a.dims, a.columns = dims, true
	return a.matrix(bytes.NewReader(data), int64(len(data)), e.in, isBytes)
}

func (e *matElement) whole() ([]int, error) {
	a, data, err := e.numbers()
	switch {
	case err != nil:
		return nil, err
	case !a.kind.Whole():
		return nil, errors.New("rows or column starts that are no whole numbers")
	}
	if err := e.in.take(8*int64(a.dims[0]), "a list of numbers"); err != nil {
		return nil, err
	}
	out, value := make([]int, a.dims[0]), a.kind.In(data, a.order)
	for i := range out {
		out[i] = int(value(i))
	}
	return out, nil
}

// sparse reads an r×c matrix that stands in compressed columns and returns it in compressed rows.
func (e *matElement) sparse(r, c int) (mat.Matrix, error) {
	rows, err1 := e.whole()
	starts, err2 := e.whole()
	a, data, err3 := e.numbers()
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	if len(starts) != c+1 {
		return nil, fmt.Errorf("%d×%d sparse matrix with %d column starts", r, c, len(starts))
	}
	nnz := starts[c]
	switch {
	case nnz < 0 || nnz > min(len(rows), a.dims[0]):
		return nil, fmt.Errorf("%d×%d sparse matrix of %d values with %d rows and %d values", r, c, nnz, len(rows), a.dims[0])
	case r > nnz+1<<20: // nothing in the file backs the number of rows
		return nil, fmt.Errorf("%d×%d sparse matrix with only %d values", r, c, nnz)
	}
	if err := e.in.take(8*(2*int64(r)+3*int64(nnz)), fmt.Sprintf("%d×%d sparse matrix of %d values", r, c, nnz)); err != nil {
		return nil, err
	}
	values, value := make([]float64, nnz), a.kind.In(data, a.order)
	for i := range values {
		values[i] = value(i)
	}
	columns, err := sparse.New(c, r, starts, rows[:nnz], values)
	if err != nil {
		return nil, fmt.Errorf("%d×%d sparse matrix, turned: %w", r, c, err)
	}
	return columns.Transpose(), nil
}

// words reads the cells of a row or column, each a line of text. It returns nil
// where one is something else.
func (e *matElement) words(r, c int) (words []string, err error) {
	if r != 1 && c != 1 {
		return nil, nil
	}
	for range r * c {
		typ, data, err := e.part()
		if err != nil || typ != miMATRIX || len(data) == 0 {
			return nil, err
		}
		word, isText, err := (&matElement{data: data, order: e.order, in: e.in}).line()
		if err != nil || !isText {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

// line reads a variable that may be a line of text.
func (e *matElement) line() (text string, ok bool, err error) {
	v, flags, err := e.header()
	if err != nil || v == nil || flags&0xff != mxCHAR || len(v.Dims) != 2 || v.Dims[0] > 1 {
		return "", false, err
	}
	typ, data, err := e.part()
	if err == nil {
		// Runes of four bytes for the characters of one, the string, and its place in a list.
		err = e.in.take(48+6*int64(len(data)), "a list of words")
	}
	if err != nil {
		return "", false, err
	}
	switch typ {
	case miUTF8:
		return string(data), utf8.Valid(data), nil
	case miUTF16, miUINT16:
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = e.order.Uint16(data[2*i:])
		}
		return string(utf16.Decode(units)), true, nil
	case miINT8, miUINT8:
		runes := make([]rune, len(data))
		for i, b := range data {
			runes[i] = rune(b)
		}
		return string(runes), true, nil
	}
	return "", false, nil
}
