package npz

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

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

// Floats writes an array of float64, of which row gives the values of each index along the first of several
// dimensions.
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
