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
	n, _ := s.Vectors.Dims()
	height, width := s.Height, s.Width
	if _, ok := s.Vectors.(*sparse.CSR); ok {
		height, width = 0, 0
	}
	vars := []matArray{
		vectorsArray(s),
		columnArray("gnd", n, 1, s.labelNumbers()),
		cellArray(namesVariable, s.Names),
	}
	if len(s.Classes) > 0 {
		vars = append(vars, cellArray(classesVariable, s.Classes))
	}
	if len(s.Features) > 0 {
		names, counts, scales := s.features()
		numbers := make([]float64, len(counts))
		for i, n := range counts {
			numbers[i] = float64(n)
		}
		vars = append(vars, cellArray(featuresVariable, names), columnArray(columnsVariable, len(names), 1, numbers), columnArray(scalesVariable, len(names), 1, scales))
	}
	vars = append(vars, columnArray(sizeVariable, 1, 2, []float64{float64(height), float64(width)}))
	return writeArrays(w, vars)
}

// writeArrays writes a MATLAB file of the variables.
func writeArrays(w *bufio.Writer, vars []matArray) error {
	// A text, where some other data are (nowhere), the version, and letters that
	// tell the order of bytes.
	fmt.Fprintf(w, "%-116s%s\x00\x01IM", "MATLAB 5.0 MAT-file, written by partwise", strings.Repeat("\x00", 8))
	for i := range vars {
		// The size of an element would have room for more, MATLAB has not.
		if size := vars[i].size(); size > math.MaxInt32 {
			return fmt.Errorf("variable %s takes %d bytes, and a variable of a MATLAB file of version 5 at most 2 GB: write .npz", vars[i].name, size)
		}
		if err := vars[i].write(w); err != nil {
			return err
		}
	}
	return nil
}

// matArray is a variable to be written, or a cell of one.
type matArray struct {
	name       string
	class      uint32
	nonzero    int // of a sparse one
	rows, cols int
	parts      []matValues
	cells      []matArray
}

// matValues is a part of a variable: size bytes, which put writes up to the first
// error of its writer, of numbers of a type.
type matValues struct {
	typ  uint32
	size int64
	put  func(*bufio.Writer)
}

// room returns the bytes that the part takes with its tag. One of up to 4 bytes
// shares 8 with it.
func (p *matValues) room() int64 {
	if p.size <= 4 {
		return 8
	}
	return 8 + p.size + -p.size&7
}

func (p *matValues) write(w *bufio.Writer) error {
	if 0 < p.size && p.size <= 4 {
		putInts(w, []int{int(p.size)<<16 | int(p.typ)})
	} else {
		putInts(w, []int{int(p.typ), int(p.size)})
	}
	p.put(w)
	pad := p.room() - 8 - p.size
	if p.size <= 4 {
		pad = -p.size & 3
	}
	_, err := w.Write(make([]byte, pad))
	return err
}

// all returns the parts with those that every variable begins with: flags,
// dimensions and name.
func (a *matArray) all() []matValues {
	return append([]matValues{
		intsPart(miUINT32, []int{int(a.class), a.nonzero}),
		intsPart(miINT32, []int{a.rows, a.cols}),
		{miINT8, int64(len(a.name)), func(w *bufio.Writer) { w.WriteString(a.name) }},
	}, a.parts...)
}

// size returns the bytes of the variable without its tag.
func (a *matArray) size() int64 {
	var size int64
	for _, p := range a.all() {
		size += p.room()
	}
	for i := range a.cells {
		size += 8 + a.cells[i].size()
	}
	return size
}

func (a *matArray) write(w *bufio.Writer) error {
	putInts(w, []int{miMATRIX, int(a.size())})
	for _, p := range a.all() {
		if err := p.write(w); err != nil {
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

func intsPart(typ uint32, values []int) matValues {
	return matValues{typ, 4 * int64(len(values)), func(w *bufio.Writer) { putInts(w, values) }}
}

func floatsPart(values []float64) matValues {
	return matValues{miDOUBLE, 8 * int64(len(values)), func(w *bufio.Writer) { putFloats(w, values) }}
}

// columnArray is a matrix whose values stand column by column.
func columnArray(name string, r, c int, values []float64) matArray {
	return matArray{name: name, class: mxDOUBLE, rows: r, cols: c, parts: []matValues{floatsPart(values)}}
}

// cellArray is a column of cells of a word each.
func cellArray(name string, words []string) matArray {
	a := matArray{name: name, class: mxCELL, rows: len(words), cols: 1}
	for _, word := range words {
		a.cells = append(a.cells, charArray(word))
	}
	return a
}

// charArray is a line of text. What is not ASCII is written in 16 bits each:
// MATLAB loads no file in which a character has several bytes of UTF-8.
func charArray(text string) matArray {
	a := matArray{class: mxCHAR, rows: 1, cols: len(text)}
	if len(text) == utf8.RuneCountInString(text) {
		a.parts = []matValues{{miUTF8, int64(len(text)), func(w *bufio.Writer) { w.WriteString(text) }}}
		return a
	}
	units := utf16.Encode([]rune(text))
	a.cols = len(units)
	a.parts = []matValues{{miUTF16, 2 * int64(len(units)), func(w *bufio.Writer) {
		for _, u := range units {
			w.Write(binary.LittleEndian.AppendUint16(w.AvailableBuffer(), u))
		}
	}}}
	return a
}

// vectorsArray is the variable of the vectors.
func vectorsArray(s *Content) matArray {
	n, m := s.Vectors.Dims()
	a := matArray{name: "fea", rows: n, cols: m}
	switch x := s.Vectors.(type) {
	case *sparse.CSR:
		a.class = mxSPARSE
		rows, starts, values := compressedColumns(x)
		a.nonzero = max(1, len(values)) // MATLAB keeps room for one at least
		a.parts = []matValues{intsPart(miINT32, rows), intsPart(miINT32, starts), floatsPart(values)}
	case *Bytes:
		a.class = mxUINT8
		a.parts = []matValues{{miUINT8, int64(n) * int64(m), func(w *bufio.Writer) {
			for _, j := range s.columnOrder() {
				for i := range n {
					if w.WriteByte(x.data[i*m+j]) != nil {
						return
					}
				}
			}
		}}}
	default:
		a.class = mxDOUBLE
		a.parts = []matValues{{miDOUBLE, 8 * int64(n) * int64(m), func(w *bufio.Writer) {
			column := make([]float64, n)
			for _, j := range s.columnOrder() {
				for i := range n {
					column[i] = x.At(i, j)
				}
				if putFloats(w, column) != nil {
					return
				}
			}
		}}}
	}
	return a
}

// columnOrder returns the columns in the order in which MATLAB has them, where
// images stand column by column.
func (s *Content) columnOrder() []int {
	_, m := s.Vectors.Dims()
	height, width := s.Height, s.Width
	if height == 0 {
		height, width = 1, m
	}
	columns := make([]int, 0, m)
	for c := range width {
		for r := range height {
			columns = append(columns, r*width+c)
		}
	}
	return columns
}

// compressedColumns returns the values that are not 0 column by column, the row
// of each, and where each column starts among them.
func compressedColumns(x *sparse.CSR) (rows, starts []int, values []float64) {
	columns := x.Transpose()
	m, _ := columns.Dims()
	starts = make([]int, 1, m+1)
	for j := range m {
		in, column := columns.Row(j)
		for p, v := range column {
			if v != 0 {
				rows, values = append(rows, in[p]), append(values, v)
			}
		}
		starts = append(starts, len(values))
	}
	return rows, starts, values
}
