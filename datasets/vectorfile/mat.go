package vectorfile

import (
	"bufio"
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

// readMAT reads a set of vectors from a MATLAB file: the n×m matrix
// "fea", a sample a row, and where there is one the vector "gnd" of n labels,
// or the variables that the options name. A class is named by its number. What Write
// puts beside the two is read as well.
//
// MATLAB stores an image column by column. Where the options or the file give the size
// of the images, or neither does and m is the square of a number from 16 to 256,
// every vector is taken for such an image and turned so that it stands upright,
// row by row. Sparse vectors hold no images.
func readMAT(in *input) (*Content, error) {
	vars, err := matVariables(in)
	if err != nil {
		return nil, err
	}
	height, width, given := vars.imageSize()
	if in.opt.Height == 0 && in.opt.Width == 0 {
		in.opt.Height, in.opt.Width = height, width
	}
	s, err := vars.content(in, []string{"fea"}, []string{"gnd"})
	if err != nil {
		return nil, err
	}
	_, m := s.Vectors.Dims()
	if s.Height == 0 && !given {
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

// turnImages rewrites the n images of h×w pixels, which row returns, from
// column by column to row by row.
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

// The types of a file's elements, by the names of the format's description.
const (
	miINT8       = 1
	miUINT8      = 2
	miUINT16     = 4
	miINT32      = 5
	miUINT32     = 6
	miDOUBLE     = 9
	miMATRIX     = 14
	miCOMPRESSED = 15
	miUTF8       = 16
	miUTF16      = 17
)

// matNumbers tells how the numbers of an element type are stored.
var matNumbers = map[uint32]number.Kind{
	1: number.Int8, 2: number.Uint8, 3: number.Int16, 4: number.Uint16, 5: number.Int32, 6: number.Uint32,
	7: number.Float32, 9: number.Float64, 12: number.Int64, 13: number.Uint64,
}

// The classes of variables that matter here.
const (
	mxCELL   = 1
	mxCHAR   = 4
	mxSPARSE = 5
	mxDOUBLE = 6
	mxUINT8  = 9
	mxUINT64 = 15
	mxOPAQUE = 17
)

var matClasses = map[uint32]string{
	1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 6: "double", 7: "single",
	8: "int8", 9: "uint8", 10: "int16", 11: "uint16", 12: "int32", 13: "uint32",
	14: "int64", 15: "uint64", 16: "function", 17: "opaque", 18: "object",
}

// matHeader is the length of the text and the version that open a file.
const matHeader = 128

// matVariables reads the variables of a MATLAB file of version 5 (what MATLAB
// writes with -v6 and -v7), of either byte order, compressed or not. Numeric
// matrices of any class get a value: uint8 and logical ones a *Bytes, sparse
// ones a *sparse.CSR, all others a *mat.Dense. A row or column of cells that
// each hold a line of text gets these as its text. Variables of other kinds
// (other text and cells, structs, complex numbers, more than two dimensions,
// empty ones) are listed without either. The values are as they stand in the file, NaN and Inf
// included, and whole numbers beyond 2^53 are rounded. Errors name the place and the variable.
//
// The format is described in "MAT-File Format", The MathWorks, chapter 1.
func matVariables(in *input) (vars variables, err error) {
	order, err := matOrder(in)
	if err != nil {
		return nil, err
	}
	for off := int64(matHeader); off < in.size; {
		v, n, err := matVariable(in, off, order)
		if err == nil && v != nil && v.Name != "" {
			err = vars.add(*v, in)
		} else if err != nil && v != nil && v.Name != "" {
			err = fmt.Errorf("variable %q: %w", v.Name, err)
		}
		if err != nil {
			return nil, fmt.Errorf("byte %d: %w", off, err)
		}
		off += n
	}
	return vars, nil
}

// matVariable reads the element at off, which may be a variable, and returns how many bytes it takes.
func matVariable(in *input, off int64, order binary.ByteOrder) (v *variable, size int64, err error) {
	var tag [8]byte
	if _, err := in.ReadAt(tag[:], off); err != nil {
		return nil, 0, errors.New("the file ends within an element's tag")
	}
	typ, n := order.Uint32(tag[:]), int64(order.Uint32(tag[4:]))
	if left := in.size - off - 8; n > left {
		return nil, 0, fmt.Errorf("the file ends within an element: %d bytes are promised and %d are there", n, left)
	}
	e := &matElement{number.Buffered(in.part(off+8, n), n), n, order, in}
	switch typ {
	case miCOMPRESSED:
		v, err = e.unpacked()
		return v, 8 + n, err
	case miMATRIX:
		v, err = e.variable()
	}
	return v, 8 + n + -n&7, err
}

// matOrder returns the byte order that the header tells.
func matOrder(in *input) (binary.ByteOrder, error) {
	head := make([]byte, min(in.size, matHeader))
	if _, err := in.ReadAt(head, 0); err != nil {
		return nil, err
	}
	switch sniffMAT(head) {
	case matLittle:
		return binary.LittleEndian, nil
	case matBig:
		return binary.BigEndian, nil
	case matHDF5:
		return nil, errors.New("a MATLAB file of version 7.3 (HDF5), which is not read: save it again in MATLAB with -v7")
	case mat4:
		return nil, errors.New("a MATLAB file of version 4, which is not read: save it again in MATLAB with -v7")
	}
	return nil, errors.New("not a MATLAB file")
}

// matKind is the version and byte order of a MATLAB file.
type matKind int

const (
	notMAT matKind = iota
	matLittle
	matBig
	matHDF5
	mat4
)

// sniffMAT tells the kind of a MATLAB file from its first 128 bytes.
func sniffMAT(head []byte) matKind {
	if len(head) >= matHeader {
		switch {
		case string(head[124:128]) == "\x00\x01IM":
			return matLittle
		case string(head[124:128]) == "\x01\x00MI":
			return matBig
		case string(head[124:128]) == "\x00\x02IM", string(head[124:128]) == "\x02\x00MI":
			return matHDF5
		}
	}
	if len(head) >= 8 && string(head[:8]) == "\x89HDF\r\n\x1a\n" {
		return matHDF5
	}
	if len(head) >= 20 {
		// Version 4 opens with five numbers: the type as the decimal digits
		// M0PT, rows, columns, whether complex, and the length of the name.
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			t, imaginary, name := order.Uint32(head), order.Uint32(head[12:]), order.Uint32(head[16:])
			if t < 5000 && t/100%10 == 0 && t/10%10 <= 5 && t%10 <= 2 && imaginary <= 1 && 1 < name && name <= 64 {
				return mat4
			}
		}
	}
	return notMAT
}

// matElement reads the parts of one element.
type matElement struct {
	r     *bufio.Reader
	left  int64 // bytes that the element still has, at most
	order binary.ByteOrder
	in    *input
}

// unpacked reads the one variable that is packed in e.
func (e *matElement) unpacked() (*variable, error) {
	z, err := zlib.NewReader(e.r)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	most := zipfile.MostDeflate * e.left
	inner := &matElement{number.Buffered(e.in.stoppable(z), most), most, e.order, e.in}
	typ, n, _, err := inner.tag()
	if err != nil || typ != miMATRIX {
		return nil, err
	}
	if n > inner.left {
		return nil, promised(n, inner.left)
	}
	inner.left = n
	v, err := inner.variable()
	if err == nil && inner.left == 0 {
		// Reading past the end lets zlib check its sum.
		if _, err = inner.r.ReadByte(); err == io.EOF {
			err = nil
		}
	}
	return v, err
}

// variable reads one variable. Where it fails, it still returns what it
// knows of it. A variable without a value may leave a part of e unread.
func (e *matElement) variable() (*variable, error) {
	if e.left == 0 {
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
// which is its class, and its dimensions and name. One of a kind that the
// format's description leaves out is nil.
func (e *matElement) header() (v *variable, flags uint32, err error) {
	typ, data, err := e.part(16)
	if err != nil {
		return nil, 0, err
	}
	if typ != miUINT32 || len(data) != 8 {
		return nil, 0, fmt.Errorf("array flags of type %d and %d bytes", typ, len(data))
	}
	flags = e.order.Uint32(data)
	class := flags & 0xff
	if class == mxOPAQUE {
		return nil, flags, nil
	}
	v = &variable{Class: matClasses[class]}
	if v.Class == "" {
		return nil, flags, fmt.Errorf("class %d is unknown", class)
	}
	if typ, data, err = e.part(4 * 64); err != nil {
		return v, flags, err
	}
	if typ != miINT32 || len(data) < 8 || len(data)%4 != 0 {
		return v, flags, fmt.Errorf("dimensions of type %d and %d bytes", typ, len(data))
	}
	for at := range len(data) / 4 {
		d := int32(e.order.Uint32(data[4*at:]))
		if d < 0 {
			return v, flags, fmt.Errorf("dimension %d is %d", at+1, d)
		}
		v.Dims = append(v.Dims, int(d))
	}
	_, data, err = e.part(1 << 10)
	v.Name = string(data)
	return v, flags, err
}

// tag reads the tag of the next part: its type and its size in bytes, and
// whether it is small, which is packed into eight bytes together with its tag.
func (e *matElement) tag() (typ uint32, n int64, small bool, err error) {
	if e.left < 8 {
		return 0, 0, false, errors.New("the variable ends within a part's tag")
	}
	var word [8]byte
	if _, err := io.ReadFull(e.r, word[:4]); err != nil {
		return 0, 0, false, unexpectedEOF(err)
	}
	e.left -= 4
	typ = e.order.Uint32(word[:])
	if typ>>16 != 0 {
		if n = int64(typ >> 16); n > 4 {
			return 0, 0, false, fmt.Errorf("a small part of %d bytes", n)
		}
		return typ & 0xffff, n, true, nil
	}
	if _, err := io.ReadFull(e.r, word[4:]); err != nil {
		return 0, 0, false, unexpectedEOF(err)
	}
	e.left -= 4
	return typ, int64(e.order.Uint32(word[4:])), false, nil
}

// read reads the next part, of at most limit bytes, by content, and what fills it up.
func (e *matElement) read(limit int64, content func(typ uint32, n int64) error) error {
	typ, n, small, err := e.tag()
	switch {
	case err != nil:
		return err
	case n > e.left:
		return fmt.Errorf("a part of %d bytes where the variable has %d left", n, e.left)
	case n > limit:
		return fmt.Errorf("a part of %d bytes where at most %d make sense", n, limit)
	}
	if err := content(typ, n); err != nil {
		return err
	}
	pad := -n & 7
	if small {
		pad = 4 - n
	}
	pad = min(pad, e.left-n) // the last part may come without
	e.left -= n + pad
	_, err = e.r.Discard(int(pad))
	return unexpectedEOF(err)
}

// part reads the next part, which may hold limit bytes.
func (e *matElement) part(limit int64) (typ uint32, data []byte, err error) {
	err = e.read(limit, func(of uint32, n int64) error {
		typ = of
		if err := e.in.take(n, "a part of the variable"); err != nil {
			return err
		}
		data, err = number.ReadBytes(e.r, n, 0)
		return err
	})
	return typ, data, err
}

// numbers gives the kind and the size in bytes of the numbers of the next part to content, which reads them.
func (e *matElement) numbers(content func(k number.Kind, n int64) error) error {
	return e.read(math.MaxInt64, func(typ uint32, n int64) error {
		k, ok := matNumbers[typ]
		if !ok || n%int64(k.Size()) != 0 {
			return fmt.Errorf("values of type %d in %d bytes", typ, n)
		}
		return content(k, n)
	})
}

// matrix reads a matrix, whose values stand column by column.
func (e *matElement) matrix(dims []int, bytes bool) (x mat.Matrix, err error) {
	r, c := dims[0], dims[1]
	err = e.numbers(func(k number.Kind, n int64) error {
		a := array{k, e.order, dims, true}
		switch {
		case int64(r)*int64(c) != n/int64(k.Size()):
			return fmt.Errorf("%d×%d matrix with %d values", r, c, n/int64(k.Size()))
		case bytes && k != number.Uint8:
			return fmt.Errorf("uint8 matrix whose values take %d bytes each", k.Size())
		case bytes:
			x, err = a.matrix(e.r, n, e.in)
			return err
		}
		values, err := a.floats(e.r, n, e.in)
		if err == nil {
			x = mat.NewDense(r, c, values)
		}
		return err
	})
	return x, err
}

// list reads a list of numbers.
func (e *matElement) list() (values []float64, err error) {
	err = e.numbers(func(k number.Kind, n int64) error {
		if n > 0 {
			a := array{kind: k, order: e.order, dims: []int{int(n) / k.Size()}}
			values, err = a.floats(e.r, n, e.in)
		}
		return err
	})
	return values, err
}

// sparse reads an r×c matrix that stands in compressed columns and returns it
// in compressed rows.
func (e *matElement) sparse(r, c int) (mat.Matrix, error) {
	var lists [3][]float64 // the rows, where columns start among them, and the values
	for i := range lists {
		var err error
		if lists[i], err = e.list(); err != nil {
			return nil, err
		}
	}
	rows, starts, values := lists[0], lists[1], lists[2]
	if len(starts) != c+1 {
		return nil, fmt.Errorf("%d×%d sparse matrix with %d column starts", r, c, len(starts))
	}
	nnz := starts[c]
	if !(nnz >= 0 && nnz <= float64(min(len(rows), len(values)))) {
		return nil, fmt.Errorf("%d×%d sparse matrix of %v values with %d rows and %d values", r, c, nnz, len(rows), len(values))
	}
	n := int(nnz)
	// Nothing in the file backs the number of rows; a set with a million
	// samples that hold nothing is none.
	if r > n+1<<20 {
		return nil, fmt.Errorf("%d×%d sparse matrix with only %d values", r, c, n)
	}
	// The lists as whole numbers, and the matrix turned.
	if err := e.in.take(8*(2*int64(r)+int64(c)+3*int64(n)), fmt.Sprintf("%d×%d sparse matrix of %d values", r, c, n)); err != nil {
		return nil, err
	}
	at, start := make([]int, n), make([]int, c+1)
	for i := range at {
		at[i] = int(rows[i])
	}
	for i := range start {
		start[i] = int(starts[i])
	}
	columns, err := sparse.New(c, r, start, at, values[:n])
	if err != nil {
		return nil, fmt.Errorf("%d×%d sparse matrix, turned: %w", r, c, err)
	}
	return columns.Transpose(), nil
}

// words reads the cells of a row or column, each a line of text. It returns nil
// where one is something else, and may leave cells unread then.
func (e *matElement) words(r, c int) (words []string, err error) {
	if r != 1 && c != 1 {
		return nil, nil
	}
	for range r * c {
		var word string
		isText := false
		err := e.read(math.MaxInt64, func(typ uint32, n int64) (err error) {
			if typ != miMATRIX || n == 0 {
				return nil
			}
			cell := &matElement{e.r, n, e.order, e.in}
			if word, isText, err = cell.line(); err == nil && isText {
				_, err = e.r.Discard(int(cell.left))
			}
			return err
		})
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
	typ, data, err := e.part(e.left)
	if err != nil {
		return "", false, err
	}
	// Runes of four bytes for the characters of one, the string, and its place in a list.
	if err := e.in.take(48+6*int64(len(data)), "a list of words"); err != nil {
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

func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
