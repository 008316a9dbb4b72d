package vectorfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"
)

// writeNPY returns a NumPy file as NumPy writes it: format version 1, with the header padded to a multiple of 64 bytes.
func writeNPY(descr string, fortran bool, shape string, data any) []byte {
	order := binary.ByteOrder(binary.LittleEndian)
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	word := map[bool]string{false: "False", true: "True"}[fortran]
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, word, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	var out bytes.Buffer
	out.WriteString("\x93NUMPY\x01\x00")
	binary.Write(&out, binary.LittleEndian, uint16(len(header)))
	out.WriteString(header)
	binary.Write(&out, order, data)
	return out.Bytes()
}

func parse(data []byte) (Variable, error) {
	return caught(func(in *input) Variable { return npyArray(in, "X") }, memoryInput(data, 0))
}

func TestNPYTypes(t *testing.T) {
	want := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	for _, test := range []struct {
		descr string
		data  any
	}{
		{"<f8", []float64{1, 2, 3, 4}}, {">f8", []float64{1, 2, 3, 4}}, {"<f4", []float32{1, 2, 3, 4}}, {">f4", []float32{1, 2, 3, 4}},
		{"<f2", []uint16{0x3c00, 0x4000, 0x4200, 0x4400}}, {">f2", []uint16{0x3c00, 0x4000, 0x4200, 0x4400}}, {"=f2", []uint16{0x3c00, 0x4000, 0x4200, 0x4400}},
		{"|u1", []uint8{1, 2, 3, 4}}, {"|i1", []int8{1, 2, 3, 4}},
		{"<u2", []uint16{1, 2, 3, 4}}, {">u2", []uint16{1, 2, 3, 4}}, {"<i2", []int16{1, 2, 3, 4}},
		{"<u4", []uint32{1, 2, 3, 4}}, {">i4", []int32{1, 2, 3, 4}},
		{"<u8", []uint64{1, 2, 3, 4}}, {"<i8", []int64{1, 2, 3, 4}},
	} {
		v, err := parse(writeNPY(test.descr, false, "(2, 2)", test.data))
		if err != nil {
			t.Errorf("%s: %v", test.descr, err)
			continue
		}
		if !mat.Equal(v.Value, want) {
			t.Errorf("%s: got %v", test.descr, mat.Formatted(v.Value))
		}
		if _, isBytes := v.Value.(*Bytes); isBytes != (test.descr == "|u1") {
			t.Errorf("%s: a %T", test.descr, v.Value)
		}
	}

	v, err := parse(writeNPY("|b1", false, "(1, 3)", []bool{true, false, true}))
	if err != nil || !mat.Equal(v.Value, NewBytes(1, 3, []uint8{1, 0, 1})) {
		t.Errorf("booleans: got %v, %v", v.Value, err)
	}
	for _, test := range []struct {
		descr, shape string
		data         any
	}{
		{"<c16", "(1, 1)", []float64{1, 2}}, {"|O", "(1,)", []uint8("pickle")},
		{"<f8", "()", []float64{1}}, {"<f8", "(1, 1, 1, 1)", []float64{1}}, {"<f8", "(0, 3)", []float64{}}, {"<M8[ns]", "(1,)", []uint64{1}},
	} {
		if v, err := parse(writeNPY(test.descr, false, test.shape, test.data)); err != nil || v.Value != nil || v.Text != nil {
			t.Errorf("%s %s: got value %v, error %v, want neither", test.descr, test.shape, v.Value, err)
		}
	}
}

func TestNPYOrder(t *testing.T) {
	const n, h, w = 2, 3, 4
	value := func(i, j, k int) uint8 { return uint8(100*i + 10*j + k) }
	var c, fortran []uint8
	for i := range n {
		for j := range h {
			for k := range w {
				c = append(c, value(i, j, k))
			}
		}
	}
	for k := range w {
		for j := range h {
			for i := range n {
				fortran = append(fortran, value(i, j, k))
			}
		}
	}
	for _, test := range []struct {
		name string
		data []byte
	}{
		{"C", writeNPY("|u1", false, "(2, 3, 4)", c)},
		{"Fortran", writeNPY("|u1", true, "(2, 3, 4)", fortran)},
	} {
		path := filepath.Join(t.TempDir(), "x.npy")
		writeFile(t, path, test.data)
		s, err := NPY(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		checkSet(t, s)
		if s.Height != h || s.Width != w || !mat.Equal(s.Vectors, NewBytes(n, h*w, c)) {
			t.Errorf("%s: %d×%d images %v", test.name, s.Height, s.Width, mat.Formatted(s.Vectors))
		}
	}
	v, err := parse(writeNPY("<i2", true, "(2, 3)", []int16{1, 4, 2, 5, 3, 6}))
	if want := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}); err != nil || !mat.Equal(v.Value, want) {
		t.Errorf("2×3 in Fortran order: got %v, %v", v.Value, err)
	}
}

func TestNPYLabels(t *testing.T) {
	dir := t.TempDir()
	x := writeFile(t, filepath.Join(dir, "x.npy"), writeNPY("<f4", false, "(2, 1)", []float32{1, 2}))
	y := writeFile(t, filepath.Join(dir, "y.npy"), writeNPY("<i4", false, "(2,)", []int32{5, 4}))
	for _, test := range []struct{ labels, want string }{
		{"", "[] [-1 -1]"}, {"-", "[] [-1 -1]"}, {y, "[4 5] [1 0]"},
		{x, "[1 2] [0 1]"}, {filepath.Join(dir, "none.npy"), "none.npy"},
	} {
		s, err := NPY(x, Options{Labels: test.labels})
		got := fmt.Sprint(err)
		if err == nil {
			checkSet(t, s)
			got = fmt.Sprintf("%v %v", s.Classes, s.Labels)
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("labels %q: got %s, want %s", test.labels, got, test.want)
		}
	}
}

// Files of another writer, the npy package's, are read too.
func TestNPYOtherWriter(t *testing.T) {
	want := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	var out bytes.Buffer
	if err := npy.Write(&out, want); err != nil {
		t.Fatal(err)
	}
	v, err := parse(out.Bytes())
	if err != nil || !mat.Equal(v.Value, want) {
		t.Errorf("got %v, %v", v.Value, err)
	}
}

func TestNPYText(t *testing.T) {
	want := []string{"cat", "né", ""}
	unicode := make([]uint32, 0, 9)
	for _, s := range want {
		word := make([]uint32, 3)
		for i, r := range []rune(s) {
			word[i] = uint32(r)
		}
		unicode = append(unicode, word...)
	}
	for _, test := range []struct {
		descr string
		data  any
		want  []string
	}{
		{"<U3", unicode, want}, {">U3", unicode, want}, {"|S3", []byte("catdo\x00\x00\x00\x00"), []string{"cat", "do", ""}},
	} {
		v, err := parse(writeNPY(test.descr, false, "(3,)", test.data))
		if err != nil || !cmp.Equal(v.Text, test.want) {
			t.Errorf("%s: got %q, %v, want %q", test.descr, v.Text, err, test.want)
		}
	}
}

func TestNPYRefuses(t *testing.T) {
	good := writeNPY("<f8", false, "(2, 2)", []float64{1, 2, 3, 4})
	header := func(old, with string) []byte {
		return bytes.Replace(good, []byte(old), []byte(with), 1)
	}
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "not a NumPy file"},
		{"text", []byte("some text that is longer"), "not a NumPy file"},
		{"version 9", header("NUMPY\x01", "NUMPY\x09"), "version 9"},
		{"cut in the header", good[:40], "the header declares 128 bytes, but the file has 40:"},
		{"huge header", slicesOf("\x93NUMPY\x02\x00", "\xff\xff\xff\x7f", "{}"), "the header has 2147483647 bytes"},
		{"no newline", header("\n", " "), "is not a NumPy header"},
		{"no dictionary", header("{'descr'", "('descr'"), "is not a NumPy header"},
		{"keys in another order", header("'descr': '<f8', 'fortran_order': False", "'fortran_order': False, 'descr': '<f8'"), "is not a NumPy header"},
		{"negative size", header("(2, 2)", "(-2,2)"), "is not a NumPy header"},
		{"size beyond int", header("(2, 2), }                ", "(99999999999999999999), }"), "out of range"},
		{"huge", header("(2, 2), }          ", "(9999999, 99999), }"), "is too large"},
		{"cut in the values", good[:len(good)-1], "shape [2 2] of <f8: the header declares 32 bytes, but the file has 31:"},
		{"more values", append(bytes.Clone(good), 0), "extra bytes after the values"},
		{"NaN", writeNPY("<f8", false, "(1, 2)", []float64{1, math.NaN()}), "row 1, column 2: NaN"},
		{"text array", writeNPY("|S1", false, "(2,)", []byte("ab")), "not a matrix of numbers"},
		{"no samples", writeNPY("<f8", false, "(0, 3)", []float64{}), "not a matrix of numbers"},
	} {
		path := filepath.Join(t.TempDir(), "bad.npy")
		writeFile(t, path, test.data)
		_, err := NPY(path, Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want one with %q and the file", test.name, err, test.want)
		}
	}
}

func slicesOf(parts ...string) []byte { return []byte(strings.Join(parts, "")) }

func TestNPYClaims(t *testing.T) {
	data := writeNPY("<f8", false, "(10000, 1000)", []float64{1})
	used := memory(func() {
		if _, err := parse(data); err == nil || !strings.Contains(err.Error(), "bytes, but the file has 8:") {
			t.Errorf("got error %v", err)
		}
	})
	if used > 4<<20 {
		t.Errorf("%d bytes of memory for a file of %d", used, len(data))
	}
}

// npzArray is an array for writeNPZ.
type npzArray struct {
	name string
	data []byte
}

func writeNPZ(t testing.TB, arrays ...npzArray) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, a := range arrays {
		w, err := z.Create(a.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(a.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestNPZ(t *testing.T) {
	x := writeNPY("|u1", false, "(3, 2)", []uint8{1, 2, 3, 4, 5, 6})
	images := writeNPY("|u1", false, "(3, 1, 2)", []uint8{1, 2, 3, 4, 5, 6})
	y := writeNPY("<i8", false, "(3,)", []int64{10, 2, 10})
	words := writeNPY("<U1", false, "(3,)", []uint32{'b', 'a', 0})
	one := writeNPY("<f8", false, "(1, 2)", []float64{7, 8})
	object := writeNPY("|O", false, "(3,)", []uint8("pickle"))
	for _, test := range []struct {
		name   string
		arrays []npzArray
		opt    Options
		want   string // the classes, the labels and the images, or the error
	}{
		{"savez", []npzArray{{"arr_0.npy", x}, {"arr_1.npy", y}}, Options{}, "[2 10] [1 0 1] 0×0"},
		{"X and y", []npzArray{{"y.npy", words}, {"arr_0.npy", one}, {"X.npy", x}}, Options{}, "[a b] [1 0 -1] 0×0"},
		{"images", []npzArray{{"data.npy", images}, {"target.npy", y}}, Options{}, "[2 10] [1 0 1] 1×2"},
		{"size given", []npzArray{{"features.npy", x}, {"labels.npy", y}}, Options{Height: 2, Width: 1}, "[2 10] [1 0 1] 2×1"},
		{"named", []npzArray{{"train.npy", images}, {"kind.npy", y}, {"X.npy", one}}, Options{Features: "train", Labels: "kind"}, "[2 10] [1 0 1] 1×2"},
		{"other members", []npzArray{{"fea.npy", x}, {"gnd.npy", y}, {"notes.txt", []byte("hi")}, {"o.npy", object}}, Options{}, "[2 10] [1 0 1] 0×0"},
		{"unlabelled", []npzArray{{"X.npy", x}}, Options{}, "[] [-1 -1 -1] 0×0"},
		{"nothing", nil, Options{}, "the file has no variables"},
		{"neither", []npzArray{{"a.npy", x}}, Options{}, "no variable X or fea or data or features or embeddings or arr_0; the file has a (3×2 |u1)"},
		{"label count", []npzArray{{"X.npy", one}, {"y.npy", y}}, Options{}, "y (3 <i8) has 3 labels for the 1 rows of X (1×2 <f8)"},
		{"objects", []npzArray{{"X.npy", x}, {"y.npy", object}}, Options{}, "y (3 |O) is not a list of labels"},
		{"twice", []npzArray{{"X.npy", x}, {"X.npy", one}}, Options{}, `the file has "X" twice`},
		{"broken member", []npzArray{{"X.npy", x[:130]}}, Options{}, `array "X": shape [3 2] of |u1: the header declares 6 bytes, but the file has 2`},
	} {
		path := filepath.Join(t.TempDir(), "set.npz")
		writeFile(t, path, writeNPZ(t, test.arrays...))
		s, err := NPZ(path, test.opt)
		var got string
		if err != nil {
			got = err.Error()
		} else {
			checkSet(t, s)
			got = fmt.Sprintf("%v %v %d×%d", s.Classes, s.Labels, s.Height, s.Width)
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}

	data := writeNPZ(t, npzArray{"X.npy", x})
	data[60] ^= 0xff // within the packed array
	if _, err := caught(readNPZ, memoryInput(data, 0)); err == nil {
		t.Error("a damaged archive is read without an error")
	}
	encrypted := writeNPZ(t, npzArray{"X.npy", x})
	encrypted[bytes.Index(encrypted, []byte("PK\x01\x02"))+8] |= 1
	if _, err := caught(readNPZ, memoryInput(encrypted, 0)); err == nil || !strings.Contains(err.Error(), "encrypted") {
		t.Errorf("an encrypted array: %v", err)
	}
}

// The number of arrays is limited, however small they are, and only the first of many are listed.
func TestManyVariables(t *testing.T) {
	var arrays []npzArray
	var vars []matVar
	for i := range 1000 {
		arrays = append(arrays, npzArray{fmt.Sprintf("a%d.npy", i), writeNPY("<f8", false, "(1, 1)", []float64{1})})
		vars = append(vars, matVar{fmt.Sprintf("a%d", i), 6, []int32{1, 1}, []matData{{9, []float64{1}}}})
	}
	for name, data := range map[string][]byte{"x.npz": writeNPZ(t, arrays...), "x.mat": writeMAT(binary.LittleEndian, false, vars...)} {
		path := writeFile(t, filepath.Join(t.TempDir(), name), data)
		if _, err := openFile(path, Options{}); err == nil || !strings.Contains(err.Error(), "a4 (1×1") || strings.Contains(err.Error(), "a20 ") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := openFile(path, Options{Limit: 100_000}); err == nil || !strings.Contains(err.Error(), "of memory") {
			t.Errorf("%s with less memory than it takes: %v", name, err)
		}
	}
	entry := append([]byte("PK\x01\x02"), make([]byte, 42)...)
	entry[28] = 1 // the length of the name
	entry = append(entry, 'a')
	const n = 200_000
	directory := bytes.Repeat(entry, n)
	order := binary.LittleEndian
	end := order.AppendUint64([]byte("PK\x06\x06"), 44)
	end = append(end, make([]byte, 12)...)
	for _, v := range []uint64{n, n, uint64(len(directory)), 0} {
		end = order.AppendUint64(end, v)
	}
	end = append(order.AppendUint64(append(end, "PK\x06\x07\x00\x00\x00\x00"...), uint64(len(directory))), 1, 0, 0, 0)
	end = append(append(end, "PK\x05\x06"...), 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0)
	whole := append(directory, end...)
	if _, err := caught(readNPZ, memoryInput(whole, 0)); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("an archive of %d entries: %v", n, err)
	}
}
