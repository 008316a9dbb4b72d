package vectorfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// writeMATLAB writes a set as Write says for MATLAB, uncompressed, as MATLAB does with -v6.
func writeMATLAB(w *bufio.Writer, c *Content) error {
	for _, name := range slices.Concat(c.Names, c.Classes) {
		if strings.ContainsFunc(name, func(r rune) bool { return r > 0xffff }) {
			return fmt.Errorf("the name %q has characters beyond U+FFFF, which SciPy does not read from a .mat", name)
		}
	}
	height, width := c.Height, c.Width
	if _, ok := c.Vectors.(*sparse.CSR); ok {
		height, width = 0, 0
	}
	// A text, where some other data are (nowhere), the version, and letters that tell the order of bytes.
	fmt.Fprintf(w, "%-116s%s\x00\x01IM", "MATLAB 5.0 MAT-file, written by partwise", strings.Repeat("\x00", 8))
	err := c.vectorsArray().write(w)
	for _, l := range c.lists(height, width) {
		if err == nil {
			err = l.array().write(w)
		}
	}
	return err
}

// matArray is a variable to be written.
type matArray struct {
	name       string
	class      int
	nonzero    int // of a sparse one
	rows, cols int
	parts      []byte // the parts behind the name
	typ        int    // else the last part holds bytes bytes of numbers of a type, which put writes
	bytes      int64
	put        func(*bufio.Writer)
}

// write writes the variable. Errors of w come with the last number.
func (a *matArray) write(w *bufio.Writer) error {
	head := appendPart(nil, miUINT32, []int32{int32(a.class), int32(a.nonzero)})
	head = appendPart(head, miINT32, []int32{int32(a.rows), int32(a.cols)})
	head = append(appendPart(head, miINT8, []byte(a.name)), a.parts...)
	if a.put != nil && a.bytes <= 4 {
		var small bytes.Buffer
		buffered := bufio.NewWriter(&small)
		a.put(buffered)
		buffered.Flush()
		head, a.put, a.bytes = appendPart(head, a.typ, small.Bytes()), nil, 0
	}
	size := int64(len(head)) + a.bytes + -a.bytes&7
	if a.put != nil {
		size += 8
	}
	// The size of an element would have room for more, MATLAB has not.
	if size > math.MaxInt32 {
		return fmt.Errorf("variable %s takes %d bytes, and a variable of a MATLAB file of version 5 at most 2 GB: write .npz", a.name, size)
	}
	putList(w, []int32{miMATRIX, int32(size)})
	_, err := w.Write(head)
	if a.put != nil {
		putList(w, []int32{int32(a.typ), int32(a.bytes)})
		a.put(w)
		_, err = w.Write(make([]byte, -a.bytes&7))
	}
	return err
}

// appendPart appends a part of these numbers. One of up to 4 bytes shares 8 with its tag.
func appendPart[T any](to []byte, typ int, values []T) []byte {
	size := binary.Size(values)
	pad := -size & 7
	if 0 < size && size <= 4 {
		to, pad = binary.LittleEndian.AppendUint32(to, uint32(size<<16|typ)), 4-size
	} else {
		to = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(to, uint32(typ)), uint32(size))
	}
	to, _ = binary.Append(to, binary.LittleEndian, values)
	return append(to, make([]byte, pad)...)
}

// array is the variable of a list: a column of numbers, or of cells of a word each. A size is a row. What is not
// ASCII is written in 16 bits each: MATLAB loads no file in which a character has several bytes of UTF-8.
func (l list) array() *matArray {
	if l.words == nil {
		a := &matArray{name: l.name, class: mxDOUBLE, rows: len(l.numbers), cols: 1, parts: appendPart(nil, miDOUBLE, l.numbers)}
		if l.name == sizeVariable {
			a.rows, a.cols = 1, len(l.numbers)
		}
		return a
	}
	a := &matArray{name: l.name, class: mxCELL, rows: len(l.words), cols: 1}
	for _, word := range l.words {
		length, text := len(word), appendPart(nil, miUTF8, []byte(word))
		if length != utf8.RuneCountInString(word) {
			units := utf16.Encode([]rune(word))
			length, text = len(units), appendPart(nil, miUTF16, units)
		}
		cell := appendPart(nil, miUINT32, []int32{mxCHAR, 0})
		cell = appendPart(cell, miINT32, []int32{1, int32(length)})
		cell = append(appendPart(cell, miINT8, []byte{}), text...)
		a.parts = appendPart(a.parts, miMATRIX, cell)
	}
	return a
}

// vectorsArray is the variable of the vectors.
func (c *Content) vectorsArray() *matArray {
	n, m := c.Vectors.Dims()
	a := &matArray{name: "fea", class: mxDOUBLE, rows: n, cols: m}
	switch x := c.Vectors.(type) {
	case *sparse.CSR:
		rows, starts, values := compressedColumns(x)
		a.class, a.nonzero = mxSPARSE, max(1, len(values)) // MATLAB keeps room for one at least
		a.parts = appendPart(appendPart(nil, miINT32, rows), miINT32, starts)
		a.typ, a.bytes, a.put = miDOUBLE, 8*int64(len(values)), func(w *bufio.Writer) { putList(w, values) }
	case *Bytes:
		a.class, a.typ, a.bytes = mxUINT8, miUINT8, int64(n)*int64(m)
		a.put = func(w *bufio.Writer) { putColumns(w, c, func(i, j int) uint8 { return x.data[i*m+j] }) }
	default:
		a.typ, a.bytes = miDOUBLE, 8*int64(n)*int64(m)
		a.put = func(w *bufio.Writer) { putColumns(w, c, x.At) }
	}
	return a
}

// putColumns writes the vectors column by column, in MATLAB's order, in which images are turned too.
func putColumns[T any](w *bufio.Writer, c *Content, at func(i, j int) T) {
	n, m := c.Vectors.Dims()
	height, width := c.Height, c.Width
	if height == 0 {
		height, width = 1, m
	}
	column := make([]T, n)
	for j := range m {
		for i := range n {
			column[i] = at(i, j%height*width+j/height)
		}
		if putList(w, column) != nil {
			return
		}
	}
}

// compressedColumns returns the values other than 0 column by column, the row of each, and the columns' starts.
func compressedColumns(x *sparse.CSR) (rows, starts []int32, values []float64) {
	columns := x.Transpose()
	m, _ := columns.Dims()
	starts = make([]int32, 1, m+1)
	for j := range m {
		in, column := columns.Row(j)
		for p, v := range column {
			if v != 0 {
				rows, values = append(rows, int32(in[p])), append(values, v)
			}
		}
		starts = append(starts, int32(len(values)))
	}
	return rows, starts, values
}
