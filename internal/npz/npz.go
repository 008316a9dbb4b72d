// Package npz reads and writes NumPy arrays (.npy) and archives of arrays (.npz). Sizes claimed by a file are validated
// before memory is allocated, unlike in sbinet/npyio, which also panics on some headers and lacks half precision.
package npz

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/text/lazyregexp"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// Archive is an .npz file that is open for reading.
type Archive struct{ Entries []Entry }

// Entry is an array of an archive. NumPy appends .npy to its name.
type Entry struct{ *zip.File }

// Open reads the directory of an archive of size bytes. It is an error if an entry claims more bytes than that.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	z, err := zipfile.Open(r, size)
	if err != nil {
		return nil, err
	}
	a := &Archive{}
	for _, f := range z.File {
		if f.CompressedSize64 > uint64(size) {
			return nil, fmt.Errorf("the array %q declares %d bytes, but the file has %d", f.Name, f.CompressedSize64, size)
		}
		a.Entries = append(a.Entries, Entry{f})
	}
	return a, nil
}

// Digest returns a digest of the names and contents of all entries. It reads and checks them.
func (a *Archive) Digest() (_ string, err error) {
	defer guard.Catch(&err)
	h := sha256.New()
	for _, e := range a.Entries {
		fmt.Fprintf(h, "%q %d\n", e.Name, e.Size())
		guard.Within(func() {
			content := guard.Must(e.Open())
			defer content.Close()
			guard.Must(io.Copy(h, content))
		}, "the array %q", e.Name)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Most returns an upper bound of the size of the content.
func (e Entry) Most() int64 {
	if e.Method == zip.Store {
		return int64(e.CompressedSize64)
	}
	return zipfile.MostDeflate * int64(e.CompressedSize64)
}

// Open opens the content for reading.
func (e Entry) Open() (io.ReadCloser, error) { return zipfile.OpenEntry(e.File) }

// Size returns the claimed size of the content in bytes.
func (e Entry) Size() int64 { return int64(min(e.UncompressedSize64, math.MaxInt64)) }

// An array may have at most FreeBytes, or at most PerByte bytes per compressed byte.
const FreeBytes, PerByte, maxItems = 16 << 20, 100, 1 << 28

// entry returns the array with the given name.
func (a *Archive) entry(name string) (e Entry, ok bool) {
	return lists.Find(a.Entries, func(e Entry) bool { return strings.TrimSuffix(e.Name, ".npy") == name })
}

// Has reports whether there is an array with the given name.
func (a *Archive) Has(name string) bool {
	_, ok := a.entry(name)
	return ok
}

// Floats reads an array of float64 (<f8) in C order. check, if not nil, validates the shape before memory is allocated.
func (a *Archive) Floats(name string, dimensions int, check func(shape []int) error) (values []float64, shape []int, err error) {
	raw, shape, err := a.read(name, "<f8", dimensions, check)
	values = make([]float64, len(raw)/8)
	_, _ = binary.Decode(raw, binary.LittleEndian, values) // cannot fail: raw has their length
	return values, shape, err
}

// Integers reads a one-dimensional array of int64 (<i8) with values from 0 to largest.
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

// Get reads an array into value: a **mat.Dense, *[]float64, *float64, *[]int or *int. Numbers must be finite and integers
// from 0 to most; lists of numbers and matrices must not be empty. shape is the expected shape;
// without it, any shape fits.
func (a *Archive) Get(name string, value any, most int64, shape ...int) (err error) {
	defer guard.Catch(&err)
	var numbers []float64
	var integers, is []int
	switch value.(type) {
	case *int, *[]int:
		integers, err = a.Integers(name, most)
		is = []int{len(integers)}
	case **mat.Dense:
		numbers, is, err = a.Floats(name, 2, nil)
	default:
		numbers, is, err = a.Floats(name, 1, nil)
	}
	guard.Check(err)
	guard.FailIf(integers == nil && len(numbers) == 0, "the array %q has shape %v; expected a non-empty array", name, is)
	switch value.(type) {
	case *int, *float64:
		shape = []int{1}
	}
	for d, size := range shape {
		guard.FailIf(size != is[d], "the array %q has shape %v; expected %v", name, is, shape)
	}
	infinite := slices.ContainsFunc(numbers, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	guard.FailIf(infinite, "the array %q has values that are not finite", name)
	switch to := value.(type) {
	case **mat.Dense:
		*to = mat.NewDense(is[0], is[1], numbers)
	case *[]float64:
		*to = numbers
	case *float64:
		*to = numbers[0]
	case *[]int:
		*to = integers
	case *int:
		*to = integers[0]
	}
	return nil
}

// Text reads a one-dimensional array of bytes (|u1).
func (a *Archive) Text(name string) ([]byte, error) {
	raw, _, err := a.read(name, "|u1", 1, nil)
	return raw, err
}

// read reads the values of an array of the given type and number of dimensions in C order.
func (a *Archive) read(name, kind string, dimensions int, check func([]int) error) (raw []byte, shape []int, err error) {
	e, ok := a.entry(name)
	if !ok {
		return nil, nil, fmt.Errorf("the file has no array %q", name)
	}
	raw, shape, err = e.read(kind, dimensions, check)
	return raw, shape, guard.Wrap(err, "the array %q", name)
}

func (e Entry) read(kind string, dimensions int, check func([]int) error) (raw []byte, shape []int, err error) {
	defer guard.Catch(&err)
	content := guard.Must(e.Open())
	defer content.Close()
	r := number.Buffered(content, e.Size())
	h := guard.Must(ReadHeader(r))
	guard.FailIf(h.Type != kind || h.Fortran, "type %s, Fortran order %t; expected type %s in C order", h.Type, h.Fortran, kind)
	guard.FailIf(len(h.Shape) != dimensions, "shape %v; expected %d dimensions", h.Shape, dimensions)
	if check != nil {
		guard.Check(check(h.Shape))
	}
	item, _ := h.Item()
	items, err := h.Items(item.Size)
	size := items * item.Size
	guard.FailIf(err != nil || items > maxItems, "shape %v has more values than the limit of %d", h.Shape, maxItems)
	guard.FailIf(size > FreeBytes && uint64(size/PerByte) > e.CompressedSize64, "shape %v is too large for %d compressed bytes", h.Shape, e.CompressedSize64)
	raw = guard.Must(number.ReadBytes(r, size, size))
	return raw, h.Shape, number.End(r)
}

// Header is the header of an array.
type Header struct {
	Type string // NumPy's type of items, such as "<f8"
	// Shape is the size of each dimension. Fortran means column-major order.
	Shape   []int
	Fortran bool
	Length  int64 // length of the header in bytes
}

const magic = "\x93NUMPY"

// headerForm matches the header dictionary in the form that NumPy writes.
var headerForm = lazyregexp.New(`^\{'descr': '([^'{}]{1,32})', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n$`)

// ReadHeader reads the header of an array.
func ReadHeader(r *bufio.Reader) (h Header, err error) {
	defer guard.Catch(&err)
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
	guard.FailIf(length > 1<<16, "the header has %d bytes; expected at most %d", length, 1<<16)
	head := guard.Must(number.ReadBytes(r, start+length, 0))
	m := headerForm().FindSubmatch(head[start:])
	guard.FailIf(m == nil, "header %q is not a NumPy header", head[start:])
	h.Type, h.Fortran, h.Length = string(m[1]), string(m[2]) == "True", start+length
	shape := strings.TrimSuffix(strings.TrimSpace(string(m[3])), ",")
	if shape == "" {
		return h, nil
	}
	for text := range strings.SplitSeq(shape, ",") {
		d, err := strconv.Atoi(strings.TrimSpace(text))
		guard.FailIf(err != nil, "header %q: %w", head[start:], err)
		h.Shape = append(h.Shape, d)
	}
	return h, nil
}

// Items returns the number of items, or an error if they take more than number.MaxBytes with item bytes each.
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
	// Kind is the kind of numbers and booleans, or number.None for text. Unicode means characters of 4 bytes.
	Kind    number.Kind
	Unicode bool
	Size    int64 // size of an item in bytes
	Order   binary.ByteOrder
}

// itemForm matches a supported type: byte order, kind (boolean, number, bytes or Unicode text) and size.
var itemForm = lazyregexp.New(`^([<>=|]?)([biufSU])([1-9][0-9]{0,5})$`)

var numbers = map[string]number.Kind{
	"b1": number.Uint8, "u1": number.Uint8, "u2": number.Uint16, "u4": number.Uint32, "u8": number.Uint64,
	"i1": number.Int8, "i2": number.Int16, "i4": number.Int32, "i8": number.Int64,
	"f2": number.Float16, "f4": number.Float32, "f8": number.Float64,
}

// Item returns the type of the items. ok is false if it is not supported.
func (h Header) Item() (i Item, ok bool) {
	m := itemForm().FindStringSubmatch(h.Type)
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

// Writer writes an archive of arrays. It stops at the first error, which Close returns.
type Writer struct {
	// Compress compresses arrays of up to FreeBytes; larger ones could compress so well that Floats and Integers would
	// refuse them. Names are then written without .npy, and headers in version 2 of the format, for compatibility
	// with models of earlier versions; NumPy reads both.
	Compress bool

	zip *zip.Writer
	err error
}

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{zip: zip.NewWriter(w)} }

// Close writes the directory. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	return w.zip.Close()
}

// Array writes an array in C order with items of the given type (numpy.lib.format). put writes the values.
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
		// Values are aligned to 64 bytes.
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

// Floats writes an array of float64. row returns the values for index i of the first dimension; of one dimension, all.
func (w *Writer) Floats(name string, shape []int, row func(i int) []float64) {
	rows := 1
	if len(shape) > 1 {
		rows = shape[0]
	}
	w.Array(name, "<f8", shape, func(b *bufio.Writer) {
		for i := 0; i < rows && number.Write(b, row(i)) == nil; i++ {
		}
	})
}

// Singles writes an array of float32 of two dimensions, as Floats does.
func (w *Writer) Singles(name string, shape []int, row func(i int) []float64) {
	w.Array(name, "<f4", shape, func(b *bufio.Writer) {
		single := func(x float64) float32 { return float32(x) }
		for i := 0; i < shape[0] && number.Write(b, lists.Map(row(i), single)) == nil; i++ {
		}
	})
}

// Put writes the array that Get reads into value. It leaves out nil.
func (w *Writer) Put(name string, value any) {
	switch of := value.(type) {
	case **mat.Dense:
		if x := *of; x != nil {
			n, m := x.Dims()
			w.Floats(name, []int{n, m}, x.RawRowView)
		}
	case *[]float64:
		if len(*of) > 0 {
			w.List(name, *of)
		}
	case *float64:
		w.List(name, []float64{*of})
	case *[]int:
		if *of != nil {
			w.Integers(name, *of...)
		}
	case *int:
		w.Integers(name, *of)
	}
}

// List writes a one-dimensional array of float64.
func (w *Writer) List(name string, values []float64) {
	w.Floats(name, []int{len(values)}, func(int) []float64 { return values })
}

// Integers writes a one-dimensional array of int64.
func (w *Writer) Integers(name string, values ...int) {
	w.Array(name, "<i8", []int{len(values)}, func(b *bufio.Writer) {
		for _, x := range values {
			b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), uint64(x)))
		}
	})
}

// Text writes a one-dimensional array of bytes (|u1).
func (w *Writer) Text(name string, text []byte) {
	w.Array(name, "|u1", []int{len(text)}, func(b *bufio.Writer) { b.Write(text) })
}

// Words writes a one-dimensional array of strings (<U), padded to the longest one.
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
