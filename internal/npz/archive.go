package npz

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// Archive is a file of arrays.
type Archive struct{ Entries []*Entry }

// Entry is a file of an archive.
type Entry struct {
	// Name is what the file is called; NumPy adds .npy to an array's name.
	Name string
	// Packed is how many bytes of the archive it takes, and Size how many it claims
	// to have when it is unpacked.
	Packed, Size int64

	file *zip.File
}

// Open reads the directory of an archive of size bytes. No entry claims more bytes of it than it has.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	z, err := zipfile.Open(r, size)
	if err != nil {
		return nil, err
	}
	a := &Archive{}
	for _, f := range z.File {
		if f.CompressedSize64 > uint64(size) {
			return nil, fmt.Errorf("the array %q is packed in %d bytes of a file of %d", f.Name, f.CompressedSize64, size)
		}
		a.Entries = append(a.Entries, &Entry{f.Name, int64(f.CompressedSize64), int64(min(f.UncompressedSize64, math.MaxInt64)), f})
	}
	return a, nil
}

// Most returns how many bytes the content can have.
func (e *Entry) Most() int64 {
	if e.file.Method == zip.Store {
		return e.Packed
	}
	return zipfile.MostDeflate * e.Packed
}

// Open opens the content.
func (e *Entry) Open() (io.ReadCloser, error) {
	if e.file.Flags&zipfile.Encrypted != 0 {
		return nil, errors.New("the file is encrypted")
	}
	return e.file.Open()
}

// The bounds of an array that Floats, Integers and Text read: they take the memory that its values need
// only where that is up to FreeBytes, or up to PerByte for each byte that it is packed in.
const (
	FreeBytes = 16 << 20
	PerByte   = 100
	maxItems  = 1 << 28
)

// entry returns the array of the name, or nil.
func (a *Archive) entry(name string) *Entry {
	i := slices.IndexFunc(a.Entries, func(e *Entry) bool { return strings.TrimSuffix(e.Name, ".npy") == name })
	if i < 0 {
		return nil
	}
	return a.Entries[i]
}

// Has tells whether there is an array of the name.
func (a *Archive) Has(name string) bool { return a.entry(name) != nil }

// Floats reads an array of float64 (<f8) of this number of dimensions, in C order, in
// which check finds no fault before memory is taken; it may be nil.
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
			return nil, fmt.Errorf("the array %q holds %d; want 0 to %d", name, x, largest)
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
	e := a.entry(name)
	if e == nil {
		return nil, nil, fmt.Errorf("the file holds no array %q", name)
	}
	content, err := e.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", label, err)
	}
	defer content.Close()
	r := number.Buffered(content, e.Size)
	h, err := ReadHeader(r)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", label, err)
	case h.Type != kind || h.Fortran:
		return nil, nil, fmt.Errorf("%s is of the type %s, in Fortran order: %t; want %s in C order", label, h.Type, h.Fortran, kind)
	case len(h.Shape) != dimensions:
		return nil, nil, fmt.Errorf("%s is of shape %v; want %d dimensions", label, h.Shape, dimensions)
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
		return nil, nil, fmt.Errorf("%s of shape %v has more values than the %d that are read", label, h.Shape, maxItems)
	case size > FreeBytes && size/PerByte > e.Packed:
		return nil, nil, fmt.Errorf("%s is of shape %v, too large for the %d bytes that it is packed in", label, h.Shape, e.Packed)
	}
	if raw, err = number.ReadBytes(r, size, size); errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, fmt.Errorf("%s is of shape %v and ends after %d values: %w", label, h.Shape, int64(len(raw))/item.Size, io.ErrUnexpectedEOF)
	}
	if err == nil {
		err = number.End(r)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", label, err)
	}
	return raw, h.Shape, nil
}
