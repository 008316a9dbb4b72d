package npz

import (
	"archive/zip"
	"bufio"
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

// Open reads the directory of an archive of size bytes. No entry claims more bytes of
// it than it has.
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

// Known returns how many bytes of content are known to be there: those of an entry that
// is not compressed.
func (e *Entry) Known() int64 {
	if e.file.Method == zip.Store && e.Size <= e.Packed {
		return e.Size
	}
	return 0
}

// Open opens the content.
func (e *Entry) Open() (io.ReadCloser, error) {
	if e.file.Flags&zipfile.Encrypted != 0 {
		return nil, errors.New("the file is encrypted")
	}
	return e.file.Open()
}

// The bounds of an array that Floats and Integers read: they take the memory that its
// values need only where that is up to FreeBytes, or up to PerByte for each byte that it
// is packed in.
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
	shape, err = a.each(name, "<f8", dimensions, check, func(n int) { values = make([]float64, n) }, func(i int, bits uint64) error {
		values[i] = math.Float64frombits(bits)
		return nil
	})
	return values, shape, err
}

// Integers reads an array of int64 (<i8) from 0 to largest, of one dimension.
func (a *Archive) Integers(name string, largest int64) (values []int, err error) {
	_, err = a.each(name, "<i8", 1, nil, func(n int) { values = make([]int, n) }, func(i int, bits uint64) error {
		x := int64(bits)
		if x < 0 || x > largest {
			return fmt.Errorf("the array %q holds %d; want 0 to %d", name, x, largest)
		}
		values[i] = int(x)
		return nil
	})
	return values, err
}

// Text reads an array of bytes (|u1) of one dimension, at most FreeBytes.
func (a *Archive) Text(name string) ([]byte, error) {
	r, h, end, err := a.open(name, "|u1", 1)
	if err != nil {
		return nil, err
	}
	defer end()
	if h.Shape[0] > FreeBytes {
		return nil, fmt.Errorf("the array %q has %d bytes; at most %d are read", name, h.Shape[0], FreeBytes)
	}
	text, err := number.ReadBytes(r, int64(h.Shape[0]), 0)
	if err == nil {
		err = number.End(r)
	}
	if err != nil {
		return nil, fmt.Errorf("the array %q: %w", name, err)
	}
	return text, nil
}

// open opens an array of a type and number of dimensions behind its header.
func (a *Archive) open(name, kind string, dimensions int) (r *bufio.Reader, h Header, end func() error, err error) {
	e := a.entry(name)
	if e == nil {
		return nil, h, nil, fmt.Errorf("the file holds no array %q", name)
	}
	content, err := e.Open()
	if err != nil {
		return nil, h, nil, fmt.Errorf("the array %q: %w", name, err)
	}
	r = bufio.NewReaderSize(content, 1<<15)
	h, err = ReadHeader(r)
	switch {
	case err != nil:
		err = fmt.Errorf("the array %q: %w", name, err)
	case h.Type != kind || h.Fortran:
		err = fmt.Errorf("the array %q is of the type %s, in Fortran order: %t; want %s in C order", name, h.Type, h.Fortran, kind)
	case len(h.Shape) != dimensions:
		err = fmt.Errorf("the array %q is of shape %v; want %d dimensions", name, h.Shape, dimensions)
	}
	if err != nil {
		content.Close()
		return nil, h, nil, err
	}
	return r, h, content.Close, nil
}

// each calls start with the number of items of an array and then do with the bits of
// each.
func (a *Archive) each(name, kind string, dimensions int, check func([]int) error, start func(n int), do func(i int, bits uint64) error) (shape []int, err error) {
	r, h, end, err := a.open(name, kind, dimensions)
	if err != nil {
		return nil, err
	}
	defer end()
	if check != nil {
		if err := check(h.Shape); err != nil {
			return nil, fmt.Errorf("the array %q: %w", name, err)
		}
	}
	const size = 8
	items, err := h.Items(size)
	if err != nil || items > maxItems {
		return nil, fmt.Errorf("the array %q of shape %v has more values than the %d that are read", name, h.Shape, maxItems)
	}
	if e := a.entry(name); size*items > FreeBytes && size*items/PerByte > e.Packed {
		return nil, fmt.Errorf("the array %q is of shape %v, too large for the %d bytes that it is packed in", name, h.Shape, e.Packed)
	}
	item, _ := h.Item()
	start(int(items))
	var b [size]byte
	for i := range int(items) {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, fmt.Errorf("the array %q is of shape %v and ends after %d values: %w", name, h.Shape, i, err)
		}
		if err := do(i, item.Order.Uint64(b[:])); err != nil {
			return nil, err
		}
	}
	if err := number.End(r); err != nil {
		return nil, fmt.Errorf("the array %q: %w", name, err)
	}
	return h.Shape, nil
}
