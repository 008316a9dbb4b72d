package vectorfile

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// readNPY reads a NumPy file of n×m or n×h×w numbers, and the file of labels in the options.
func readNPY(in *input) *Content {
	vars := variables{npyArray(in, "X")}
	if labels := in.opt.Labels; labels != "" && labels != "-" {
		vars = append(vars, guard.Must(readFile(labels, Options{}, in.budget, func(in *input) Variable { return npyArray(in, "y") })))
	}
	in.opt.Features, in.opt.Labels = "", ""
	return vars.numpy(in)
}

// readNPZ reads a NumPy archive.
func readNPZ(in *input) *Content { return npzVariables(in).numpy(in) }

// Variables reads the variables of a NumPy archive, or of a MATLAB file whose name ends in .mat.
func Variables(ctx context.Context, path string) ([]Variable, error) {
	read := npzVariables
	if strings.EqualFold(filepath.Ext(path), ".mat") {
		read = matVariables
	}
	return readFile(path, Options{}, newBudget(ctx, Options{}), read)
}

// npzVariables reads the arrays of a NumPy archive. scipy.sparse.save_npz writes several for one matrix.
func npzVariables(in *input) (vars variables) {
	for _, entry := range guard.Must(npz.Open(in, in.size)).Entries {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok {
			continue
		}
		var v Variable
		guard.Within(func() {
			content := guard.Must(entry.Open())
			defer content.Close()
			r := number.Buffered(&stoppable{content, in.ctx}, entry.Size())
			if in.opt.OnDisk && in.stored == nil && entry.Method == zip.Store && slices.Contains(in.vectorNames(), name) {
				v = in.arrayOnDisk(r, name, guard.Must(entry.DataOffset()), entry.Size())
			} else {
				v = readArray(in, r, entry.Most(), name)
			}
		}, "array %q", name)
		vars.add(v, in)
	}
	vars.joinSparse(in)
	return vars
}

// numpy returns the content of arrays by their usual names in Python.
func (vs variables) numpy(in *input) *Content {
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
func npyArray(in *input, name string) Variable {
	r := number.Buffered(in.section(0, in.size), in.size)
	if !in.opt.OnDisk {
		return readArray(in, r, in.size, name)
	}
	return in.arrayOnDisk(r, name, 0, in.size)
}

// arrayOnDisk reads the header of an array of size bytes from start on, and leaves its numbers in the file.
func (in *input) arrayOnDisk(r *bufio.Reader, name string, start, size int64) Variable {
	h := guard.Must(npz.ReadHeader(r))
	v := Variable{Name: name, Class: h.Type, Dims: h.Shape}
	t, ok := h.Item()
	failIf(!ok || t.Kind == number.None || len(h.Shape) < 1 || len(h.Shape) > 3 || h.Fortran && len(h.Shape) > 1,
		"array %s is not a numeric array in C order, which reading in batches needs (use numpy.ascontiguousarray)", &v)
	failIf(guard.Must(h.Items(t.Size)) == 0, "array %s is not a matrix of numbers", &v)
	v.Value = in.storeOnDisk(nil, start+h.Length, start+size, array{kind: t.Kind, order: t.Order, dims: h.Shape})
	return v
}

// readArray reads an array of numbers or words from up to most bytes. Other arrays get no value.
func readArray(in *input, r *bufio.Reader, most int64, name string) Variable {
	h := guard.Must(npz.ReadHeader(r))
	v := Variable{Name: name, Class: h.Type, Dims: h.Shape}
	t, ok := h.Item()
	if isText := t.Kind == number.None; !ok || len(v.Dims) > 3 || isText && len(v.Dims) > 1 || !isText && len(v.Dims) == 0 {
		return v
	}
	items := guard.Must(h.Items(t.Size))
	if items == 0 {
		return v
	}
	guard.Within(func() {
		if most -= h.Length; t.Kind == number.None {
			v.Text = readTexts(in, r, items, most, t)
		} else {
			a := array{t.Kind, t.Order, v.Dims, h.Fortran}
			v.Value = a.matrix(r, most, in, t.Kind == number.Uint8)
		}
		guard.Check(number.End(r))
	}, "shape %v of %s", v.Dims, v.Class)
	return v
}

func readTexts(in *input, r *bufio.Reader, items, most int64, t npz.Item) (texts []string) {
	size := items * t.Size
	failIf(size > most, "%w", truncatedError(size, most))
	// The bytes, their runes, the strings and their entries in the list.
	in.reserve(4*size+48*items, "a list of strings")
	for text := range slices.Chunk(guard.Must(number.ReadBytes(r, size, 0)), int(t.Size)) {
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
	return texts
}

// joinSparse replaces the arrays of scipy.sparse.save_npz by their matrix, called "data".
func (vs *variables) joinSparse(in *input) {
	names := []string{"format", "shape", "data", "indptr", "indices"}
	part := func(name string) *Variable { return cmp.Or(vs.find(name), &Variable{Name: name}) }
	format, shape, data := part("format"), part("shape"), part("data")
	if len(format.Dims) != 0 || len(format.Text) != 1 || shape.len() != 2 || len(data.Dims) == 0 {
		return
	}
	failIf(format.Text[0] != "csr", "sparse format %q is not supported; convert to csr (in SciPy, tocsr() before save_npz)", format.Text[0])
	var x *sparse.CSR
	guard.Within(func() { x = compressedRows(in, shape, part("indptr"), part("indices"), data) }, "sparse matrix")
	n, m := x.Dims()
	*vs = slices.DeleteFunc(*vs, func(v Variable) bool { return slices.Contains(names, v.Name) })
	*vs = append(*vs, Variable{Name: "data", Class: "sparse", Dims: []int{n, m}, Value: x})
}

// compressedRows returns the matrix in compressed rows of these lists.
func compressedRows(in *input, shape, starts, columns, values *Variable) *sparse.CSR {
	in.reserve(8*int64(starts.len()+columns.len()+values.len()), "its values")
	size, rows, places := shape.indices(), starts.indices(), columns.indices()
	values.checkList()
	value := make([]float64, values.Dims[0])
	for i := range value {
		value[i] = values.number(i)
	}
	// The size of the file does not limit the number of columns.
	n, m := size[0], size[1]
	failIf(m > len(value)+1<<20, "%d×%d matrix with only %d values", n, m, len(value))
	x, err := sparse.New(n, m, rows, places, value)
	failIf(err != nil, "%w (in SciPy, sum_duplicates() sorts rows)", err)
	return x
}

// checkList fails unless v is a list of numbers, which may be empty.
func (v *Variable) checkList() {
	failIf(len(v.Dims) != 1 || v.Value == nil && v.Dims[0] > 0, "array %s is not a list of numbers", v)
}

func (v *Variable) indices() []int {
	v.checkList()
	out := make([]int, v.Dims[0])
	for i := range out {
		x := v.number(i)
		if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
			guard.Fail("array %s is %v", v, x)
		}
		out[i] = int(x)
	}
	return out
}
