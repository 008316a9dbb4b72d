package vectorfile

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// oddNames are names that are hard to write.
var oddNames = []string{
	"a", "ab", "abc", "abcd", "abcde", "folder/7.png", "1", "-1", "NaN", "name", "class", `say "x"`, `"`, "a,b", "a;b\tc", "two\nlines",
	"né", "λ 100", "猫 and 犬", "e\u0301", "\ufeffmarked", "#1", "x=1 {2}", strings.Repeat("long ", 50) + ".",
}

// randomSet returns a set of vectors of one of the three types, with or without classes and images.
func randomSet(r *rand.Rand) *Content {
	n, m := 1+r.IntN(6), 1+r.IntN(6)
	if r.IntN(4) == 0 {
		m = 256 // possible images of 16×16
	}
	s := &Content{Name: "set", Names: make([]string, n), Labels: make([]int, n)}
	names := r.Perm(len(oddNames))
	for i := range s.Names {
		s.Names[i] = oddNames[names[i]]
	}
	for _, at := range r.Perm(len(oddNames))[:r.IntN(4)] {
		s.Classes = append(s.Classes, oddNames[at])
	}
	for i := range s.Labels {
		s.Labels[i] = r.IntN(len(s.Classes)+1) - 1
	}
	if len(s.Classes) > 0 && r.IntN(2) == 0 {
		for i := range s.Labels {
			s.Labels[i] = r.IntN(len(s.Classes))
		}
	}
	value := func() float64 {
		for {
			v := math.Float64frombits(r.Uint64())
			if r.IntN(3) == 0 {
				v = float64(r.IntN(5) - 2)
			}
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				return v
			}
		}
	}
	switch r.IntN(3) {
	case 0:
		data := make([]uint8, n*m)
		for i := range data {
			data[i] = uint8(r.Uint32())
		}
		s.Vectors = NewBytes(n, m, data)
	case 1:
		data := make([]float64, n*m)
		for i := range data {
			data[i] = value()
		}
		s.Vectors = mat.NewDense(n, m, data)
	default:
		var entries []sparse.Entry
		for range r.IntN(2 * n * m) {
			entries = append(entries, sparse.Entry{Row: r.IntN(n), Col: r.IntN(m), Value: float64(1 + r.IntN(1000)/7)})
		}
		x := sparse.FromEntries(n, m, entries)
		for range min(2, x.NNZ()) {
			x.Values[r.IntN(x.NNZ())] = 0
		}
		s.Vectors = x
	}
	if h := 1 + r.IntN(4); m%h == 0 && r.IntN(2) == 0 {
		s.Height, s.Width = h, m/h
	}
	return s
}

// bits returns the values of a matrix row by row.
func bits(x mat.Matrix) []uint64 {
	n, m := x.Dims()
	var all []uint64
	for i := range n {
		for j := range m {
			all = append(all, math.Float64bits(x.At(i, j)))
		}
	}
	return all
}

// classNames returns the name of each sample's class.
func classNames(s *Content) []string {
	names := make([]string, s.Len())
	for i, l := range s.Labels {
		if l >= 0 {
			names[i] = s.Classes[l]
		}
	}
	return names
}

// Sets are equal after writing and reading.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 150 {
		s := randomSet(r)
		if _, m := s.Vectors.Dims(); trial%2 == 0 {
			s.Features = []Columns{{"sift", m - m/2, 0.5}, {"colour", m / 2, 1e-9}}
			s.Settings = `[{"sift":{"at":"dense"}},{"colour":{"at":"hsv"}}]`
		}
		for _, ending := range []string{".npz", ".MAT", ".csv"} {
			path := filepath.Join(dir, "set"+ending)
			if err := Write(t.Context(), path, s); err != nil {
				t.Fatalf("trial %d: %v", trial, err)
			}
			got, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatalf("trial %d: %v", trial, err)
			}
			checkSet(t, got)
			what := fmt.Sprintf("trial %d: %T in a %s", trial, s.Vectors, ending)
			if got.Name != "set" || !slices.Equal(got.Names, s.Names) {
				t.Errorf("%s: %s with the names %q, want %q", what, got.Name, got.Names, s.Names)
			}
			if !slices.Equal(classNames(got), classNames(s)) {
				t.Errorf("%s: the classes %q, want %q", what, classNames(got), classNames(s))
			}
			if !slices.Equal(bits(got.Vectors), bits(s.Vectors)) {
				t.Errorf("%s: other values", what)
			}
			if ending == ".csv" {
				continue
			}
			if !slices.Equal(got.Classes, s.Classes) || !slices.Equal(got.Labels, s.Labels) {
				t.Errorf("%s: the labels %v of %q, want %v of %q", what, got.Labels, got.Classes, s.Labels, s.Classes)
			}
			if reflect.TypeOf(got.Vectors) != reflect.TypeOf(s.Vectors) {
				t.Errorf("%s: a %T", what, got.Vectors)
			}
			height, width := s.Height, s.Width
			if _, ok := s.Vectors.(*sparse.CSR); ok && ending == ".MAT" {
				height, width = 0, 0
			}
			if got.Settings != s.Settings {
				t.Errorf("%s: settings %q, want %q", what, got.Settings, s.Settings)
			}
			if got.Height != height || got.Width != width {
				t.Errorf("%s: images of %d×%d, want %d×%d", what, got.Height, got.Width, height, width)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("beside the files there are others: %v, %v", entries, err)
	}
}

// TestWriteFeatures: a file with joined features lists the columns and the scale of each.
func TestWriteFeatures(t *testing.T) {
	s := &Content{
		Names: []string{"a", "b"}, Labels: []int{-1, -1}, Vectors: mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}),
		Features: []Columns{{"sift", 2, 0.5}, {"colour", 1, 3}},
	}
	dir := t.TempDir()
	if err := Write(t.Context(), filepath.Join(dir, "set.csv"), s); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "set.csv"))
	if want := "name,class,sift1,sift2,colour1\na,,1,2,3\nb,,4,5,6\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
	for _, ending := range []string{".npz", ".mat"} {
		path := filepath.Join(dir, "set"+ending)
		if err := Write(t.Context(), path, s); err != nil {
			t.Fatal(err)
		}
		if text, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		for _, Variable := range []string{"features", "columns", "scales"} {
			if !strings.Contains(string(text), Variable) {
				t.Errorf("%s has no variable %s", ending, Variable)
			}
		}
	}
	s.Features[0].Count = 3
	if err := Write(t.Context(), filepath.Join(dir, "set.npz"), s); err == nil || !strings.Contains(err.Error(), "features have 4 columns, but vectors have 3 values") {
		t.Errorf("a column too many: error %v", err)
	}
}

// Characters beyond U+FFFF are kept if the format allows them.
func TestWriteEmoji(t *testing.T) {
	s := &Content{Names: []string{"🐈", "🐈🐕"}, Classes: []string{"🙂 face", "x"}, Labels: []int{1, 0}, Vectors: mat.NewDense(2, 1, []float64{1, 2})}
	for _, ending := range []string{".npz", ".csv"} {
		path := filepath.Join(t.TempDir(), "set"+ending)
		if err := Write(t.Context(), path, s); err != nil {
			t.Fatal(err)
		}
		got, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Names, s.Names) || !slices.Equal(classNames(got), classNames(s)) {
			t.Errorf("%s: %q of the classes %q", ending, got.Names, classNames(got))
		}
	}
}

// goldenSets are small sets of every kind.
func goldenSets() map[string]*Content {
	names := []string{"cat/1.png", "dog/2.png", "né 犬"}
	classes := []string{"cat", "dog", "none, \"really\""}
	pixels := []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 255}
	numbers := []float64{0, 1, -1, 0.1, 1e-300, 1e300, math.Pi, 1.0 / 3, 2}
	return map[string]*Content{
		"images": {Names: names, Classes: classes, Labels: []int{0, 1, 0}, Vectors: NewBytes(3, 6, pixels), Height: 2, Width: 3},
		"dense":  {Names: names, Classes: classes, Labels: []int{2, -1, 0}, Vectors: mat.NewDense(3, 3, numbers)},
		"sparse": {Names: names, Labels: []int{-1, -1, -1}, Vectors: sparse.FromEntries(3, 4, []sparse.Entry{{Row: 0, Col: 3, Value: 0.5}, {Row: 2, Col: 0, Value: 2}, {Row: 2, Col: 3, Value: 1e10}}), Height: 2, Width: 2},
	}
}

// NumPy, SciPy and MATLAB's readers have read these files.
func TestWriteGolden(t *testing.T) {
	for name, s := range goldenSets() {
		for _, ending := range []string{".npz", ".mat", ".csv"} {
			golden := filepath.Join("testdata", "written-"+name+ending)
			if *update {
				if err := os.MkdirAll("testdata", 0o777); err != nil {
					t.Fatal(err)
				}
				if err := Write(t.Context(), golden, s); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(t.TempDir(), "set"+ending)
			if err := Write(t.Context(), path, s); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("%s: %d bytes differ from the %d of %s", ending, len(got), len(want), golden)
			}
		}
	}
}

// addWritten adds the golden files with this extension to a fuzz target's seeds.
func addWritten(f *testing.F, ending string) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "written-*"+ending))
	if err != nil || len(files) != len(goldenSets()) {
		f.Fatalf("the golden files are %v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	good := func() *Content {
		return &Content{Names: []string{"a", "b"}, Classes: []string{"x"}, Labels: []int{0, -1}, Vectors: mat.NewDense(2, 2, []float64{1, 2, 3, 4})}
	}
	nan, inf := mat.NewDense(2, 2, []float64{1, 2, 3, math.NaN()}), mat.NewDense(2, 2, []float64{1, math.Inf(-1), 3, 4})
	for _, test := range []struct {
		name   string
		change func(*Content)
		want   string
	}{
		{"x.txt", nil, "x.txt: the name must end in .npz, .mat or .csv"},
		{"x", nil, "the name must end in .npz, .mat or .csv"},
		{"x.npz.gz", nil, "the name must end in .npz, .mat or .csv"},
		{"none/x.npz", nil, "none"},
		{"file.csv/x.npz", nil, "file.csv"},
		{"folder.mat", nil, "folder.mat"},
		{"x.npz", func(s *Content) { s.Vectors = nil }, "x.npz: a set of image files has no vectors to write"},
		{"x.npz", func(s *Content) { s.Vectors = &mat.Dense{} }, "the 0×0 matrix has no samples"},
		{"x.npz", func(s *Content) { s.Vectors = nan }, "row 2, column 2: NaN"},
		{"x.mat", func(s *Content) { s.Vectors = nan }, "row 2, column 2: NaN"},
		{"x.csv", func(s *Content) { s.Vectors = nan.T() }, "row 2, column 2: NaN"},
		{"x.csv", func(s *Content) { s.Vectors = inf }, "row 1, column 2: -Inf"},
		{"x.mat", func(s *Content) {
			s.Vectors = sparse.FromEntries(2, 2, []sparse.Entry{{Row: 1, Col: 0, Value: math.Inf(1)}})
		}, "row 2, column 1: +Inf"},
		{"x.npz", func(s *Content) { s.Names = s.Names[:1] }, "2 vectors, but 1 names and 2 labels"},
		{"x.npz", func(s *Content) { s.Labels = nil }, "2 vectors, but 2 names and 0 labels"},
		{"x.npz", func(s *Content) { s.Labels = []int{0, 1} }, "b: label 1; expected less than the number of classes, 1"},
		{"x.npz", func(s *Content) { s.Labels = []int{-2, 0} }, "a: label -2; expected less than the number of classes,"},
		{"x.npz", func(s *Content) { s.Height, s.Width = 2, 2 }, "vectors of 2 values are not images of height 2 and width 2"},
		{"x.npz", func(s *Content) { s.Height, s.Width = -1, -2 }, "values are not images of height -1 and width"},
		{"x.npz", func(s *Content) { s.Names = []string{"a", "a"} }, "a name of a sample or class is empty or duplicate"},
		{"x.npz", func(s *Content) { s.Names = []string{"a", ""} }, "is empty"},
		{"x.npz", func(s *Content) { s.Classes = []string{"x", "x"} }, "a name of a sample or class is empty or duplicate"},
		{"x.npz", func(s *Content) { s.Names = []string{"a", "b\x00"} }, `is not text`},
		{"x.csv", func(s *Content) { s.Names = []string{"a", "n\xe9"} }, `"n\xe9" is not text`},
		{"x.csv", func(s *Content) { s.Names = []string{"a", "b "} }, `the name "b ", which has a carriage return or white space at an end, cannot be written to .csv unchanged; write .npz`},
		{"x.mat", func(s *Content) { s.Names = []string{"a", "🐈"} }, `the name "🐈" has characters beyond U+FFFF, which SciPy cannot read from .mat; write .npz`},
		{"x.mat", func(s *Content) { s.Classes = []string{"🐕"} }, `the name "🐕" has characters beyond U+FFFF, which SciPy cannot read from .mat; write .npz`},
		{"x.csv", func(s *Content) { s.Vectors = NewBytes(2, 1<<20, make([]uint8, 2<<20)) }, "1048578 columns exceed"},
		{"x.csv", func(s *Content) { s.Classes = []string{"a\r\nb"} }, `the name "a\r\nb"`},
	} {
		path := filepath.Join(dir, filepath.FromSlash(test.name))
		if test.name == "file.csv/x.npz" {
			writeFile(t, filepath.Join(dir, "file.csv"), nil)
		}
		if test.name == "folder.mat" {
			writeFile(t, filepath.Join(path, "note.txt"), nil)
		}
		s := good()
		if test.change != nil {
			test.change(s)
		}
		err := Write(t.Context(), path, s)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %.300v, want one with %q and the file", test.name, err, test.want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("what failed leaves %v, %v", entries, err)
	}
}

func TestWriteTooLarge(t *testing.T) {
	huge := matArray{name: "fea", class: mxDOUBLE, typ: miDOUBLE, bytes: math.MaxInt32, put: func(*bufio.Writer) {}}
	err := guard.Try(func() { huge.write(bufio.NewWriter(io.Discard)) })
	if err == nil || !strings.Contains(err.Error(), "variable fea takes 2147483696 bytes, above the 2 GB limit of .mat; write .npz") {
		t.Errorf("got error %v", err)
	}
}

// A file that cannot be replaced is unchanged.
func TestWriteKeeps(t *testing.T) {
	path := writeFile(t, filepath.Join(t.TempDir(), "x.csv"), []byte("a,b\n1,2\n"))
	s := &Content{Names: []string{" a"}, Labels: []int{-1}, Vectors: mat.NewDense(1, 1, nil)}
	if err := Write(t.Context(), path, s); err == nil {
		t.Fatal("no error")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "a,b\n1,2\n" {
		t.Errorf("got content %q, error %v", text, err)
	}
	s.Names[0] = "a"
	if err := Write(t.Context(), path, s); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "name,class,x1\na,,0\n" {
		t.Errorf("got content %q, error %v", text, err)
	}
}

// An existing file, even one created a moment ago, is not replaced by WriteNew.
func TestWriteNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	s := &Content{Names: []string{"a"}, Labels: []int{-1}, Vectors: mat.NewDense(1, 1, nil)}
	if err := WriteNew(t.Context(), path, s); err != nil {
		t.Fatal(err)
	}
	s.Names[0] = "b"
	if err := WriteNew(t.Context(), path, s); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("written again: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "name,class,x1\na,,0\n" {
		t.Errorf("got content %q, error %v", text, err)
	}
}

// Files of other programs have names and classes only if these fit.
func TestOthersNames(t *testing.T) {
	x := writeNPY("|u1", false, "(3, 2)", []uint8{1, 2, 3, 4, 5, 6})
	y := writeNPY("<i8", false, "(3,)", []int64{2, 1, 2})
	y0 := writeNPY("<i8", false, "(3,)", []int64{1, 0, 1})
	two := writeNPY("<U1", false, "(2,)", []uint32{'p', 'q'})
	three := writeNPY("<U1", false, "(3,)", []uint32{'r', 's', 't'})
	same := writeNPY("<U1", false, "(3,)", []uint32{'r', 's', 'r'})
	size := func(h, w int64) []byte { return writeNPY("<i8", false, "(2,)", []int64{h, w}) }
	for _, test := range []struct {
		name   string
		arrays []npzArray
		want   string
	}{
		{"both", []npzArray{{"X.npy", x}, {"y.npy", y}, {"names.npy", three}, {"classes.npy", two}}, "[r s t] [p q] [1 0 1] 0×0"},
		{"a class more", []npzArray{{"X.npy", x}, {"y.npy", y}, {"classes.npy", three}}, "[set.npz row 1 set.npz row 2 set.npz row 3] [r s t] [1 0 1] 0×0"},
		{"from 0", []npzArray{{"X.npy", x}, {"y.npy", y0}, {"classes.npy", two}}, "row 3] [0 1] [1 0 1] 0×0"},
		{"words", []npzArray{{"X.npy", x}, {"y.npy", three}, {"classes.npy", two}}, "row 3] [r s t] [0 1 2] 0×0"},
		{"too few names", []npzArray{{"X.npy", x}, {"y.npy", y}, {"names.npy", two}}, "row 3] [1 2] [1 0 1] 0×0"},
		{"a name twice", []npzArray{{"X.npy", x}, {"y.npy", y}, {"names.npy", same}}, "row 3] [1 2] [1 0 1] 0×0"},
		{"a size", []npzArray{{"X.npy", x}, {"y.npy", y}, {"imagesize.npy", size(2, 1)}}, "[1 0 1] 2×1"},
		{"a wrong size", []npzArray{{"X.npy", x}, {"y.npy", y}, {"imagesize.npy", size(2, 2)}}, "values are not images of height 2 and width 2"},
		{"no size", []npzArray{{"X.npy", x}, {"y.npy", y}, {"imagesize.npy", size(-2, -1)}}, "[1 0 1] 0×0"},
	} {
		path := filepath.Join(t.TempDir(), "set.npz")
		writeFile(t, path, writeNPZ(t, test.arrays...))
		s, err := NPZ(path, Options{})
		got := fmt.Sprint(err)
		if err == nil {
			checkSet(t, s)
			got = fmt.Sprintf("%v %v %v %d×%d", s.Names, s.Classes, s.Labels, s.Height, s.Width)
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A first column called name names the samples of a CSV file, if the names are valid.
func TestCSVNames(t *testing.T) {
	for _, test := range []struct{ text, labels, want string }{
		{"name,a,class\np,1,x\nq,2,y\n", "", "[p q] [x y] 2×1"},
		{" Name ,a\np, 1\n q ,2\n", "", "[p q] [] 2×1"},
		{"name,a\np,1\np,2\n", "", "[set.csv row 1 set.csv row 2] [] 2×1"},
		{"name,a\np,1\n,2\n", "", "[set.csv row 1 set.csv row 2] [] 2×1"},
		{"name,a\np,1\nq,2\n", "name", "[set.csv row 1 set.csv row 2] [p q] 2×1"},
		{"a,name\n1,3\n2,4\n", "", "[set.csv row 1 set.csv row 2] [] 2×2"},
		{"name,class\np,x\n", "", "no line has numbers"},
	} {
		path := writeFile(t, filepath.Join(t.TempDir(), "set.csv"), []byte(test.text))
		s, err := CSV(path, Options{Labels: test.labels})
		got := fmt.Sprint(err)
		if err == nil {
			checkSet(t, s)
			n, m := s.Vectors.Dims()
			got = fmt.Sprintf("%v %v %d×%d", s.Names, s.Classes, n, m)
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%q: got %s, want %s", test.text, got, test.want)
		}
	}
}

func TestScipySparse(t *testing.T) {
	format := func(f string) npzArray {
		return npzArray{"format.npy", writeNPY(fmt.Sprintf("|S%d", len(f)), false, "()", []byte(f))}
	}
	ints := func(name string, values ...int64) npzArray {
		return npzArray{name + ".npy", writeNPY("<i8", false, fmt.Sprintf("(%d,)", len(values)), values)}
	}
	values := npzArray{"data.npy", writeNPY("<f4", false, "(3,)", []float32{5, 6, 7})}
	none := npzArray{"data.npy", writeNPY("<f4", false, "(0,)", []float32{})}
	shape, starts, columns := ints("shape", 2, 4), ints("indptr", 0, 1, 3), ints("indices", 3, 0, 2)
	want := sparse.FromEntries(2, 4, []sparse.Entry{{Row: 0, Col: 3, Value: 5}, {Row: 1, Col: 0, Value: 6}, {Row: 1, Col: 2, Value: 7}})
	for _, test := range []struct {
		name   string
		arrays []npzArray
		want   string
	}{
		{"csr", []npzArray{format("csr"), shape, values, starts, columns}, ""},
		{"csr with labels", []npzArray{format("csr"), shape, values, starts, columns, ints("y", 7, 8)}, ""},
		{"csc", []npzArray{format("csc"), shape, values, starts, columns}, `sparse format "csc" is not supported; convert to csr (in SciPy, tocsr() before save_npz)`},
		{"coo", []npzArray{format("coo"), shape, values}, `sparse format "coo" is not supported; convert to csr (in SciPy, tocsr() before save_npz)`},
		{"no starts", []npzArray{format("csr"), shape, values, columns}, "array indptr ( ) is not a list of numbers"},
		{"starts beyond", []npzArray{format("csr"), shape, values, ints("indptr", 0, 100, 3), columns}, "runs from 0 to 100 of 3"},
		{"starts below", []npzArray{format("csr"), shape, values, ints("indptr", 0, -1, 3), columns}, "runs from 0 to -1 of 3"},
		{"few starts", []npzArray{format("csr"), shape, values, ints("indptr", 0, 3), columns}, "2 row starts"},
		{"few columns", []npzArray{format("csr"), shape, values, starts, ints("indices", 3, 0)}, "2 columns and 3 values"},
		{"out of order", []npzArray{format("csr"), shape, values, starts, ints("indices", 3, 2, 0)}, "sum_duplicates()"},
		{"out of range", []npzArray{format("csr"), shape, values, starts, ints("indices", 4, 0, 2)}, "column index 4"},
		{"negative shape", []npzArray{format("csr"), ints("shape", 2, -4), values, starts, columns}, "2×-4"},
		{"huge shape", []npzArray{format("csr"), ints("shape", 2, 1<<40), values, starts, columns}, "with only 3 values"},
		{"no samples", []npzArray{format("csr"), ints("shape", 0, 4), none, ints("indptr", 0), ints("indices")}, "the 0×4 matrix has no samples"},
		{"fractions", []npzArray{format("csr"), shape, values, starts, {"indices.npy", writeNPY("<f8", false, "(3,)", []float64{3, 0, 1.5})}}, "is 1.5"},
		{"NaN", []npzArray{format("csr"), shape, {"data.npy", writeNPY("<f8", false, "(3,)", []float64{1, math.NaN(), 1})}, starts, columns}, "row 2, column 1: NaN"},
		{"a word of another kind", []npzArray{format("png"), {"data.npy", writeNPY("<f4", false, "(2, 1)", []float32{1, 2})}}, "data"},
	} {
		path := filepath.Join(t.TempDir(), "set.npz")
		writeFile(t, path, writeNPZ(t, test.arrays...))
		s, err := NPZ(path, Options{})
		if test.name == "a word of another kind" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if test.want == "" {
			if err != nil || !cmp.Equal(s.Vectors, want, cmp.AllowUnexported(sparse.CSR{})) {
				t.Errorf("%s: got %v, %v", test.name, s, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one with %q", test.name, err, test.want)
		}
	}
}

func BenchmarkWriteSparse(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	const n, m = 2600, 3200
	s := &Content{Labels: make([]int, n), Classes: []string{"x"}}
	starts, columns, values := []int{0}, []int{}, []float64{}
	for i := range n {
		s.Names = append(s.Names, fmt.Sprintf("scene/image_%04d.jpg", i))
		for j := range m {
			if r.Float64() < 0.15 {
				columns, values = append(columns, j), append(values, r.Float64())
			}
		}
		starts = append(starts, len(values))
	}
	x, err := sparse.New(n, m, starts, columns, values)
	if err != nil {
		b.Fatal(err)
	}
	s.Vectors = x
	for _, ending := range []string{".npz", ".mat", ".csv"} {
		path := filepath.Join(b.TempDir(), "set"+ending)
		b.Run("write"+ending, func(b *testing.B) {
			for b.Loop() {
				if err := Write(b.Context(), path, s); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("read"+ending, func(b *testing.B) {
			for b.Loop() {
				if _, err := Open(b.Context(), path, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestWriteFormulas: no cell of a .csv is a spreadsheet formula, and names are unchanged after reading.
func TestWriteFormulas(t *testing.T) {
	names := []string{"=1+1", "'=1+1", "@a", "-1", "+b", "'c"}
	s := &Content{Names: names, Classes: []string{"+x", "-2", "=HYPERLINK(1)"}, Labels: []int{0, 1, 2, 0, 1, 2},
		Vectors: mat.NewDense(6, 1, []float64{-1, 2, -3, 4, -5, 6})}
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := Write(t.Context(), path, s); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?m)(^|,)([=@]|[+-][^0-9])`).Match(text) {
		t.Errorf("a formula in\n%s", text)
	}
	if !strings.Contains(string(text), "-1,'+x,4\n") || !strings.Contains(string(text), "'=1+1,'+x,-1\n") {
		t.Errorf("numbers and names in\n%s", text)
	}
	got, err := CSV(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names, got.Names); diff != "" {
		t.Error(diff)
	}
	for i, l := range got.Labels {
		if got.Classes[l] != s.Classes[s.Labels[i]] {
			t.Errorf("%s is of class %q, want %q", names[i], got.Classes[l], s.Classes[s.Labels[i]])
		}
	}
}

// endedAfter is a context that ends after n calls of Err.
type endedAfter struct {
	context.Context
	n int
}

func (c *endedAfter) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// countedMatrix counts the calls of At.
type countedMatrix struct {
	mat.Matrix
	asked *int
}

func (c countedMatrix) At(i, j int) float64 {
	*c.asked++
	return c.Matrix.At(i, j)
}

// TestWriteEnds: in each format, writing ends with its context at once, and leaves the old file.
func TestWriteEnds(t *testing.T) {
	const n, m = 3000, 1000
	var dense mat.Dense
	dense.ReuseAs(n, m)
	s := &Content{Names: make([]string, n), Labels: make([]int, n), Classes: []string{"a"}, Vectors: &dense}
	for i := range s.Names {
		s.Names[i] = strconv.Itoa(i)
	}
	var asked int
	for _, ext := range []string{".csv", ".npz", ".mat"} {
		for _, vectors := range []mat.Matrix{&dense, NewBytes(n, m, make([]byte, n*m)), countedMatrix{&dense, &asked}} {
			asked = 0
			dir := t.TempDir()
			path := writeFile(t, filepath.Join(dir, "x"+ext), []byte("before"))
			s.Vectors = vectors
			ctx := &endedAfter{t.Context(), 3}
			if err := Write(ctx, path, s); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: got error %v", ext, err)
			}
			// All values are read once, to check that they are finite.
			if asked > n*m*11/10 {
				t.Errorf("%s: %d of the values are asked for after the end", ext, asked-n*m)
			}
			text, err := os.ReadFile(path)
			if entries, _ := os.ReadDir(dir); err != nil || string(text) != "before" || len(entries) != 1 {
				t.Errorf("%s: it holds %.20q, beside %v, %v", ext, text, entries, err)
			}
		}
	}
}
