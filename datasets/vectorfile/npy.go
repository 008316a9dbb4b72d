package vectorfile

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// readNPY reads a NumPy file of n×m or n×h×w numbers, and the file of labels in the options.
func readNPY(in *input) (*Content, error) {
	x, err := npyArray(in, "X")
	if err != nil {
		return nil, err
	}
	vars := variables{x}
	if labels := in.opt.Labels; labels != "" && labels != "-" {
		y, err := readFile(labels, Options{}, in.budget, func(in *input) (variable, error) { return npyArray(in, "y") })
		if err != nil {
			return nil, err
		}
		vars = append(vars, y)
	}
	in.opt.Features, in.opt.Labels = "", ""
	return vars.numpy(in)
}

// readNPZ reads a NumPy archive.
func readNPZ(in *input) (*Content, error) {
	vars, err := npzVariables(in)
	if err != nil {
		return nil, err
	}
	return vars.numpy(in)
}

// Variables reads the variables of a NumPy archive, or of a MATLAB file whose name ends in .mat.
func Variables(ctx context.Context, path string) ([]Variable, error) {
	read := npzVariables
	if strings.EqualFold(filepath.Ext(path), ".mat") {
		read = matVariables
	}
	return readFile(path, Options{}, newBudget(ctx, Options{}), read)
}

// npzVariables reads the arrays of a NumPy archive. scipy.sparse.save_npz writes several for one matrix.
func npzVariables(in *input) (vars variables, err error) {
	archive, err := npz.Open(in, in.size)
	if err != nil {
		return nil, err
	}
	for _, entry := range archive.Entries {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok {
			continue
		}
		content, err := entry.Open()
		var v variable
		if err == nil {
			r := number.Buffered(&stoppable{content, in.ctx}, entry.Size())
			if in.opt.OnDisk && in.stored == nil && entry.Method == zip.Store && slices.Contains(in.vectorNames(), name) {
				var start int64
				if start, err = entry.DataOffset(); err == nil {
					v, err = in.arrayOnDisk(r, name, start, entry.Size())
				}
			} else {
				v, err = readArray(in, r, entry.Most(), name)
			}
			content.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
		if err := vars.add(v, in); err != nil {
			return nil, err
		}
	}
	return vars, vars.joinSparse(in)
}

// numpy returns the content of arrays by their usual names in Python.
func (vs variables) numpy(in *input) (*Content, error) {
	features := in.vectorNames()
	if x := vs.find(features...); x != nil && len(x.Dims) == 3 {
		in.opt.Height, in.opt.Width = x.Dims[1], x.Dims[2]
	}
	return vs.content(in, features, []string{"y", "gnd", "labels", "target", "arr_1"})
}

// vectorNames are the usual names of the vectors in Python, or the one of the options.
func (in *input) vectorNames() []string {
	if in.opt.Features != "" {
		return []string{in.opt.Features}
	}
	return []string{"X", "fea", "data", "features", "embeddings", "arr_0"}
}

// npyArray reads a file's array, or with Options.OnDisk leaves its numbers in the file.
func npyArray(in *input, name string) (v variable, err error) {
	r := number.Buffered(in.section(0, in.size), in.size)
	if !in.opt.OnDisk {
		return readArray(in, r, in.size, name)
	}
	return in.arrayOnDisk(r, name, 0, in.size)
}

// arrayOnDisk reads the header of an array of size bytes from start on, and leaves its numbers in the file.
func (in *input) arrayOnDisk(r *bufio.Reader, name string, start, size int64) (v variable, err error) {
	h, err := npz.ReadHeader(r)
	if err != nil {
		return v, err
	}
	v = variable{Name: name, Class: h.Type, Dims: h.Shape}
	t, ok := h.Item()
	if !ok || t.Kind == number.None || len(h.Shape) < 1 || len(h.Shape) > 3 || h.Fortran && len(h.Shape) > 1 {
		return v, fmt.Errorf("array %s is not a numeric array in C order, which reading in batches needs (use numpy.ascontiguousarray)", &v)
	}
	if items, err := h.Items(t.Size); err != nil || items == 0 {
		return v, errors.Join(err, fmt.Errorf("array %s is not a matrix of numbers", &v))
	}
	v.Value, err = in.storeOnDisk(nil, start+h.Length, start+size, array{kind: t.Kind, order: t.Order, dims: h.Shape})
	return v, err
}

// readArray reads an array of numbers or words from up to most bytes. Other arrays get no value.
func readArray(in *input, r *bufio.Reader, most int64, name string) (variable, error) {
	v := variable{Name: name}
	h, err := npz.ReadHeader(r)
	if err != nil {
		return v, err
	}
	v.Class, v.Dims = h.Type, h.Shape
	t, ok := h.Item()
	if isText := t.Kind == number.None; !ok || len(v.Dims) > 3 || isText && len(v.Dims) > 1 || !isText && len(v.Dims) == 0 {
		return v, nil
	}
	items, err := h.Items(t.Size)
	if items == 0 || err != nil {
		return v, err
	}
	if most -= h.Length; t.Kind == number.None {
		v.Text, err = readTexts(in, r, items, most, t)
	} else {
		a := array{t.Kind, t.Order, v.Dims, h.Fortran}
		v.Value, err = a.matrix(r, most, in, t.Kind == number.Uint8)
	}
	if err == nil {
		err = number.End(r)
	}
	if err != nil {
		err = fmt.Errorf("shape %v of %s: %w", v.Dims, v.Class, err)
	}
	return v, err
}

func readTexts(in *input, r *bufio.Reader, items, most int64, t npz.Item) (texts []string, err error) {
	size := items * t.Size
	if size > most {
		return nil, truncatedError(size, most)
	}
	// The bytes, their runes, the strings and their entries in the list.
	if err := in.reserve(4*size+48*items, "a list of strings"); err != nil {
		return nil, err
	}
	raw, err := number.ReadBytes(r, size, 0)
	if err != nil {
		return nil, err
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
		texts = append(texts, strings.TrimRight(word, "\x00"))
	}
	return texts, nil
}

// joinSparse replaces the arrays of scipy.sparse.save_npz by their matrix, called "data".
func (vs *variables) joinSparse(in *input) error {
	names := []string{"format", "shape", "data", "indptr", "indices"}
	part := func(name string) *variable {
		if i := slices.IndexFunc(*vs, func(v variable) bool { return v.Name == name }); i >= 0 {
			return &(*vs)[i]
		}
		return &variable{Name: name}
	}
	format, shape, data := part("format"), part("shape"), part("data")
	if len(format.Dims) != 0 || len(format.Text) != 1 || shape.len() != 2 || len(data.Dims) == 0 {
		return nil
	}
	if format.Text[0] != "csr" {
		return fmt.Errorf("sparse format %q is not supported; convert to csr (in SciPy, tocsr() before save_npz)", format.Text[0])
	}
	x, err := compressedRows(in, shape, part("indptr"), part("indices"), data)
	if err != nil {
		return fmt.Errorf("sparse matrix: %w", err)
	}
	n, m := x.Dims()
	*vs = slices.DeleteFunc(*vs, func(v variable) bool { return slices.Contains(names, v.Name) })
	*vs = append(*vs, variable{Name: "data", Class: "sparse", Dims: []int{n, m}, Value: x})
	return nil
}

// compressedRows returns the matrix in compressed rows of these lists.
func compressedRows(in *input, shape, starts, columns, values *variable) (*sparse.CSR, error) {
	if err := in.reserve(8*int64(starts.len()+columns.len()+values.len()), "its values"); err != nil {
		return nil, err
	}
	var lists [3][]int
	for i, v := range []*variable{shape, starts, columns} {
		var err error
		if lists[i], err = v.indices(); err != nil {
			return nil, err
		}
	}
	if err := values.checkList(); err != nil {
		return nil, err
	}
	value := make([]float64, values.Dims[0])
	for i := range value {
		value[i] = values.number(i)
	}
	// The size of the file does not limit the number of columns.
	n, m := lists[0][0], lists[0][1]
	if m > len(value)+1<<20 {
		return nil, fmt.Errorf("%d×%d matrix with only %d values", n, m, len(value))
	}
	x, err := sparse.New(n, m, lists[1], lists[2], value)
	if err != nil {
		return nil, fmt.Errorf("%w (in SciPy, sum_duplicates() sorts rows)", err)
	}
	return x, nil
}

// checkList returns an error unless v is a list of numbers, which may be empty.
func (v *variable) checkList() error {
	if len(v.Dims) != 1 || v.Value == nil && v.Dims[0] > 0 {
		return fmt.Errorf("array %s is not a list of numbers", v)
	}
	return nil
}

func (v *variable) indices() ([]int, error) {
	if err := v.checkList(); err != nil {
		return nil, err
	}
	out := make([]int, v.Dims[0])
	for i := range out {
		x := v.number(i)
		if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
			return nil, fmt.Errorf("array %s is %v", v, x)
		}
		out[i] = int(x)
	}
	return out, nil
}
