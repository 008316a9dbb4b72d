package vectorfile

import (
	"bufio"
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

// CanWrite returns an error if Write would not write to path whatever the set:
// if its ending is not known or its folder is not there.
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

// Write writes a set of vectors to a file of the form that the ending of its name says. Open reads the same
// vectors, labels, and names of samples and classes from it; but the set is called as the file then.
//
//   - .npz for NumPy: the array fea holds the n×m vectors, gnd the n labels, which
//     number the classes from 1 and are NaN where the class is not known, names
//     and classes the names, and imagesize the height and width of the images
//     that the vectors hold, 0 and 0 where they hold none. Where several features
//     stand side by side, features holds their names, columns how many columns each
//     has, and scales by what its values were multiplied. Sparse vectors stand
//     in place of fea as scipy.sparse.save_npz writes them, for
//     scipy.sparse.load_npz.
//   - .mat for MATLAB, version 5 of the format: variables of the same names.
//     Images stand column by column, as usual there; sparse ones are not known
//     for images when they are read.
//   - .csv: a line of headings, then for each sample its name, its class and the
//     m values, under the feature's name and a number, or x and a number. A name or class that a spreadsheet would take for a formula, since
//     it begins with =, +, - or @ and is no number, has an apostrophe before it,
//     which the readers take away. All numbers are read as the same ones, but as a dense matrix,
//     and classes in natural order.
//
// The file appears when it is whole: where Write fails, or ctx ends it, what was there before stays. A
// value that is not finite and a name that the form cannot hold are errors: one with white space at its
// ends in a .csv, with characters beyond U+FFFF in a .mat, or that is no text in UTF-8.
func Write(ctx context.Context, path string, s *Content) error {
	return s.write(ctx, path, atomicfile.WriteFunc)
}

// WriteNew is Write for a file that must not be there: if it is, or appears while it is
// written, the error holds fs.ErrExist and the file stays as it is.
func WriteNew(ctx context.Context, path string, s *Content) error {
	return s.write(ctx, path, atomicfile.CreateFunc)
}

// write writes the set by one of the functions of atomicfile.
func (s *Content) write(ctx context.Context, path string, file func(string, func(io.Writer) error) error) error {
	if err := CanWrite(path); err != nil {
		return err
	}
	if err := s.checkVectors(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	write := writers[strings.ToLower(filepath.Ext(path))]
	err := file(path, func(w io.Writer) error {
		buffered := bufio.NewWriterSize(atomicfile.UntilDone(ctx, w), 1<<16)
		if err := write(buffered, s); err != nil {
			return err
		}
		return buffered.Flush()
	})
	var named *fs.PathError
	if err != nil && !errors.As(err, &named) {
		err = fmt.Errorf("writing %s: %w", path, err)
	}
	return err
}

// checkVectors checks that s is a set of vectors that a reader would take.
func (s *Content) checkVectors() error {
	if s.Vectors == nil {
		return errors.New("a set of image files has no vectors")
	}
	n, m := s.Vectors.Dims()
	switch {
	case n == 0 || m == 0:
		return fmt.Errorf("%d×%d matrix holds no samples", n, m)
	case len(s.Names) != n || len(s.Labels) != n:
		return fmt.Errorf("%d vectors with %d names and %d labels", n, len(s.Names), len(s.Labels))
	case (s.Height != 0 || s.Width != 0) && (s.Height < 0 || s.Height*s.Width != m):
		return fmt.Errorf("vectors of %d values are no images of height %d and width %d", m, s.Height, s.Width)
	}
	if columns := 0; s.Features != nil {
		for _, f := range s.Features {
			columns += f.Count
		}
		if columns != m {
			return fmt.Errorf("features of %d columns, and vectors of %d values", columns, m)
		}
	}
	for i, l := range s.Labels {
		if l < -1 || l >= len(s.Classes) {
			return fmt.Errorf("%s: label %d, and there are %d classes", s.Names[i], l, len(s.Classes))
		}
	}
	for _, names := range [][]string{s.Names, s.Classes} {
		for _, name := range names {
			if strings.ContainsRune(name, 0) || !utf8.ValidString(name) {
				return fmt.Errorf("the name %q is not text", name)
			}
		}
		if len(names) > 0 && !allDiffer(names) {
			return errors.New("a name of a sample or class is empty or there twice")
		}
	}
	return checkFinite(s.Vectors)
}

// features returns the names of the features, how many columns each has, and its scale.
func (s *Content) features() (names []string, counts []int, scales []float64) {
	for _, f := range s.Features {
		names, counts, scales = append(names, f.Name), append(counts, f.Count), append(scales, f.Scale)
	}
	return names, counts, scales
}

// labelNumbers returns the classes' numbers from 1, NaN where the class is not known.
func (s *Content) labelNumbers() []float64 {
	numbers := make([]float64, len(s.Labels))
	for i, l := range s.Labels {
		numbers[i] = float64(l + 1)
		if l < 0 {
			numbers[i] = math.NaN()
		}
	}
	return numbers
}

// putList writes numbers one after the other, the lowest byte first, up to the first error.
func putList[T any](w *bufio.Writer, values []T) error {
	const chunk = 8192
	for some := range slices.Chunk(values, chunk) {
		if err := binary.Write(w, binary.LittleEndian, some); err != nil {
			return err
		}
	}
	return nil
}

// int32s returns whole numbers in 4 bytes each.
func int32s(values ...int) []int32 {
	out := make([]int32, len(values))
	for i, v := range values {
		out[i] = int32(v)
	}
	return out
}

// writeNumPy writes a set as Write says for NumPy. Nothing in it is compressed:
// numpy.savez does not either.
func writeNumPy(w *bufio.Writer, s *Content) error {
	z := npz.NewWriter(w)
	n, m := s.Vectors.Dims()
	switch x := s.Vectors.(type) {
	case *sparse.CSR:
		if n >= math.MaxInt32 || m > math.MaxInt32 || x.NNZ() > math.MaxInt32 {
			return fmt.Errorf("%d×%d matrix of %d values is more than can be written", n, m, x.NNZ())
		}
		putArray(z, "data", "<f8", x.Values)
		putArray(z, "indices", "<i4", int32s(x.Columns...))
		putArray(z, "indptr", "<i4", int32s(x.RowStart...))
		z.Array("format", "|S3", nil, func(w *bufio.Writer) { w.WriteString("csr") })
		putArray(z, "shape", "<i4", int32s(n, m))
	case *Bytes:
		z.Array("fea", "|u1", []int{n, m}, func(w *bufio.Writer) { w.Write(x.data) })
	default:
		z.Floats("fea", []int{n, m}, rowsOf(x))
	}
	if slices.Contains(s.Labels, -1) {
		putArray(z, "gnd", "<f8", s.labelNumbers())
	} else {
		numbers := int32s(s.Labels...)
		for i := range numbers {
			numbers[i]++
		}
		putArray(z, "gnd", "<i4", numbers)
	}
	z.Words(namesVariable, s.Names)
	if len(s.Classes) > 0 {
		z.Words(classesVariable, s.Classes)
	}
	if len(s.Features) > 0 {
		names, counts, scales := s.features()
		z.Words(featuresVariable, names)
		putArray(z, columnsVariable, "<i4", int32s(counts...))
		putArray(z, scalesVariable, "<f8", scales)
	}
	putArray(z, sizeVariable, "<i4", int32s(s.Height, s.Width))
	return z.Close()
}

// putArray writes an array of one dimension.
func putArray[T any](z *npz.Writer, name, kind string, values []T) {
	z.Array(name, kind, []int{len(values)}, func(w *bufio.Writer) { putList(w, values) })
}

// writeTable writes a set as Write says for CSV. A number has the fewest digits
// that tell it from all others.
func writeTable(w *bufio.Writer, s *Content) error {
	for _, names := range [][]string{s.Names, s.Classes} {
		for _, name := range names {
			if name != strings.TrimSpace(name) || strings.Contains(name, "\r\n") {
				return fmt.Errorf("the name %q, with white space at an end or a carriage return, would not be read as it is from a .csv", name)
			}
		}
	}
	_, m := s.Vectors.Dims()
	if m+2 > mostVectorColumns {
		return fmt.Errorf("%d columns, and a .csv of more than %d would not be read", m+2, mostVectorColumns)
	}
	record := []string{nameColumn, "class"}
	of := s.Features
	if of == nil {
		of = []Columns{{Name: "x", Count: m}}
	}
	for _, f := range of {
		for j := range f.Count {
			record = append(record, f.Name+strconv.Itoa(j+1))
		}
	}
	out := csv.NewWriter(w)
	if err := out.Write(record); err != nil {
		return err
	}
	row := rowsOf(s.Vectors)
	for i, l := range s.Labels {
		record = append(record[:0], spreadsheet.Cell(s.Names[i]), "")
		if l >= 0 {
			record[1] = spreadsheet.Cell(s.Classes[l])
		}
		for _, v := range row(i) {
			record = append(record, strconv.FormatFloat(v, 'g', -1, 64))
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
