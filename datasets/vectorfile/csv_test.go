package vectorfile

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
)

func TestCSV(t *testing.T) {
	want := mat.NewDense(2, 3, []float64{1, 2.5, -3, 4, 5e2, 6})
	for _, test := range []struct {
		name, text string
		opt        Options
		want       string
	}{
		{"numbers", "1,2.5,-3\n4,5e2,6\n", Options{}, "[] [-1 -1]"},
		{"no last newline", "1,2.5,-3\r\n4,5e2,6", Options{}, "[] [-1 -1]"},
		{"blanks and empty lines", " 1, 2.5 ,-3\n\n4,5e2, 6\n\n", Options{}, "[] [-1 -1]"},
		{"semicolons", "1;2.5;-3\n4;5e2;6\n", Options{}, "[] [-1 -1]"},
		{"tabs", "a\tb\tc\n1\t2.5\t-3\n4\t5e2\t6\n", Options{}, "[] [-1 -1]"},
		{"header", "a,b,c\n1,2.5,-3\n4,5e2,6\n", Options{}, "[] [-1 -1]"},
		{"the label last is not UTF-8", "a,b,c,label\n1,2.5,-3,10\n4,5e2,6,9\n", Options{}, "[9 10] [1 0]"},
		{"Class first", "Class,a,b,c\nx,1,2.5,-3\n,4,5e2,6\n", Options{}, "[x] [0 -1]"},
		{"target within", "a,target,b,c\n1,x,2.5,-3\n4,y,5e2,6\n", Options{}, "[x y] [0 1]"},
		{"numbers as names", "0,1,2,label\n1,2.5,-3,b\n4,5e2,6,a\n", Options{}, "[a b] [1 0]"},
		{"named", "a,b,c,kind\n1,2.5,-3,b\n4,5e2,6,a\n", Options{Labels: "kind"}, "[a b] [1 0]"},
		{"quoted", "\"a\",b,c,label\n1,2.5,-3,\"b, or \"\"c\"\"\"\n4,5e2,6,a\n", Options{}, `[a b, or "c"] [1 0]`},
		{"byte order mark", "\ufefflabel,a,b,c\nx,1,2.5,-3\nx,4,5e2,6\n", Options{}, "[x] [0 0]"},
		{"images", "1,2.5,-3\n4,5e2,6\n", Options{Height: 1, Width: 3}, "[] [-1 -1]"},
	} {
		for _, zip := range []bool{false, true} {
			data := []byte(test.text)
			if zip {
				data = gzipped(t, data)
			}
			path := filepath.Join(t.TempDir(), "set.csv")
			writeFile(t, path, data)
			s, err := CSV(path, test.opt)
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
				continue
			}
			checkSet(t, s)
			if got := fmt.Sprintf("%v %v", s.Classes, s.Labels); got != test.want {
				t.Errorf("%s: classes and labels %s, want %s", test.name, got, test.want)
			}
			if !mat.Equal(s.Vectors, want) || s.Height != test.opt.Height {
				t.Errorf("%s: got %v, height %d", test.name, mat.Formatted(s.Vectors), s.Height)
			}
		}
	}
}

func TestCSVRefuses(t *testing.T) {
	for _, test := range []struct{ name, text, labels, want string }{
		{"nothing", "", "", "no line has numbers"},
		{"header alone", "a,b\n", "", "no line has numbers"},
		{"labels alone", "label\na\nb\n", "", "no line has numbers"},
		{"word", "a,b\n1,2\n3,x\n", "", `line 3: column 2 (b): "x"`},
		{"word in the first line", "1,2,x\n3,4,5\n", "", `line 1: column 3: "x"`},
		{"empty cell", "a,b\n1,\n", "", `line 2: column 2 (b): ""`},
		{"NaN", "1,2\n3,nan\n", "", `line 2: column 2: "nan"`},
		{"Inf", "1,-Inf\n", "", `line 1: column 2: "-Inf"`},
		{"too large", "1,1e999\n", "", `line 1: column 2: "1e999"`},
		{"short line", "1,2\n3\n", "", "line 2: 1 columns, expected 2 as in the first line"},
		{"long line", "a,b\n\n1,2\n3,4,5\n", "", "line 4: 3 columns, expected 2 as in the first line"},
		{"two labels", "label,a,class\nx,1,y\n", "", `line 2: column 3 (class): "y"`},
		{"no such column", "a,b,c,d,e,f,g,h,i,j,k,l\n1,2,3,4,5,6,7,8,9,10,11,12\n", "kind", `line 1: no column is called "kind"; the columns are a, b, c, d, e, …, i, j, k, l`},
		{"no column names, so no column is called", "1,2\n", "kind", "line 1: no column names, so no column is called"},
		{"open quote", "1,\"2\n", "", "set.csv: "},
		{"NUL", "a,b\n1,\x002\n", "", `line 2, column 3: "\x002" is not UTF-8`},
		{"Latin-1 class", "class,b\ncaf\xe9,2\n", "", `line 2, column 1: "caf\xe9" is not UTF-8`},
		{"Latin-1 heading", "caf\xe9,b\n1,2\n", "", `line 1, column 1: "caf\xe9" is not UTF-8`},
		{"long cell", "a,b\n1," + strings.Repeat("9", 5000) + "x\n", "", `999"… is not a finite number`},
	} {
		path := filepath.Join(t.TempDir(), "set.csv")
		writeFile(t, path, []byte(test.text))
		_, err := CSV(path, Options{Labels: test.labels})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want one with %q and the file", test.name, err, test.want)
		}
	}
}

func writeFile(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// labelled lists the samples as name=class.
func labelled(s *Content) []string {
	out := make([]string, s.Len())
	for i, name := range s.Names {
		out[i] = name
		if l := s.Labels[i]; l >= 0 {
			out[i] += "=" + s.Classes[l]
		}
	}
	return out
}

func openFile(path string, opt Options) (*Content, error) {
	return Open(context.Background(), path, opt)
}

// The content of a file decides how it is read, not its name.
func TestOpenFile(t *testing.T) {
	want := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	idx := writeIDX(8, []uint32{2, 2}, []uint8{1, 2, 3, 4})
	npy := writeNPY("|u1", false, "(2, 2)", []uint8{1, 2, 3, 4})
	for name, data := range map[string][]byte{
		"MAT": writeMAT(binary.LittleEndian, true, doubles("fea", 2, 2, 1, 3, 2, 4)), "big-endian MAT": writeMAT(binary.BigEndian, false, doubles("fea", 2, 2, 1, 3, 2, 4)),
		"IDX": idx, "gzipped IDX": gzipped(t, idx), "NPY": npy, "NPZ": writeNPZ(t, npzArray{"X.npy", npy}),
		"CSV": []byte("1,2\n3,4\n"), "gzipped CSV": gzipped(t, []byte("a,b\n1,2\n3,4\n")),
	} {
		path := filepath.Join(t.TempDir(), "file.data")
		writeFile(t, path, data)
		s, err := Open(t.Context(), path, Options{Height: 1, Width: 2})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkSet(t, s)
		if !mat.Equal(s.Vectors, want) || s.Name != "file" || s.Height != 1 || s.Width != 2 {
			t.Errorf("%s: %s holds %d×%d images %v", name, s.Name, s.Height, s.Width, mat.Formatted(s.Vectors))
		}
	}
}

// The name of a file, and names in it, are readable text.
func TestNamesOfBytes(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"\xe9.csv": []byte("1,2\n3,4\n"), "\xe9.npy": writeNPY("|u1", false, "(2, 1)", []uint8{1, 2}),
	} {
		s, err := openFile(writeFile(t, filepath.Join(dir, name), data), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != `\xe9` || !slices.Equal(s.Names, []string{`\xe9` + name[1:] + " row 1", `\xe9` + name[1:] + " row 2"}) {
			t.Errorf("%q: the set %q of %q", name, s.Name, s.Names)
		}
	}
	// NumPy's byte strings hold any bytes.
	path := writeFile(t, filepath.Join(dir, "x.npz"), writeNPZ(t,
		npzArray{"X.npy", writeNPY("|u1", false, "(2, 1)", []uint8{1, 2})},
		npzArray{"y.npy", writeNPY("|S1", false, "(2,)", []byte("\xe9\xe8"))},
		npzArray{"names.npy", writeNPY("|S2", false, "(2,)", []byte("a\xffb\xff"))}))
	s, err := NPZ(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(s.Classes, []string{`\xe8`, `\xe9`}) || !cmp.Equal(s.Names, []string{`a\xff`, `b\xff`}) {
		t.Errorf("classes %q, names %q", s.Classes, s.Names)
	}
}
