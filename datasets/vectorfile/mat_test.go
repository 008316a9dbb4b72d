package vectorfile

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// matFile writes the variables to a file and returns its name.
func matFile(t testing.TB, vars ...matVar) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "set.mat")
	writeFile(t, path, writeMAT(binary.LittleEndian, true, vars...))
	return path
}

// bytesVar is an n×m uint8 matrix whose value in row i, column j is f(i, j).
func bytesVar(name string, n, m int, f func(i, j int) uint8) matVar {
	data := make([]uint8, 0, n*m)
	for j := range m {
		for i := range n {
			data = append(data, f(i, j))
		}
	}
	return matVar{name, 9, []int32{int32(n), int32(m)}, []matData{{2, data}}}
}

func doubles(name string, r, c int, values ...float64) matVar {
	return matVar{name, 6, []int32{int32(r), int32(c)}, []matData{{9, values}}}
}

func TestMAT(t *testing.T) {
	path := matFile(t,
		bytesVar("fea", 3, 2, func(i, j int) uint8 { return uint8(10*i + j) }),
		doubles("gnd", 3, 1, 10, 2, math.NaN()),
		doubles("trainIdx", 2, 1, 1, 2),
	)
	got, err := MAT(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := &Content{
		Name: "set", Names: []string{"set.mat row 1", "set.mat row 2", "set.mat row 3"},
		Classes: []string{"2", "10"}, Labels: []int{1, 0, -1},
		Vectors: NewBytes(3, 2, []uint8{0, 1, 10, 11, 20, 21}),
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Bytes{})); diff != "" {
		t.Error(diff)
	}
}

// The images of a MATLAB file are stored column by column.
func TestMATImages(t *testing.T) {
	const h, w = 3, 2
	pixel := func(i, r, c int) uint8 { return uint8(100*i + 10*r + c) }
	stored := func(i, j int) uint8 { return pixel(i, j%h, j/h) }
	for _, test := range []struct {
		name string
		v    matVar
	}{
		{"bytes", bytesVar("fea", 2, h*w, stored)},
		{"doubles", func() matVar {
			v := bytesVar("fea", 2, h*w, stored)
			v.class = mxDOUBLE
			return v
		}()},
	} {
		s, err := MAT(matFile(t, test.v), Options{Height: h, Width: w})
		if err != nil {
			t.Fatal(err)
		}
		if s.Height != h || s.Width != w {
			t.Errorf("%s: images of %d×%d, want %d×%d", test.name, s.Height, s.Width, h, w)
		}
		for i := range 2 {
			for r := range h {
				for c := range w {
					if got, want := s.Vectors.At(i, r*w+c), float64(pixel(i, r, c)); got != want {
						t.Errorf("%s: image %d, row %d, column %d: got %v, want %v", test.name, i, r, c, got, want)
					}
				}
			}
		}
	}

	for _, test := range []struct{ m, side int }{{15 * 15, 0}, {16 * 16, 16}, {16*16 + 1, 0}, {257 * 257, 0}} {
		s, err := MAT(matFile(t, bytesVar("fea", 1, test.m, func(i, j int) uint8 { return uint8(j) })), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Height != test.side || s.Width != test.side {
			t.Errorf("%d values: images of %d×%d, want %d×%d", test.m, s.Height, s.Width, test.side, test.side)
		}
		if test.side > 0 && s.Vectors.At(0, 1) != float64(test.side) {
			t.Errorf("%d values: the image is not turned", test.m)
		}
	}
}

func TestMATSparse(t *testing.T) {
	rows, starts, values := []int32{}, make([]int32, 257), []float64{}
	for j := range 256 {
		rows, values = append(rows, int32(j%2)), append(values, float64(j+1))
		starts[j+1] = int32(j + 1)
	}
	path := matFile(t, matVar{"fea", 5, []int32{2, 256}, []matData{{5, rows}, {5, starts}, {9, values}}})
	s, err := MAT(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Height != 0 || s.Width != 0 || s.Vectors.At(1, 1) != 2 || s.Vectors.At(1, 16) != 0 {
		t.Errorf("images of %d×%d, want none, in columns as they are", s.Height, s.Width)
	}
}

func TestMATNames(t *testing.T) {
	zero := func(i, j int) uint8 { return 0 }
	x, y := bytesVar("X", 2, 2, zero), doubles("y", 1, 2, 1, 2)
	for _, test := range []struct {
		name string
		vars []matVar
		opt  Options
		want string // part of the error, or the classes
	}{
		{"named", []matVar{x, y}, Options{Features: "X", Labels: "y"}, "1 2"},
		{"other case", []matVar{bytesVar("Fea", 2, 2, zero), doubles("GND", 2, 1, 3, 4)}, Options{}, "3 4"},
		{"just so before other case", []matVar{bytesVar("FEA", 1, 2, zero), bytesVar("fea", 2, 2, zero), doubles("gnd", 2, 1, 3, 4)}, Options{}, "3 4"},
		{"no labels", []matVar{bytesVar("fea", 2, 2, zero)}, Options{}, ""},
		{"no labels wanted", []matVar{bytesVar("fea", 2, 2, zero), y}, Options{Labels: "-"}, ""},
		{"no fea", []matVar{x, y}, Options{}, "set.mat: no variable fea; the file has X (2×2 uint8), y (1×2 double)"},
		{"no such", []matVar{x, y}, Options{Features: "Z"}, "no variable Z; the file has X"},
		{"no such labels", []matVar{x, y}, Options{Features: "X", Labels: "z"}, "no variable z; the file has X"},
		{"labels by another name", []matVar{bytesVar("fea", 2, 2, zero), y}, Options{}, "no variable gnd, but y (1×2 double) may be the labels: set gnd to the variable of the labels, or to - for none"},
		{"nothing", nil, Options{}, "the file has no variables"},
		{"text", []matVar{{"fea", 4, []int32{1, 2}, []matData{{16, []byte("hi")}}}}, Options{}, "fea (1×2 char) is not a matrix of numbers"},
		{"label count", []matVar{bytesVar("fea", 2, 2, zero), doubles("gnd", 3, 1, 1, 2, 3)}, Options{}, "gnd (3×1 double) has 3 labels for the 2 rows of fea (2×2 uint8)"},
		{"label shape", []matVar{bytesVar("fea", 2, 2, zero), doubles("gnd", 2, 2, 1, 2, 3, 4)}, Options{}, "gnd (2×2 double) is not a list of labels"},
		{"label value", []matVar{bytesVar("fea", 2, 2, zero), doubles("gnd", 2, 1, 1, 1.5)}, Options{}, "label 1.5 of row 2 is not a whole number"},
		{"image size", []matVar{bytesVar("fea", 2, 6, zero)}, Options{Height: 2, Width: 2}, "its vectors of 6 values are not images of height 2 and width 2"},
		{"half an image size", []matVar{bytesVar("fea", 2, 6, zero)}, Options{Height: 6}, "height 6 and width 0"},
		{"NaN", []matVar{doubles("fea", 2, 2, 1, 2, 3, math.NaN())}, Options{}, "row 2, column 2: NaN"},
		{"Inf", []matVar{doubles("fea", 2, 2, 1, 2, math.Inf(-1), 4)}, Options{}, "row 1, column 2: -Inf"},
		{"sparse NaN", []matVar{{"fea", 5, []int32{2, 2}, []matData{{5, []int32{1}}, {5, []int32{0, 0, 1}}, {9, []float64{math.NaN()}}}}}, Options{}, "row 2, column 2: NaN"},
	} {
		s, err := MAT(matFile(t, test.vars...), test.opt)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			checkSet(t, s)
			got = strings.Join(s.Classes, " ")
		}
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestMATNoFile(t *testing.T) {
	if _, err := MAT(filepath.Join(t.TempDir(), "none.mat"), Options{}); err == nil || !strings.Contains(err.Error(), "none.mat") {
		t.Errorf("got error %v, want one that names the file", err)
	}
}
