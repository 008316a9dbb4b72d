// Package npz reads and writes NumPy's arrays (.npy) and archives of them (.npz). What a file says of itself is
// checked before memory is taken for it.
package npz

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// Archive is a file of arrays.
type Archive struct{ Entries []Entry }

// Entry is a file of an archive. NumPy adds .npy to the name of an array.
type Entry struct{ *zip.File }

// Open reads the directory of an archive of size bytes. No entry claims more bytes of it than it has.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	z, err := zipfile.Open(r, size)
	if err != nil {
		return nil, err
	}
	a := &Archive{}
	for _, f := range z.File {
		if f.CompressedSize64 > uint64(size) {
			return nil, fmt.Errorf("the array %q needs %d bytes of a file of %d", f.Name, f.CompressedSize64, size)
		}
		a.Entries = append(a.Entries, Entry{f})
	}
	return a, nil
}

// Most returns how many bytes the content can have.
func (e Entry) Most() int64 {
	if e.Method == zip.Store {
		return int64(e.CompressedSize64)
	}
	return zipfile.MostDeflate * int64(e.CompressedSize64)
}

// Open opens the content.
func (e Entry) Open() (io.ReadCloser, error) {
	if e.Flags&zipfile.Encrypted != 0 {
		return nil, errors.New("the file is encrypted")
	}
	return e.File.Open()
}

// Size returns how many bytes the content claims to have.
func (e Entry) Size() int64 { return int64(min(e.UncompressedSize64, math.MaxInt64)) }

// An array that is read has up to FreeBytes, or up to PerByte for each byte that it is packed in.
const FreeBytes, PerByte, maxItems = 16 << 20, 100, 1 << 28

// entry returns the array of the name, if there is one.
func (a *Archive) entry(name string) (e Entry, ok bool) {
	i := slices.IndexFunc(a.Entries, func(e Entry) bool { return strings.TrimSuffix(e.Name, ".npy") == name })
	if i < 0 {
		return e, false
	}
	return a.Entries[i], true
}

// Has tells whether there is an array of the name.
func (a *Archive) Has(name string) bool {
	_, ok := a.entry(name)
	return ok
}

// Floats reads an array of float64 (<f8) in C order, of a shape in which check, if not nil, finds no fault.
func (a *Archive) Floats(name string, dimensions int, check func(shape []int) error) (values []float64, shape []int, err error) {
	raw, shape, err := a.read(name, "<f8", dimensions, check)
	if err != nil {
		return nil, shape, err
	}
	values = make([]float64, len(raw)/8)
	_, err = binary.Decode(raw, binary.LittleEndian, values)
	return values, shape, err
}

// Integers reads an array of int64 (<i8) from 0 to largest, of one dimension.
func (a *Archive) Integers(name string, largest int64) (values []int, err error) {
	raw, _, err := a.read(name, "<i8", 1, nil)
	if err != nil {
		return nil, err
	}
	values = make([]int, len(raw)/8)
	for i := range values {
		x := int64(binary.LittleEndian.Uint64(raw[8*i:]))
		if x < 0 || x > largest {
			return nil, fmt.Errorf("the array %q has value %d; expected 0 to %d", name, x, largest)
		}
		values[i] = int(x)
	}
	return values, nil
}

// Text reads an array of bytes (|u1) of one dimension.
func (a *Archive) Text(name string) ([]byte, error) {
	raw, _, err := a.read(name, "|u1", 1, nil)
	return raw, err
}

// read reads the values of an array of a type and number of dimensions in C order.
func (a *Archive) read(name, kind string, dimensions int, check func([]int) error) (raw []byte, shape []int, err error) {
	label := fmt.Sprintf("the array %q", name)
	e, ok := a.entry(name)
	if !ok {
		return nil, nil, fmt.Errorf("the file has no array %q", name)
	}
	content, err := e.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", label, err)
	}
	defer content.Close()
	r := number.Buffered(content, e.Size())
	h, err := ReadHeader(r)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", label, err)
	case h.Type != kind || h.Fortran:
		return nil, nil, fmt.Errorf("%s has type %s, Fortran order %t; expected type %s in C order", label, h.Type, h.Fortran, kind)
	case len(h.Shape) != dimensions:
		return nil, nil, fmt.Errorf("%s has shape %v; expected %d dimensions", label, h.Shape, dimensions)
	}
	if check != nil {
		if err := check(h.Shape); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", label, err)
		}
	}
	item, _ := h.Item()
	items, err := h.Items(item.Size)
	size := items * item.Size
	switch {
	case err != nil || items > maxItems:
		return nil, nil, fmt.Errorf("%s of shape %v has more values than the limit of %d", label, h.Shape, maxItems)
	case size > FreeBytes && uint64(size/PerByte) > e.CompressedSize64:
		return nil, nil, fmt.Errorf("%s of shape %v is too large for its %d compressed bytes", label, h.Shape, e.CompressedSize64)
	}
	if raw, err = number.ReadBytes(r, size, size); errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, fmt.Errorf("%s of shape %v ends after %d values: %w", label, h.Shape, int64(len(raw))/item.Size, io.ErrUnexpectedEOF)
	}
	if err == nil {
		err = number.End(r)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", label, err)
	}
	return raw, h.Shape, nil
}

// Header is what stands before an array's values.
type Header struct {
	Type string // the type of the items as NumPy writes it, such as "<f8"
	// Shape is the size along each dimension. With Fortran the items along the first follow each other.
	Shape   []int
	Fortran bool
	Length  int64 // how many bytes the header takes
}

const magic = "\x93NUMPY"

// headerForm is the dictionary that opens a file, in the form that NumPy writes.
var headerForm = regexp.MustCompile(`^\{'descr': '([^'{}]{1,32})', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n$`)

// ReadHeader reads an array up to its values.
func ReadHeader(r *bufio.Reader) (Header, error) {
	var h Header
	preamble, err := r.Peek(12)
	switch {
	case len(preamble) == 12 && string(preamble[:6]) == magic:
	case err != nil && err != io.EOF:
		return h, err
	default:
		return h, errors.New("not a NumPy file")
	}
	start, length := int64(10), int64(binary.LittleEndian.Uint16(preamble[8:]))
	if preamble[6] == 2 {
		start, length = 12, int64(binary.LittleEndian.Uint32(preamble[8:]))
	} else if preamble[6] != 1 {
		return h, fmt.Errorf("NumPy format version %d is not supported", preamble[6])
	}
	if length > 1<<16 {
		return h, fmt.Errorf("a header of %d bytes", length)
	}
	head, err := number.ReadBytes(r, start+length, 0)
	if err != nil {
		return h, err
	}
	m := headerForm.FindSubmatch(head[start:])
	if m == nil {
		return h, fmt.Errorf("header %q is not a NumPy header", head[start:])
	}
	h.Type, h.Fortran, h.Length = string(m[1]), string(m[2]) == "True", start+length
	shape := strings.TrimSuffix(strings.TrimSpace(string(m[3])), ",")
	if shape == "" {
		return h, nil
	}
	for text := range strings.SplitSeq(shape, ",") {
		d, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return h, fmt.Errorf("header %q: %w", head[start:], err)
		}
		h.Shape = append(h.Shape, d)
	}
	return h, nil
}

// Items returns the number of items, or an error if they take more than number.MaxBytes, item bytes each.
func (h Header) Items(item int64) (int64, error) {
	if slices.Contains(h.Shape, 0) {
		return 0, nil
	}
	items := int64(1)
	for _, d := range h.Shape {
		if items > number.MaxBytes/item/int64(d) {
			return 0, fmt.Errorf("shape %v is too large", h.Shape)
		}
		items *= int64(d)
	}
	return items, nil
}

// Item is the type of an array's items.
type Item struct {
	// Kind is that of numbers and booleans, number.None of text, with Unicode in characters of 4 bytes.
	Kind    number.Kind
	Unicode bool
	Size    int64 // the number of bytes that an item takes
	Order   binary.ByteOrder
}

// itemForm is a type that is read: a byte order, a kind (boolean, number, text in bytes or in Unicode), a size.
var itemForm = regexp.MustCompile(`^([<>=|]?)([biufSU])([1-9][0-9]{0,5})$`)

var numbers = map[string]number.Kind{
	"b1": number.Uint8, "u1": number.Uint8, "u2": number.Uint16, "u4": number.Uint32, "u8": number.Uint64,
	"i1": number.Int8, "i2": number.Int16, "i4": number.Int32, "i8": number.Int64,
	"f2": number.Float16, "f4": number.Float32, "f8": number.Float64,
}

// Item returns the type of the items; ok is false where they are of none that is read.
func (h Header) Item() (i Item, ok bool) {
	m := itemForm.FindStringSubmatch(h.Type)
	if m == nil {
		return i, false
	}
	i.Kind, i.Unicode, i.Order = numbers[m[2]+m[3]], m[2] == "U", binary.LittleEndian
	if i.Kind == number.None && m[2] != "S" && m[2] != "U" {
		return i, false
	}
	if m[1] == ">" {
		i.Order = binary.BigEndian
	}
	size, err := strconv.Atoi(m[3])
	if i.Size = int64(size); i.Unicode {
		i.Size *= 4
	}
	return i, err == nil
}

// Writer writes an archive of arrays, up to the first error, which Close returns.
type Writer struct {
	// Compress packs the arrays, but for those that are so large that Floats and Integers would not read them
	// where they pack well. The names of packed arrays are written without .npy and their headers in version 2
	// of the format, as they have been since the first models were saved; NumPy reads both.
	Compress bool

	zip *zip.Writer
	err error
}

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{zip: zip.NewWriter(w)} }

// Close writes the directory. It does not close what the writer writes to.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	return w.zip.Close()
}

// Array writes an array in C order of items of this type (NumPy's numpy.lib.format), whose values put writes.
func (w *Writer) Array(name, kind string, shape []int, put func(*bufio.Writer)) {
	if w.err != nil {
		return
	}
	entry := &zip.FileHeader{Name: name + ".npy", Method: zip.Store}
	sizes := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	if len(shape) == 1 {
		sizes += ","
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, sizes)
	var head []byte
	if w.Compress {
		entry.Name = name
		h := Header{Type: kind, Shape: shape}
		item, _ := h.Item()
		if items, err := h.Items(item.Size); err == nil && items*item.Size <= FreeBytes {
			entry.Method = zip.Deflate
		}
		dict += strings.Repeat(" ", (13+len(dict))%16) + "\n"
		head = binary.LittleEndian.AppendUint32([]byte(magic+"\x02\x00"), uint32(len(dict)))
	} else {
		// The values begin at a multiple of 64 bytes.
		dict += strings.Repeat(" ", 63-(10+len(dict))%64) + "\n"
		head = binary.LittleEndian.AppendUint16([]byte(magic+"\x01\x00"), uint16(len(dict)))
	}
	file, err := w.zip.CreateHeader(entry)
	if err != nil {
		w.err = err
		return
	}
	b := bufio.NewWriterSize(file, 1<<16)
	b.Write(head)
	b.WriteString(dict)
	put(b)
	if err := b.Flush(); err != nil {
		w.err = fmt.Errorf("writing %s: %w", name, err)
	}
}

// Floats writes an array of float64, of which row gives the values along all but the first dimension.
func (w *Writer) Floats(name string, shape []int, row func(i int) []float64) {
	w.Array(name, "<f8", shape, func(b *bufio.Writer) {
		rows := 1
		if len(shape) > 1 {
			rows = shape[0]
		}
		for i := range rows {
			for _, x := range row(i) {
				if _, err := b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), math.Float64bits(x))); err != nil {
					return
				}
			}
		}
	})
}

// List writes an array of float64 of one dimension.
func (w *Writer) List(name string, values []float64) {
	w.Floats(name, []int{len(values)}, func(int) []float64 { return values })
}

// Integers writes an array of int64 of one dimension.
func (w *Writer) Integers(name string, values ...int) {
	w.Array(name, "<i8", []int{len(values)}, func(b *bufio.Writer) {
		for _, x := range values {
			b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), uint64(x)))
		}
	})
}

// Text writes an array of bytes (|u1) of one dimension.
func (w *Writer) Text(name string, text []byte) {
	w.Array(name, "|u1", []int{len(text)}, func(b *bufio.Writer) { b.Write(text) })
}

// Words writes an array of texts (<U) of one dimension, each filled up to the longest one.
func (w *Writer) Words(name string, words []string) {
	longest := 0
	for _, word := range words {
		longest = max(longest, utf8.RuneCountInString(word))
	}
	w.Array(name, fmt.Sprintf("<U%d", longest), []int{len(words)}, func(b *bufio.Writer) {
		for _, word := range words {
			room := longest
			for _, r := range word {
				b.Write(binary.LittleEndian.AppendUint32(b.AvailableBuffer(), uint32(r)))
				room--
			}
			for range room {
				b.Write([]byte{0, 0, 0, 0})
			}
		}
	})
}
