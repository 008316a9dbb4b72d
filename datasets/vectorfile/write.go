package vectorfile

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// writers are the forms in which vectors are written, by the ending of the file's name.
var writers = map[string]func(*bufio.Writer, *Content) error{
	".npz": writeNumPy,
	".mat": writeMATLAB,
	".csv": writeTable,
}

// CanWrite returns an error if Write would write no set to path: its ending is not known or its folder not
// there.
func CanWrite(path string) error {
	if writers[strings.ToLower(filepath.Ext(path))] == nil {
		return fmt.Errorf("%s: vectors are written to files whose name ends in .npz, .mat or .csv", path)
	}
	dir, err := os.Stat(filepath.Dir(path))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case !dir.IsDir():
		return fmt.Errorf("%s: %s is no folder", path, filepath.Dir(path))
	}
	return nil
}

// Write writes a set of vectors to a file of the form that the ending of its name says: .npz for NumPy, .mat
// for MATLAB or .csv; docs/data.md lists what is in it. Open reads the same vectors, labels, and names of
// samples and classes from it, but the set is called as the file then, and sparse vectors are dense in a .csv,
// and no images in a .mat.
//
// The file appears when it is whole: where Write fails, or ctx ends it, what was there before stays. A value
// that is not finite and a name that the form cannot hold are errors: one with white space at its ends in a
// .csv, with characters beyond U+FFFF in a .mat, or that is no text in UTF-8.
func Write(ctx context.Context, path string, s *Content) error {
	return s.write(ctx, path, atomicfile.WriteFunc)
}

// WriteNew is Write for a file that must not be there, which is an fs.ErrExist; that file stays as it is.
func WriteNew(ctx context.Context, path string, s *Content) error {
	return s.write(ctx, path, atomicfile.CreateFunc)
}

func (c *Content) write(ctx context.Context, path string, file func(string, func(io.Writer) error) error) error {
	if err := CanWrite(path); err != nil {
		return err
	}
	err := c.checkVectors()
	if err == nil {
		err = file(path, func(w io.Writer) error {
			buffered := bufio.NewWriterSize(atomicfile.UntilDone(ctx, w), 1<<16)
			if err := writers[strings.ToLower(filepath.Ext(path))](buffered, c); err != nil {
				return err
			}
			return buffered.Flush()
		})
	}
	if named := (*fs.PathError)(nil); err != nil && !errors.As(err, &named) {
		err = fmt.Errorf("writing %s: %w", path, err)
	}
	return err
}

// checkVectors checks that c is a set of vectors that a reader would take.
func (c *Content) checkVectors() error {
	if c.Vectors == nil {
		return errors.New("a set of image files has no vectors")
	}
	n, m := c.Vectors.Dims()
	switch {
	case n == 0 || m == 0:
		return fmt.Errorf("%d×%d matrix holds no samples", n, m)
	case len(c.Names) != n || len(c.Labels) != n:
		return fmt.Errorf("%d vectors with %d names and %d labels", n, len(c.Names), len(c.Labels))
	case (c.Height != 0 || c.Width != 0) && (c.Height < 0 || c.Height*c.Width != m):
		return fmt.Errorf("vectors of %d values are no images of height %d and width %d", m, c.Height, c.Width)
	}
	if columns := 0; c.Features != nil {
		for _, f := range c.Features {
			columns += f.Count
		}
		if columns != m {
			return fmt.Errorf("features of %d columns, and vectors of %d values", columns, m)
		}
	}
	for i, l := range c.Labels {
		if l < -1 || l >= len(c.Classes) {
			return fmt.Errorf("%s: label %d, and there are %d classes", c.Names[i], l, len(c.Classes))
		}
	}
	for _, name := range slices.Concat(c.Names, c.Classes) {
		if strings.ContainsRune(name, 0) || !utf8.ValidString(name) {
			return fmt.Errorf("the name %q is not text", name)
		}
	}
	if !allDiffer(c.Names) || !allDiffer(c.Classes) {
		return errors.New("a name of a sample or class is empty or there twice")
	}
	return checkFinite(c.Vectors)
}

// list is a list of words or numbers that Write puts beside the vectors.
type list struct {
	name    string
	words   []string
	numbers []float64
	whole   bool // the numbers are whole
}

// lists returns what Write puts beside the vectors, which hold images of a size or none.
func (c *Content) lists(height, width int) []list {
	labels := list{name: "gnd", whole: !slices.Contains(c.Labels, -1)}
	for _, l := range c.Labels {
		number := float64(l + 1)
		if l < 0 {
			number = math.NaN()
		}
		labels.numbers = append(labels.numbers, number)
	}
	all := []list{labels, {name: namesVariable, words: c.Names}}
	if len(c.Classes) > 0 {
		all = append(all, list{name: classesVariable, words: c.Classes})
	}
	if len(c.Features) > 0 {
		names, counts, scales := list{name: featuresVariable}, list{name: columnsVariable, whole: true}, list{name: scalesVariable}
		for _, f := range c.Features {
			names.words, counts.numbers = append(names.words, f.Name), append(counts.numbers, float64(f.Count))
			scales.numbers = append(scales.numbers, f.Scale)
		}
		all = append(all, names, counts, scales)
	}
	return append(all, list{name: sizeVariable, numbers: []float64{float64(height), float64(width)}, whole: true})
}

// putList writes numbers one after the other, the lowest byte first, up to the first error.
func putList[T any](w *bufio.Writer, values []T) error {
	for some := range slices.Chunk(values, 8192) {
		if err := binary.Write(w, binary.LittleEndian, some); err != nil {
			return err
		}
	}
	return nil
}

// putInt32 writes an array of whole numbers in 4 bytes each.
func putInt32[T int | float64](z *npz.Writer, name string, values ...T) {
	z.Array(name, "<i4", []int{len(values)}, func(w *bufio.Writer) {
		for _, v := range values {
			w.Write(binary.LittleEndian.AppendUint32(w.AvailableBuffer(), uint32(v)))
		}
	})
}

// writeNumPy writes a set as Write says for NumPy. Nothing in it is compressed: numpy.savez does not either.
func writeNumPy(w *bufio.Writer, c *Content) error {
	z := npz.NewWriter(w)
	n, m := c.Vectors.Dims()
	switch x := c.Vectors.(type) {
	case *sparse.CSR:
		if n >= math.MaxInt32 || m > math.MaxInt32 || x.NNZ() > math.MaxInt32 {
			return fmt.Errorf("%d×%d matrix of %d values is more than can be written", n, m, x.NNZ())
		}
		z.List("data", x.Values)
		putInt32(z, "indices", x.Columns...)
		putInt32(z, "indptr", x.RowStart...)
		z.Array("format", "|S3", nil, func(w *bufio.Writer) { w.WriteString("csr") })
		putInt32(z, "shape", n, m)
	case *Bytes:
		z.Array("fea", "|u1", []int{n, m}, func(w *bufio.Writer) { w.Write(x.data) })
	default:
		z.Floats("fea", []int{n, m}, rowsOf(x))
	}
	for _, l := range c.lists(c.Height, c.Width) {
		switch {
		case l.words != nil:
			z.Words(l.name, l.words)
		case l.whole:
			putInt32(z, l.name, l.numbers...)
		default:
			z.List(l.name, l.numbers)
		}
	}
	return z.Close()
}

// writeTable writes a set as Write says for CSV. A number has the fewest digits that tell it from all others.
func writeTable(w *bufio.Writer, c *Content) error {
	for _, name := range slices.Concat(c.Names, c.Classes) {
		if name != strings.TrimSpace(name) || strings.Contains(name, "\r\n") {
			return fmt.Errorf("the name %q, with white space at an end or a carriage return, would not be read as it is from a .csv", name)
		}
	}
	_, m := c.Vectors.Dims()
	if m+2 > mostVectorColumns {
		return fmt.Errorf("%d columns, and a .csv of more than %d would not be read", m+2, mostVectorColumns)
	}
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
	out := csv.NewWriter(w)
	err := out.Write(record)
	row := rowsOf(c.Vectors)
	for i, l := range c.Labels {
		if err != nil {
			return err
		}
		record = append(record[:0], spreadsheet.Cell(c.Names[i]), "")
		if l >= 0 {
			record[1] = spreadsheet.Cell(c.Classes[l])
		}
		for _, v := range row(i) {
			record = append(record, strconv.FormatFloat(v, 'g', -1, 64))
		}
		err = out.Write(record)
	}
	out.Flush()
	return cmp.Or(err, out.Error())
}
