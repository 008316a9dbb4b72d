package vectorfile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// writers are the formats of vectors, by the extension of the file's name. They call guard.Fail for content that a format
// cannot hold. Flush returns the errors of writing.
var writers = map[string]func(*bufio.Writer, *Content){
	".npz": writeNumPy,
	".mat": writeMATLAB,
	".csv": writeTable,
}

// CanWrite returns an error if Write does not support the extension of path.
func CanWrite(path string) error {
	if writers[strings.ToLower(filepath.Ext(path))] == nil {
		return fmt.Errorf("%s: the name must end in .npz, .mat or .csv", path)
	}
	return nil
}

// Write writes vectors in the format of the extension of path: .npz for NumPy, .mat for MATLAB, or .csv.
// docs/reference/data.md lists the content. Open reads the same vectors, labels and names, except that sparse vectors
// become dense in a .csv and lose their image size in a .mat. A .csv has no image size and no settings.
//
// The write is atomic: on failure, or if ctx ends, an existing file is unchanged. Values that are not finite are
// errors. So are names that the format cannot hold: with white space at an end in a .csv, with characters beyond U+FFFF
// in a .mat, or that are not UTF-8.
func Write(ctx context.Context, path string, s *Content) error {
	return s.write(ctx, path, atomicfile.WriteFunc)
}

// WriteNew is Write for a new file. If the file exists, it is unchanged, and the error wraps fs.ErrExist.
func WriteNew(ctx context.Context, path string, s *Content) error {
	return s.write(ctx, path, atomicfile.CreateFunc)
}

// WriteTo is Write for a writer, which may be left with a part of the text; name only gives the format.
func WriteTo(ctx context.Context, w io.Writer, name string, s *Content) error {
	return s.write(ctx, name, func(_ string, write func(io.Writer) error) error { return write(w) })
}

func (c *Content) write(ctx context.Context, path string, file func(string, func(io.Writer) error) error) error {
	if err := CanWrite(path); err != nil {
		return err
	}
	err := c.checkVectors()
	if err == nil {
		err = file(path, func(w io.Writer) error {
			buffered := bufio.NewWriterSize(atomicfile.UntilDone(ctx, w), 1<<16)
			err := guard.Try(func() { writers[strings.ToLower(filepath.Ext(path))](buffered, c) })
			return cmp.Or(err, buffered.Flush())
		})
	}
	if named := (*fs.PathError)(nil); err != nil && !errors.As(err, &named) {
		err = fmt.Errorf("writing %s: %w", path, err)
	}
	return err
}

// checkVectors returns an error unless c has vectors that a reader would accept.
func (c *Content) checkVectors() (err error) {
	defer guard.Catch(&err)
	failIf(c.Vectors == nil, "a set of image files has no vectors to write")
	n, m := c.Vectors.Dims()
	failIf(n == 0 || m == 0, "the %d×%d matrix has no samples", n, m)
	failIf(len(c.Names) != n || len(c.Labels) != n, "%d vectors, but %d names and %d labels", n, len(c.Names), len(c.Labels))
	failIf((c.Height != 0 || c.Width != 0) && (c.Height < 0 || c.Height*c.Width != m),
		"vectors of %d values are not images of height %d and width %d", m, c.Height, c.Width)
	columns := 0
	for _, f := range c.Features {
		columns += f.Count
	}
	failIf(c.Features != nil && columns != m, "features have %d columns, but vectors have %d values", columns, m)
	for i, l := range c.Labels {
		failIf(l < -1 || l >= len(c.Classes), "%s: label %d; expected less than the number of classes, %d", c.Names[i], l, len(c.Classes))
	}
	for _, name := range slices.Concat(c.Names, c.Classes) {
		failIf(strings.ContainsRune(name, 0) || !utf8.ValidString(name), "the name %q is not text", name)
	}
	failIf(!allDiffer(c.Names) || !allDiffer(c.Classes), "a name of a sample or class is empty or duplicate")
	return checkFinite(c.Vectors, c.Missing)
}

// List is a list of words or numbers that is stored beside vectors.
type List struct {
	Name     string
	Words    []string
	Numbers  []float64
	Integers bool // the numbers are integers of 4 bytes
}

// lists returns the lists that Write stores beside vectors, which hold images of a size or 0×0.
func (c *Content) lists(height, width int) []List {
	labels := List{Name: "gnd", Integers: !slices.Contains(c.Labels, -1)}
	for _, l := range c.Labels {
		class := float64(l + 1)
		if l < 0 {
			class = math.NaN()
		}
		labels.Numbers = append(labels.Numbers, class)
	}
	all := []List{labels, {Name: namesVariable, Words: c.Names}}
	if len(c.Classes) > 0 {
		all = append(all, List{Name: classesVariable, Words: c.Classes})
	}
	if len(c.Features) > 0 {
		names, counts, scales := List{Name: "features"}, List{Name: "columns", Integers: true}, List{Name: "scales"}
		for _, f := range c.Features {
			names.Words, counts.Numbers = append(names.Words, f.Name), append(counts.Numbers, float64(f.Count))
			scales.Numbers = append(scales.Numbers, f.Scale)
		}
		all = append(all, names, counts, scales)
	}
	if c.Settings != "" {
		all = append(all, List{Name: settingsVariable, Words: []string{c.Settings}})
	}
	return append(append(all, List{Name: sizeVariable, Numbers: []float64{float64(height), float64(width)}, Integers: true}), c.Lists...)
}

// putInt32 writes an array of integers of 4 bytes.
func putInt32[T int | float64](z *npz.Writer, name string, values ...T) {
	z.Array(name, "<i4", []int{len(values)}, func(w *bufio.Writer) {
		for _, v := range values {
			w.Write(binary.LittleEndian.AppendUint32(w.AvailableBuffer(), uint32(v)))
		}
	})
}

// writeNumPy writes a .npz file, uncompressed as by numpy.savez.
func writeNumPy(w *bufio.Writer, c *Content) {
	z := npz.NewWriter(w)
	n, m := c.Vectors.Dims()
	switch x := c.Vectors.(type) {
	case *sparse.CSR:
		failIf(n >= math.MaxInt32 || m > math.MaxInt32 || x.NNZ() > math.MaxInt32, "the %d×%d matrix of %d values is too large to write", n, m, x.NNZ())
		z.List("data", x.Values)
		putInt32(z, "indices", x.Columns...)
		putInt32(z, "indptr", x.RowStart...)
		z.Array("format", "|S3", nil, func(w *bufio.Writer) { w.WriteString("csr") })
		putInt32(z, "shape", n, m)
	case *Bytes:
		z.Array("fea", "|u1", []int{n, m}, func(w *bufio.Writer) { w.Write(x.data) })
	default:
		if row := rowsOf(x); c.Single {
			z.Singles("fea", []int{n, m}, row)
		} else {
			z.Floats("fea", []int{n, m}, row)
		}
	}
	for _, l := range c.lists(c.Height, c.Width) {
		switch {
		case l.Words != nil:
			z.Words(l.Name, l.Words)
		case l.Integers:
			putInt32(z, l.Name, l.Numbers...)
		default:
			z.List(l.Name, l.Numbers)
		}
	}
	guard.Check(z.Close())
}

// writeTable writes a .csv file. A number has the fewest digits that identify it.
func writeTable(w *bufio.Writer, c *Content) {
	for _, name := range slices.Concat(c.Names, c.Classes) {
		failIf(name != strings.TrimSpace(name) || strings.Contains(name, "\r\n"),
			"the name %q, which has a carriage return or white space at an end, cannot be written to .csv unchanged; write .npz", name)
	}
	_, m := c.Vectors.Dims()
	failIf(m+2 > mostVectorColumns, "%d columns exceed the limit of %d for .csv; write .npz", m+2, mostVectorColumns)
	features := c.Features
	if features == nil {
		features = []Columns{{Name: "x", Count: m}}
	}
	record := []string{nameColumn, "class"}
	for _, f := range features {
		for j := range f.Count {
			record = append(record, f.Name+strconv.Itoa(j+1))
		}
	}
	out, row := csv.NewWriter(w), rowsOf(c.Vectors)
	err := out.Write(record)
	for i := 0; i < len(c.Labels) && err == nil; i++ {
		record = append(record[:0], spreadsheet.Cell(c.Names[i]), "")
		if l := c.Labels[i]; l >= 0 {
			record[1] = spreadsheet.Cell(c.Classes[l])
		}
		for _, v := range row(i) {
			record = append(record, strconv.FormatFloat(v, 'g', -1, 64))
		}
		err = out.Write(record)
	}
	out.Flush()
	guard.Check(cmp.Or(err, out.Error()))
}

// writeMATLAB writes a .mat file, uncompressed as by MATLAB with -v6.
func writeMATLAB(w *bufio.Writer, c *Content) {
	for _, name := range slices.Concat(c.Names, c.Classes) {
		failIf(strings.ContainsFunc(name, func(r rune) bool { return r > 0xffff }), "the name %q has characters beyond U+FFFF, which SciPy cannot read from .mat; write .npz", name)
	}
	height, width := c.Height, c.Width
	if _, ok := c.Vectors.(*sparse.CSR); ok {
		height, width = 0, 0
	}
	// A text, an offset that is not used, the version, and letters that give the byte order.
	fmt.Fprintf(w, "%-116s%s\x00\x01IM", "MATLAB 5.0 MAT-file, written by partwise", strings.Repeat("\x00", 8))
	c.vectorsArray().write(w)
	for _, l := range c.lists(height, width) {
		l.array().write(w)
	}
}

type matArray struct {
	name       string
	class      int
	nonzero    int // for a sparse matrix
	rows, cols int
	parts      []byte // the parts after the name
	typ        int    // unless 0, put writes the last part, with this type and size in bytes
	bytes      int64
	put        func(*bufio.Writer)
}

// write writes the variable.
func (a *matArray) write(w *bufio.Writer) {
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
	// MATLAB limits the size of a variable further than the format does.
	failIf(size > math.MaxInt32, "variable %s takes %d bytes, above the 2 GB limit of .mat; write .npz", a.name, size)
	number.Write(w, []int32{miMATRIX, int32(size)})
	w.Write(head)
	if a.put != nil {
		number.Write(w, []int32{int32(a.typ), int32(a.bytes)})
		a.put(w)
		w.Write(make([]byte, -a.bytes&7))
	}
}

// appendPart appends a part with these numbers. A part of up to 4 bytes shares 8 bytes with its tag.
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

// array returns the variable of a list: a column of numbers, or of cells with a word each. A size is a row. Text beyond
// ASCII is written in 16 bits a character, because MATLAB loads no file with multi-byte UTF-8.
func (l List) array() *matArray {
	if l.Words == nil {
		a := &matArray{name: l.Name, class: mxDOUBLE, rows: len(l.Numbers), cols: 1, parts: appendPart(nil, miDOUBLE, l.Numbers)}
		if l.Name == sizeVariable {
			a.rows, a.cols = 1, len(l.Numbers)
		}
		return a
	}
	a := &matArray{name: l.Name, class: mxCELL, rows: len(l.Words), cols: 1}
	for _, word := range l.Words {
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

// vectorsArray returns the variable of the vectors.
func (c *Content) vectorsArray() *matArray {
	n, m := c.Vectors.Dims()
	a := &matArray{name: "fea", class: mxDOUBLE, rows: n, cols: m}
	switch x := c.Vectors.(type) {
	case *sparse.CSR:
		rows, starts, values := compressedColumns(x)
		a.class, a.nonzero = mxSPARSE, max(1, len(values)) // MATLAB stores at least one
		a.parts = appendPart(appendPart(nil, miINT32, rows), miINT32, starts)
		a.typ, a.bytes, a.put = miDOUBLE, 8*int64(len(values)), func(w *bufio.Writer) { number.Write(w, values) }
	case *Bytes:
		a.class, a.typ, a.bytes = mxUINT8, miUINT8, int64(n)*int64(m)
		a.put = func(w *bufio.Writer) { putColumns(w, c, func(i, j int) uint8 { return x.data[i*m+j] }) }
	default:
		a.typ, a.bytes = miDOUBLE, 8*int64(n)*int64(m)
		a.put = func(w *bufio.Writer) { putColumns(w, c, x.At) }
	}
	return a
}

// putColumns writes the vectors in MATLAB's column-major order, with images transposed too.
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
		if number.Write(w, column) != nil {
			return
		}
	}
}

// compressedColumns returns the non-zero values by column, the row of each, and the starts of the columns.
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
