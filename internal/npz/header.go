// Package npz reads and writes NumPy's arrays (.npy) and archives of them (.npz). What
// a file says of itself is checked before memory is taken for it.
package npz

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/number"
)

// Header is what stands before an array's values.
type Header struct {
	// Type is the type of the items as NumPy writes it, such as "<f8".
	Type string
	// Shape is the size along each dimension, and Fortran tells whether the items
	// along the first one follow each other.
	Shape   []int
	Fortran bool
	// Length is how many bytes the header takes.
	Length int64
}

const magic = "\x93NUMPY"

// headerForm is the dictionary that opens a file, in the form that NumPy writes.
var headerForm = regexp.MustCompile(`^\{'descr': '([^'{}]{1,32})', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n$`)

// ReadHeader reads an array up to its values.
func ReadHeader(r *bufio.Reader) (Header, error) {
	var h Header
	preamble, err := r.Peek(12)
	if len(preamble) < 12 || string(preamble[:6]) != magic {
		if err != nil && err != io.EOF {
			return h, err
		}
		return h, errors.New("not a NumPy file")
	}
	start, length := int64(10), int64(binary.LittleEndian.Uint16(preamble[8:]))
	switch preamble[6] {
	case 1:
	case 2:
		start, length = 12, int64(binary.LittleEndian.Uint32(preamble[8:]))
	default:
		return h, fmt.Errorf("version %d of NumPy's format is not read", preamble[6])
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
		return h, fmt.Errorf("header %q is not as NumPy writes it", head[start:])
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

// Items returns the number of items, or an error if the array would take more than
// number.MaxBytes with this number of bytes for each.
func (h Header) Items(item int64) (int64, error) {
	if slices.Contains(h.Shape, 0) {
		return 0, nil
	}
	items := int64(1)
	for _, d := range h.Shape {
		if items > number.MaxBytes/item/int64(d) {
			return 0, fmt.Errorf("shape %v is more than any file holds", h.Shape)
		}
		items *= int64(d)
	}
	return items, nil
}

// Item is the type of an array's items.
type Item struct {
	// Kind is that of numbers and booleans, number.None of text.
	Kind number.Kind
	// Unicode tells whether text is in characters of 4 bytes, not of one.
	Unicode bool
	// Size is the number of bytes that an item takes.
	Size  int64
	Order binary.ByteOrder
}

// itemForm is a type that is read: a byte order, a kind (a boolean, whole or
// floating-point number, text in bytes or in Unicode) and a size.
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
