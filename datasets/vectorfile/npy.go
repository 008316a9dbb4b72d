package vectorfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/zipfile"

	"gonum.org/v1/gonum/mat"

	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// NPY reads a set of vectors from a NumPy file of an n×m array or of n images,
// n×h×w, of whole or floating-point numbers of up to 64 bits, in C or Fortran
// order. Unsigned bytes and booleans give a *Bytes, others a *mat.Dense. The
// labels come from the NumPy file that opt.Labels names, if it names one.
func NPY(path string, opt Options) (set *Content, err error) {
	room := opt.room()
	vars := make([]variable, 1, 2)
	read := readNPY
	if opt.OnDisk {
		read = storedNPY
	}
	if vars[0], err = read(path, "X", room); err != nil {
		return nil, err
	}
	stored, onDisk := vars[0].Value.(*Stored)
	defer func() {
		if onDisk && err != nil {
			stored.Close()
		}
	}()
	if opt.Labels != "" && opt.Labels != "-" {
		var y variable
		if y, err = readNPY(opt.Labels, "y", room); err != nil {
			return nil, err
		}
		vars = append(vars, y)
	}
	set, err = numpySet(path, vars, Options{Height: opt.Height, Width: opt.Width}, room)
	return set, err
}

// NPZ reads a set of vectors from arrays (see NPY) in a NumPy archive: the
// vectors from the first of "X", "fea", "data", "features" and "arr_0" that
// there is, and labels, whole numbers or words, from the first of "y", "gnd",
// "labels", "target" and "arr_1", or both from those that opt names. The matrix
// in compressed rows that scipy.sparse.save_npz writes is one array, "data".
// What Write puts beside the two is read as well.
func NPZ(path string, opt Options) (*Content, error) {
	room := opt.room()
	vars, err := readNPZ(path, room)
	if err != nil {
		return nil, err
	}
	return numpySet(path, vars, opt, room)
}

func numpySet(path string, vars []variable, opt Options, room *room) (*Content, error) {
	features := []string{"X", "fea", "data", "features", "embeddings", "arr_0"}
	if opt.Features != "" {
		features = []string{opt.Features}
	}
	if x := variableNamed(vars, features); x != nil && len(x.Dims) == 3 {
		opt.Height, opt.Width = x.Dims[1], x.Dims[2]
	} else if opt.Height == 0 && opt.Width == 0 {
		opt.Height, opt.Width, _ = imageSize(vars)
	}
	return arraySet(path, vars, features, []string{"y", "gnd", "labels", "target", "arr_1"}, opt, room)
}

func readNPY(path, name string, room *room) (variable, error) {
	f, err := os.Open(path)
	if err != nil {
		return variable{}, err
	}
	defer f.Close()
	v, err := parseNPY(number.Buffered(room.reader(f), zipfile.SizeOf(f)), name, zipfile.SizeOf(f), room)
	if err != nil {
		return variable{}, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// storedNPY is readNPY of an array of numbers that stay in the file.
func storedNPY(path, name string, _ *room) (v variable, err error) {
	f, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer func() {
		if err != nil {
			f.Close()
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	r := number.Buffered(f, zipfile.SizeOf(f))
	h, err := npz.ReadHeader(r)
	if err != nil {
		return v, err
	}
	v = variable{Name: name, Class: h.Type, Dims: h.Shape}
	t, ok := h.Item()
	if !ok || t.Kind == number.None || len(h.Shape) < 1 || len(h.Shape) > 3 || h.Fortran && len(h.Shape) > 1 {
		return v, fmt.Errorf("array %s is no array of numbers in C order, whose rows could be read a few at a time (numpy.ascontiguousarray makes one)", &v)
	}
	if _, err := h.Items(t.Size); err != nil {
		return v, err
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return v, err
	}
	m := 1
	for _, d := range h.Shape[1:] {
		m *= d
	}
	v.Value, err = storedOf(path, f, nil, at-int64(r.Buffered()), h.Shape[0], m, t.Kind, t.Order)
	return v, err
}

func readNPZ(path string, room *room) ([]variable, error) {
	return readArrays(path, room, parseNPZ)
}

func parseNPZ(r io.ReaderAt, size int64, room *room) ([]variable, error) {
	archive, err := npz.Open(r, size)
	if err != nil {
		return nil, err
	}
	vars := variables{room: room}
	for _, entry := range archive.Entries {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok {
			continue
		}
		v, err := parseEntry(entry, name, room)
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
		if err := vars.add(v); err != nil {
			return nil, err
		}
	}
	return joinSparse(vars.all, room)
}

func parseEntry(entry *npz.Entry, name string, room *room) (variable, error) {
	content, err := entry.Open()
	if err != nil {
		return variable{}, err
	}
	defer content.Close()
	return parseNPY(number.Buffered(room.reader(content), entry.Size), name, entry.Known(), room)
}

// joinSparse puts the matrix, called "data", in the place of the arrays that
// scipy.sparse.save_npz writes one as, if these are among vars.
func joinSparse(vars []variable, room *room) ([]variable, error) {
	find := func(name string) *variable {
		i := slices.IndexFunc(vars, func(v variable) bool { return v.Name == name })
		if i < 0 {
			return &variable{Name: name}
		}
		return &vars[i]
	}
	format, shape, data := find("format"), find("shape"), find("data")
	if len(format.Dims) != 0 || len(format.Text) != 1 || shape.len() != 2 || len(data.Dims) == 0 {
		return vars, nil
	}
	if format.Text[0] != "csr" {
		return nil, fmt.Errorf("a sparse matrix in the form %q: only csr is read (in SciPy tocsr() before save_npz)", format.Text[0])
	}
	starts, columns := find("indptr"), find("indices")
	if err := room.numbers(int64(starts.len())+int64(columns.len())+int64(data.len()), "sparse matrix"); err != nil {
		return nil, err
	}
	x, err := readCSR(shape, starts, columns, data)
	if err != nil {
		return nil, fmt.Errorf("sparse matrix: %w", err)
	}
	parts := []string{"format", "shape", "data", "indptr", "indices"}
	vars = slices.DeleteFunc(vars, func(v variable) bool { return slices.Contains(parts, v.Name) })
	n, m := x.Dims()
	return append(vars, variable{Name: "data", Class: "sparse", Dims: []int{n, m}, Value: x}), nil
}

// readCSR returns the matrix whose compressed rows are in these arrays.
func readCSR(shape, starts, columns, values *variable) (*sparse.CSR, error) {
	size, err := shape.indices()
	if err != nil {
		return nil, err
	}
	rowStart, err := starts.indices()
	if err != nil {
		return nil, err
	}
	column, err := columns.indices()
	if err != nil {
		return nil, err
	}
	if len(values.Dims) != 1 || values.Value == nil && values.Dims[0] > 0 {
		return nil, fmt.Errorf("array %s holds no list of numbers", values)
	}
	value := make([]float64, values.Dims[0])
	for i := range value {
		value[i] = values.at(i)
	}
	for i, start := range rowStart {
		if start < 0 || start > len(value) {
			return nil, fmt.Errorf("row %d starts at value %d of %d", i, start, len(value))
		}
	}
	// Nothing in the file backs the number of columns.
	if size[1] > len(value)+1<<20 {
		return nil, fmt.Errorf("%d×%d matrix with only %d values", size[0], size[1], len(value))
	}
	x, err := sparse.New(size[0], size[1], rowStart, column, value)
	if err != nil {
		return nil, fmt.Errorf("%w (in SciPy sum_duplicates() puts rows in order)", err)
	}
	return x, nil
}

// indices returns the whole numbers of a list.
func (v *variable) indices() ([]int, error) {
	if len(v.Dims) != 1 || v.Value == nil && v.Dims[0] > 0 {
		return nil, fmt.Errorf("array %s holds no list of numbers", v)
	}
	out := make([]int, v.Dims[0])
	for i := range out {
		x := v.at(i)
		if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
			return nil, fmt.Errorf("array %s holds %v", v, x)
		}
		out[i] = int(x)
	}
	return out, nil
}

// parseNPY reads an array, of which known bytes are known to be there.
func parseNPY(r *bufio.Reader, name string, known int64, room *room) (variable, error) {
	v := variable{Name: name}
	h, err := npz.ReadHeader(r)
	if err != nil {
		return v, err
	}
	v.Class, v.Dims = h.Type, h.Shape
	t, ok := h.Item()
	if !ok || len(v.Dims) > 3 || t.Kind != number.None && len(v.Dims) == 0 {
		return v, nil
	}
	items, err := h.Items(t.Size)
	if items == 0 || err != nil {
		return v, err
	}
	size := items * t.Size
	raw, err := room.bytes(r, size, known, "the array "+v.String())
	var tooLarge *limits.LimitError
	if errors.As(err, &tooLarge) {
		return v, err
	}
	if err != nil {
		return v, fmt.Errorf("shape %v of %s: %w", v.Dims, v.Class, err)
	}
	if err := h.End(r); err != nil {
		return v, err
	}
	if t.Kind != number.None {
		v.Value, err = npyMatrix(t, raw, v.Dims, h.Fortran, room)
		return v, err
	}
	if len(v.Dims) > 1 {
		return v, nil
	}
	// The string and its place in the list, which doubles as it grows.
	need := size + 48*items
	if t.Unicode {
		need += size
	}
	if err := room.take(need, "the words of "+v.String()); err != nil {
		return v, err
	}
	for text := range slices.Chunk(raw, int(t.Size)) {
		word := string(text)
		if t.Unicode {
			var runes []rune
			for char := range slices.Chunk(text, 4) {
				runes = append(runes, rune(t.Order.Uint32(char)))
			}
			word = string(runes)
		}
		v.Text = append(v.Text, strings.TrimRight(word, "\x00"))
	}
	return v, nil
}

// npyMatrix returns the array of the given dimensions as a matrix with a row
// for each index along the first. A *Bytes in C order shares raw.
func npyMatrix(t npz.Item, raw []byte, dims []int, fortran bool, room *room) (mat.Matrix, error) {
	n, h, w := dims[0], 1, 1
	if len(dims) > 1 {
		h = dims[1]
	}
	if len(dims) > 2 {
		w = dims[2]
	}
	// place is where the value of row i and column j·w + k stands.
	place := func(i, j, k int) int { return (i*h+j)*w + k }
	if fortran {
		place = func(i, j, k int) int { return (k*h+j)*n + i }
	}
	if t.Kind == number.Uint8 && !fortran {
		return NewBytes(n, h*w, raw), nil
	}
	size := int64(n) * int64(h) * int64(w)
	if t.Kind != number.Uint8 {
		size *= 8
	}
	if err := room.take(size, fmt.Sprintf("%d×%d numbers", n, h*w)); err != nil {
		return nil, err
	}
	defer room.give(int64(len(raw)))
	if t.Kind == number.Uint8 {
		data := make([]uint8, 0, n*h*w)
		for i := range n {
			if err := room.ended(); err != nil {
				return nil, err
			}
			for j := range h {
				for k := range w {
					data = append(data, raw[place(i, j, k)])
				}
			}
		}
		return NewBytes(n, h*w, data), nil
	}
	at := t.Kind.In(raw, t.Order)
	data := make([]float64, 0, n*h*w)
	for i := range n {
		if err := room.ended(); err != nil {
			return nil, err
		}
		for j := range h {
			for k := range w {
				data = append(data, at(place(i, j, k)))
			}
		}
	}
	return mat.NewDense(n, h*w, data), nil
}
