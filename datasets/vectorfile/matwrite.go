package vectorfile

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// writeMATLAB writes a set as Write says for MATLAB, uncompressed, as MATLAB
// does with -v6.
func writeMATLAB(w *bufio.Writer, s *Content) error {
	for _, names := range [][]string{s.Names, s.Classes} {
		for _, name := range names {
			if strings.ContainsFunc(name, func(r rune) bool { return r > 0xffff }) {
				return fmt.Errorf("the name %q has characters beyond U+FFFF, which SciPy does not read from a .mat", name)
			}
		}
	}
	height, width := s.Height, s.Width
	if _, ok := s.Vectors.(*sparse.CSR); ok {
		height, width = 0, 0
	}
	vars := []matArray{s.vectorsArray(), columnArray("gnd", s.labelNumbers()), cellArray(namesVariable, s.Names)}
	if len(s.Classes) > 0 {
		vars = append(vars, cellArray(classesVariable, s.Classes))
	}
	if len(s.Features) > 0 {
		names, counts, scales := s.features()
		vars = append(vars, cellArray(featuresVariable, names), columnArray(columnsVariable, floats(counts)), columnArray(scalesVariable, scales))
	}
	size := columnArray(sizeVariable, []float64{float64(height), float64(width)})
	size.rows, size.cols = 1, 2
	return writeArrays(w, append(vars, size))
}

// writeArrays writes a MATLAB file of the variables.
func writeArrays(w *bufio.Writer, vars []matArray) error {
	// A text, where some other data are (nowhere), the version, and letters that
	// tell the order of bytes.
	fmt.Fprintf(w, "%-116s%s\x00\x01IM", "MATLAB 5.0 MAT-file, written by partwise", strings.Repeat("\x00", 8))
	for _, v := range vars {
		// The size of an element would have room for more, MATLAB has not.
		size := v.size()
		if size > math.MaxInt32 {
			return fmt.Errorf("variable %s takes %d bytes, and a variable of a MATLAB file of version 5 at most 2 GB: write .npz", v.name, size)
		}
		if err := v.write(w); err != nil {
			return err
		}
	}
	return nil
}

// matArray is a variable to be written, or a cell of one.
type matArray struct {
	name       string
	class      int
	nonzero    int // of a sparse one
	rows, cols int
	parts      []matPart
	cells      []matArray
}

// matPart is a part of a variable: size bytes of numbers of a type, which put writes.
type matPart struct {
	typ  int
	size int64
	put  func(*bufio.Writer)
}

// listPart is a part of these numbers.
func listPart[T any](typ int, values []T) matPart {
	return matPart{typ, int64(binary.Size(values)), func(w *bufio.Writer) { putList(w, values) }}
}

// all returns the parts with those that every variable begins with: flags,
// dimensions and name.
func (a *matArray) all() []matPart {
	return append([]matPart{
		listPart(miUINT32, []uint32{uint32(a.class), uint32(a.nonzero)}),
		listPart(miINT32, []int32{int32(a.rows), int32(a.cols)}),
		listPart(miINT8, []byte(a.name)),
	}, a.parts...)
}

// size returns the bytes of the variable without its tag. A part of up to 4 bytes shares 8 with its tag.
func (a *matArray) size() (size int64) {
	for _, p := range a.all() {
		if size += 8; p.size > 4 {
			size += p.size + -p.size&7
		}
	}
	for i := range a.cells {
		size += 8 + a.cells[i].size()
	}
	return size
}

func (a *matArray) write(w *bufio.Writer) error {
	putList(w, []int32{miMATRIX, int32(a.size())})
	for _, p := range a.all() {
		pad := -p.size & 7
		if 0 < p.size && p.size <= 4 {
			putList(w, []int32{int32(int(p.size)<<16 | p.typ)})
			pad = 4 - p.size
		} else {
			putList(w, []int32{int32(p.typ), int32(p.size)})
		}
		p.put(w)
		if _, err := w.Write(make([]byte, pad)); err != nil {
			return err
		}
	}
	for i := range a.cells {
		if err := a.cells[i].write(w); err != nil {
			return err
		}
	}
	return nil
}

// columnArray is a column of numbers.
func columnArray(name string, values []float64) matArray {
	return matArray{name: name, class: mxDOUBLE, rows: len(values), cols: 1, parts: []matPart{listPart(miDOUBLE, values)}}
}

// cellArray is a column of cells of a word each. What is not ASCII is written in 16 bits each:
// MATLAB loads no file in which a character has several bytes of UTF-8.
func cellArray(name string, words []string) matArray {
	a := matArray{name: name, class: mxCELL, rows: len(words), cols: 1}
	for _, word := range words {
		cell := matArray{class: mxCHAR, rows: 1, cols: len(word), parts: []matPart{listPart(miUTF8, []byte(word))}}
		if len(word) != utf8.RuneCountInString(word) {
			units := utf16.Encode([]rune(word))
			cell.cols, cell.parts = len(units), []matPart{listPart(miUTF16, units)}
		}
		a.cells = append(a.cells, cell)
	}
	return a
}

// vectorsArray is the variable of the vectors.
func (s *Content) vectorsArray() matArray {
	n, m := s.Vectors.Dims()
	a := matArray{name: "fea", class: mxDOUBLE, rows: n, cols: m}
	switch x := s.Vectors.(type) {
	case *sparse.CSR:
		a.class = mxSPARSE
		rows, starts, values := compressedColumns(x)
		a.nonzero = max(1, len(values)) // MATLAB keeps room for one at least
		a.parts = []matPart{listPart(miINT32, rows), listPart(miINT32, starts), listPart(miDOUBLE, values)}
	case *Bytes:
		a.class = mxUINT8
		a.parts = []matPart{columnsPart(s, miUINT8, 1, func(i, j int) uint8 { return x.data[i*m+j] })}
	default:
		a.parts = []matPart{columnsPart(s, miDOUBLE, 8, x.At)}
	}
	return a
}

// columnsPart is a part of the values of the vectors column by column, in the order in which MATLAB has them,
// where images stand column by column too.
func columnsPart[T any](s *Content, typ int, bytes int64, at func(i, j int) T) matPart {
	n, m := s.Vectors.Dims()
	height, width := s.Height, s.Width
	if height == 0 {
		height, width = 1, m
	}
	return matPart{typ, bytes * int64(n) * int64(m), func(w *bufio.Writer) {
		column := make([]T, n)
		for j := range m {
			for i := range n {
				column[i] = at(i, j%height*width+j/height)
			}
			if putList(w, column) != nil {
				return
			}
		}
	}}
}

// compressedColumns returns the values that are not 0 column by column, the row
// of each, and where each column starts among them.
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
