package datasets

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestCSV(t *testing.T) {
	want := mat.NewDense(2, 3, []float64{1, 2.5, -3, 4, 5e2, 6})
	for _, test := range []struct {
		name, text string
		opt        VectorOptions
		want       string
	}{
		{"numbers", "1,2.5,-3\n4,5e2,6\n", VectorOptions{}, "[] [-1 -1]"},
		{"no last newline", "1,2.5,-3\r\n4,5e2,6", VectorOptions{}, "[] [-1 -1]"},
		{"blanks and empty lines", " 1, 2.5 ,-3\n\n4,5e2, 6\n\n", VectorOptions{}, "[] [-1 -1]"},
		{"semicolons", "1;2.5;-3\n4;5e2;6\n", VectorOptions{}, "[] [-1 -1]"},
		{"tabs", "a\tb\tc\n1\t2.5\t-3\n4\t5e2\t6\n", VectorOptions{}, "[] [-1 -1]"},
		{"header", "a,b,c\n1,2.5,-3\n4,5e2,6\n", VectorOptions{}, "[] [-1 -1]"},
		{"label last", "a,b,c,label\n1,2.5,-3,10\n4,5e2,6,9\n", VectorOptions{}, "[9 10] [1 0]"},
		{"Class first", "Class,a,b,c\nx,1,2.5,-3\n,4,5e2,6\n", VectorOptions{}, "[x] [0 -1]"},
		{"target within", "a,target,b,c\n1,x,2.5,-3\n4,y,5e2,6\n", VectorOptions{}, "[x y] [0 1]"},
		{"numbers as names", "0,1,2,label\n1,2.5,-3,b\n4,5e2,6,a\n", VectorOptions{}, "[a b] [1 0]"},
		{"named", "a,b,c,kind\n1,2.5,-3,b\n4,5e2,6,a\n", VectorOptions{Labels: "kind"}, "[a b] [1 0]"},
		{"quoted", "\"a\",b,c,label\n1,2.5,-3,\"b, or \"\"c\"\"\"\n4,5e2,6,a\n", VectorOptions{}, `[a b, or "c"] [1 0]`},
		{"byte order mark", "\ufefflabel,a,b,c\nx,1,2.5,-3\nx,4,5e2,6\n", VectorOptions{}, "[x] [0 0]"},
		{"images", "1,2.5,-3\n4,5e2,6\n", VectorOptions{Height: 1, Width: 3}, "[] [-1 -1]"},
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
		{"nothing", "", "", "no line holds numbers"},
		{"header alone", "a,b\n", "", "no line holds numbers"},
		{"labels alone", "label\na\nb\n", "", "no line holds numbers"},
		{"word", "a,b\n1,2\n3,x\n", "", `line 3, column 2 (b): "x"`},
		{"word in the first line", "1,2,x\n3,4,5\n", "", `line 1, column 3: "x"`},
		{"empty cell", "a,b\n1,\n", "", `line 2, column 2 (b): ""`},
		{"NaN", "1,2\n3,nan\n", "", `line 2, column 2: "nan"`},
		{"Inf", "1,-Inf\n", "", `line 1, column 2: "-Inf"`},
		{"too large", "1,1e999\n", "", `line 1, column 2: "1e999"`},
		{"short line", "1,2\n3\n", "", "line 2: 1 columns, want 2"},
		{"long line", "a,b\n\n1,2\n3,4,5\n", "", "line 4: 3 columns, want 2"},
		{"two labels", "label,a,class\nx,1,y\n", "", `line 2, column 3 (class): "y"`},
		{"no such column", "a,b,c,d,e,f,g,h,i,j,k,l\n1,2,3,4,5,6,7,8,9,10,11,12\n", "kind", `line 1: no column is called "kind"; the columns are a, b, c, d, e, …, i, j, k, l`},
		{"no names", "1,2\n", "kind", "line 1: no names of columns"},
		{"open quote", "1,\"2\n", "", "set.csv: "},
		{"NUL", "a,b\n1,\x002\n", "", `line 2, column 3: "\x002" is not text in UTF-8`},
		{"Latin-1 class", "class,b\ncaf\xe9,2\n", "", `line 2, column 1: "caf\xe9" is not text in UTF-8`},
		{"Latin-1 heading", "caf\xe9,b\n1,2\n", "", `line 1, column 1: "caf\xe9" is not text in UTF-8`},
		{"long cell", "a,b\n1," + strings.Repeat("9", 5000) + "x\n", "", `999"… is no number`},
	} {
		path := filepath.Join(t.TempDir(), "set.csv")
		writeFile(t, path, []byte(test.text))
		_, err := CSV(path, VectorOptions{Labels: test.labels})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want one with %q and the file", test.name, err, test.want)
		}
	}
}
