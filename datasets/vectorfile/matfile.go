package vectorfile

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/zipfile"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// readMATFile reads the variables of a MATLAB file of version 5 (what MATLAB
// writes with -v6 and -v7), of either byte order, compressed or not. Numeric
// matrices of any class get a value: uint8 and logical ones a *Bytes, sparse
// ones a *sparse.CSR, all others a *mat.Dense. A row or column of cells that
// each hold a line of text gets these as its text. Variables of other kinds
// (other text and cells, structs, complex numbers, more than two dimensions,
// empty ones) are listed without either. The values are as they stand in the file, NaN and Inf
// included, and whole numbers beyond 2^53 are rounded.
//
// Files of version 7.3 (HDF5) and 4 are refused. Errors name the file, the
// place in it and the variable.
//
// The format is described in "MAT-File Format", The MathWorks, chapter 1.
func readMATFile(path string, room *room) ([]variable, error) {
	return readArrays(path, room, readMAT)
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

func readMAT(r io.ReaderAt, size int64, room *room) ([]variable, error) {
	order, err := matOrder(r, size)
	if err != nil {
		return nil, err
	}
	vars := variables{room: room}
	for off := int64(matHeader); off < size; {
		var tag [8]byte
		if _, err := r.ReadAt(tag[:], off); err != nil {
			return nil, fmt.Errorf("byte %d: the file ends within an element's tag", off)
		}
		typ, n := order.Uint32(tag[:]), int64(order.Uint32(tag[4:]))
		if n > size-off-8 {
			return nil, fmt.Errorf("byte %d: the file ends within an element: %d bytes are promised and %d are there", off, n, size-off-8)
		}
		element := number.Buffered(room.reader(io.NewSectionReader(r, off+8, n)), n)
		var v *variable
		switch typ {
		case miCOMPRESSED:
			v, err = readMATCompressed(element, n, order, room)
		case miMATRIX:
			v, err = readMATMatrix(&matElement{element, n, order, room, n})
		}
		if err != nil {
			if v != nil && v.Name != "" {
				err = fmt.Errorf("variable %q: %w", v.Name, err)
			}
			return nil, fmt.Errorf("byte %d: %w", off, err)
		}
		if v != nil && v.Name != "" {
			if err := vars.add(*v); err != nil {
				return nil, fmt.Errorf("byte %d: %w", off, err)
			}
		}
		off += 8 + n
		if typ != miCOMPRESSED {
			off += -off & 7
		}
	}
	return vars.all, nil
}

// matOrder returns the byte order that the header tells.
func matOrder(r io.ReaderAt, size int64) (binary.ByteOrder, error) {
	head := make([]byte, min(size, matHeader))
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, err
	}
	switch kind := sniffMAT(head); kind {
	case matLittle:
		return binary.LittleEndian, nil
	case matBig:
		return binary.BigEndian, nil
	case matHDF5:
		return nil, errors.New("a MATLAB file of version 7.3 (HDF5), which is not read: save it again in MATLAB with -v7")
	case mat4:
		return nil, errors.New("a MATLAB file of version 4, which is not read: save it again in MATLAB with -v7")
	default:
		return nil, errors.New("not a MATLAB file")
	}
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

// readMATCompressed reads the one variable that is packed in r.
func readMATCompressed(r io.Reader, n int64, order binary.ByteOrder, room *room) (*variable, error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	outer := &matElement{number.Buffered(z, zipfile.MostDeflate*n), 8, order, room, 0}
	typ, n, _, err := outer.tag()
	if err != nil {
		return nil, err
	}
	if typ != miMATRIX {
		return nil, nil
	}
	inner := &matElement{outer.r, n, order, room, 0}
	v, err := readMATMatrix(inner)
	if err == nil && inner.left == 0 {
		// Reading past the end lets zlib check its sum.
		if _, err = inner.r.ReadByte(); err == io.EOF {
			err = nil
		}
	}
	return v, err
}

// matElement reads the parts of one element.
type matElement struct {
	r     *bufio.Reader
	left  int64 // bytes that the element's size still allows
	order binary.ByteOrder
	room  *room
	known int64 // bytes that are there at least, 0 where it is not known
}

// readMATMatrix reads one variable. Where it fails, it still returns what it
// knows of it. A variable without a value may leave a part of e unread.
func readMATMatrix(e *matElement) (*variable, error) {
	if e.left == 0 {
		return nil, nil
	}
	v, flags, err := e.header()
	if v == nil || err != nil {
		return v, err
	}
	class := flags & 0xff
	isComplex, isLogical := flags&0x800 != 0, flags&0x200 != 0
	switch {
	case isComplex:
		v.Class = "complex " + v.Class
	case isLogical:
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
	case class == mxUINT8:
		v.Value, err = e.bytes(v.Dims[0], v.Dims[1])
	case mxDOUBLE <= class && class <= mxUINT64:
		v.Value, err = e.dense(v.Dims[0], v.Dims[1])
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
	if _, data, err = e.part(1 << 10); err != nil {
		return v, flags, err
	}
	v.Name = string(data)
	return v, flags, nil
}

// tag reads the tag of the next part: its type and its size in bytes, and
// whether it is small, which is packed into eight bytes together with its tag.
func (e *matElement) tag() (typ uint32, n int64, small bool, err error) {
	if e.left < 8 {
		return 0, 0, false, fmt.Errorf("the variable ends within a part's tag")
	}
	var word [4]byte
	if _, err := io.ReadFull(e.r, word[:]); err != nil {
		return 0, 0, false, unexpectedEOF(err)
	}
	e.left -= 4
	typ = e.order.Uint32(word[:])
	if typ>>16 != 0 {
		n = int64(typ >> 16)
		if n > 4 {
			return 0, 0, false, fmt.Errorf("a small part of %d bytes", n)
		}
		return typ & 0xffff, n, true, nil
	}
	if _, err := io.ReadFull(e.r, word[:]); err != nil {
		return 0, 0, false, unexpectedEOF(err)
	}
	e.left -= 4
	return typ, int64(e.order.Uint32(word[:])), false, nil
}

// part reads the next part, which may hold limit bytes.
func (e *matElement) part(limit int64) (typ uint32, data []byte, err error) {
	typ, n, small, err := e.tag()
	if err != nil {
		return 0, nil, err
	}
	if n > e.left {
		return 0, nil, fmt.Errorf("a part of %d bytes where the variable has %d left", n, e.left)
	}
	if n > limit {
		return 0, nil, fmt.Errorf("a part of %d bytes where at most %d make sense", n, limit)
	}
	if data, err = e.room.bytes(e.r, n, e.known, "a part of the variable"); err != nil {
		return 0, nil, err
	}
	pad := -n & 7
	if small {
		pad = 4 - n
	}
	pad = min(pad, e.left-n) // the last part may come without
	if _, err := e.r.Discard(int(pad)); err != nil {
		return 0, nil, unexpectedEOF(err)
	}
	e.left -= n + pad
	return typ, data, nil
}

// maxMATNumbers is more numbers than an element, whose size is a uint32, can hold.
const maxMATNumbers = 1 << 32

// numbers reads a part of at most limit numbers.
func (e *matElement) numbers(limit int64) (k number.Kind, raw []byte, n int, err error) {
	typ, raw, err := e.part(8 * min(limit, maxMATNumbers))
	if err != nil {
		return number.None, nil, 0, err
	}
	k, ok := matNumbers[typ]
	if !ok || len(raw)%k.Size() != 0 {
		return number.None, nil, 0, fmt.Errorf("values of type %d in %d bytes", typ, len(raw))
	}
	return k, raw, len(raw) / k.Size(), nil
}

// matrix reads the values of an r×c matrix, which stand column by column.
func (e *matElement) matrix(r, c int) (k number.Kind, raw []byte, err error) {
	k, raw, n, err := e.numbers(int64(r) * int64(c))
	if err != nil {
		return number.None, nil, err
	}
	if int64(n) != int64(r)*int64(c) {
		return number.None, nil, fmt.Errorf("%d×%d matrix with %d values", r, c, n)
	}
	return k, raw, nil
}

func (e *matElement) dense(r, c int) (mat.Matrix, error) {
	k, raw, err := e.matrix(r, c)
	if err != nil {
		return nil, err
	}
	if err := e.room.numbers(int64(r)*int64(c), fmt.Sprintf("%d×%d numbers", r, c)); err != nil {
		return nil, err
	}
	defer e.room.give(int64(len(raw)))
	data, err := transposed(r, c, k.In(raw, e.order), e.room)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(r, c, data), nil
}

func (e *matElement) bytes(r, c int) (mat.Matrix, error) {
	k, raw, err := e.matrix(r, c)
	if err != nil {
		return nil, err
	}
	if k != number.Uint8 {
		return nil, fmt.Errorf("uint8 matrix whose values take %d bytes each", k.Size())
	}
	if r == 1 || c == 1 {
		return NewBytes(r, c, raw), nil
	}
	if err := e.room.take(int64(r)*int64(c), fmt.Sprintf("%d×%d bytes", r, c)); err != nil {
		return nil, err
	}
	defer e.room.give(int64(len(raw)))
	data, err := transposed(r, c, func(i int) uint8 { return raw[i] }, e.room)
	if err != nil {
		return nil, err
	}
	return NewBytes(r, c, data), nil
}

// sparse reads an r×c matrix that stands in compressed columns and returns it
// in compressed rows.
func (e *matElement) sparse(r, c int) (mat.Matrix, error) {
	kRows, rawRows, nRows, err := e.numbers(maxMATNumbers)
	if err != nil {
		return nil, err
	}
	kStart, rawStart, nStart, err := e.numbers(maxMATNumbers)
	if err != nil {
		return nil, err
	}
	kValues, rawValues, nValues, err := e.numbers(maxMATNumbers)
	if err != nil {
		return nil, err
	}
	if !kRows.Whole() || !kStart.Whole() {
		return nil, fmt.Errorf("%d×%d sparse matrix whose rows or column starts are no whole numbers", r, c)
	}
	if nStart != c+1 {
		return nil, fmt.Errorf("%d×%d sparse matrix with %d column starts", r, c, nStart)
	}
	row, start, value := kRows.In(rawRows, e.order), kStart.In(rawStart, e.order), kValues.In(rawValues, e.order)
	nnz := int(start(c))
	if nnz < 0 || nnz > min(nRows, nValues) {
		return nil, fmt.Errorf("%d×%d sparse matrix of %d values with %d rows and %d values", r, c, nnz, nRows, nValues)
	}
	// Nothing in the file backs the number of rows; a set with a million
	// samples that hold nothing is none.
	if r > nnz+1<<20 {
		return nil, fmt.Errorf("%d×%d sparse matrix with only %d values", r, c, nnz)
	}

	// The starts of the rows, twice for a while, and a column and a value each.
	if err := e.room.numbers(2*(int64(r)+1)+2*int64(nnz), fmt.Sprintf("%d×%d sparse matrix of %d values", r, c, nnz)); err != nil {
		return nil, err
	}
	defer e.room.give(8*int64(r) + int64(len(rawRows)) + int64(len(rawStart)) + int64(len(rawValues)))
	rowStart := make([]int, r+1)
	for p := range nnz {
		i := int(row(p))
		if i < 0 || i >= r {
			return nil, fmt.Errorf("%d×%d sparse matrix with a value in row %d", r, c, i+1)
		}
		rowStart[i+1]++
	}
	for i := range r {
		rowStart[i+1] += rowStart[i]
	}
	columns, values := make([]int, nnz), make([]float64, nnz)
	next := append([]int(nil), rowStart[:r]...)
	for j := range c {
		lo, hi := int(start(j)), int(start(j+1))
		if lo < 0 || lo > hi || hi > nnz || j == 0 && lo != 0 {
			return nil, fmt.Errorf("%d×%d sparse matrix whose column %d runs from %d to %d", r, c, j+1, lo, hi)
		}
		for p := lo; p < hi; p++ {
			i := int(row(p))
			columns[next[i]], values[next[i]] = j, value(p)
			next[i]++
		}
	}
	return sparse.New(r, c, rowStart, columns, values)
}

// words reads the cells of a row or column, each a line of text. It returns nil
// where one is something else, and may leave cells unread then.
func (e *matElement) words(r, c int) ([]string, error) {
	if r != 1 && c != 1 {
		return nil, nil
	}
	var words []string
	for range r * c {
		typ, n, small, err := e.tag()
		if err != nil {
			return nil, err
		}
		if n > e.left {
			return nil, fmt.Errorf("a cell of %d bytes where the variable has %d left", n, e.left)
		}
		if typ != miMATRIX || small || n == 0 {
			return nil, nil
		}
		cell := &matElement{e.r, n, e.order, e.room, e.known}
		word, ok, err := cell.line()
		if err != nil || !ok {
			return nil, err
		}
		// The string and its place in the list, which doubles as it grows.
		if err := e.room.take(int64(len(word))+48, "a list of words"); err != nil {
			return nil, err
		}
		words = append(words, word)
		pad := min(-n&7, e.left-n)
		if _, err := e.r.Discard(int(cell.left + pad)); err != nil {
			return nil, unexpectedEOF(err)
		}
		e.left -= n + pad
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
	defer e.room.give(int64(len(data)))
	// Runes of four bytes for the characters of one.
	if err := e.room.take(6*int64(len(data)), "a line of text"); err != nil {
		return "", false, err
	}
	defer e.room.give(6 * int64(len(data)))
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
