package vectorfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// TestIndexed: the formats of text collections, by Open.
func TestIndexed(t *testing.T) {
	for _, test := range []struct {
		name, text, topics string
		x                  []float64 // of 3 columns
		want               []string
	}{
		{"SVMlight", "# two classes\n+1 1:0.5 3:2 # a remark\n\n-1 qid:4 2:1e-1\n+1 1:4 2:5 3:6\n", "",
			[]float64{0.5, 0, 2, 0, 0.1, 0, 4, 5, 6}, []string{"v.dat row 1=+1", "v.dat row 2=-1", "v.dat row 3=+1"}},
		{"from 0", "earn 0:1 2:2\r\nacq\t1:3\r\nearn 0:4\r\n", "",
			[]float64{1, 0, 2, 0, 3, 0, 4, 0, 0}, []string{"v.dat row 1=earn", "v.dat row 2=acq", "v.dat row 3=earn"}},
		{"several labels", "1 1:1\n1,5 2:1\n 3:7\n5, 1:0 2:1\n1 2:2", "",
			[]float64{1, 0, 0, 0, 1, 0, 0, 0, 7, 0, 1, 0, 0, 2, 0}, []string{"v.dat row 1=1", "v.dat row 2", "v.dat row 3", "v.dat row 4=5", "v.dat row 5=1"}},
		{"documents", "2286  1:0.5 2:0.5\n2287  3:1\n2288  1:1\n", "",
			[]float64{0.5, 0.5, 0, 0, 0, 1, 1, 0, 0}, []string{"2286", "2287", "2288"}},
		{"documents with topics", "2286  1:0.5 2:0.5\n2287  3:1\n2288  1:1\n", "earn 2286 1\nacq 2287 1\ntrade 2287 1\nacq 9999 1\nearn 2288 0\ncocoa 2288 1\n",
			[]float64{0.5, 0.5, 0, 0, 0, 1, 1, 0, 0}, []string{"2286=earn", "2287", "2288=cocoa"}},
		{"RCV1", "2286  1:0.5 2:0.5\n2287  3:1\n2288  1:1\n", "C15 2286 1\nCCAT 2286 1\nC151 2286 1\nCCAT 2287 1\nMCAT 2287 1\nG12 2288 1\nGCAT 2288 1\n",
			[]float64{0.5, 0.5, 0, 0, 0, 1, 1, 0, 0}, []string{"2286=CCAT", "2287", "2288=GCAT"}},
	} {
		for _, packed := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "a[b")
			text, topics := []byte(test.text), []byte(test.topics)
			if packed {
				text, topics = gzipped(t, text), gzipped(t, topics)
			}
			path := writeFile(t, filepath.Join(dir, "v.dat"), text)
			if test.topics != "" {
				name := "rcv1-v2.topics.qrels"
				if packed {
					name += ".gz"
				}
				writeFile(t, filepath.Join(dir, name), topics)
			}
			set, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
				continue
			}
			x, ok := set.Vectors.(*sparse.CSR)
			if !ok || !mat.Equal(x, mat.NewDense(len(test.x)/3, 3, test.x)) {
				t.Errorf("%s: %T\n%v", test.name, set.Vectors, mat.Formatted(set.Vectors))
			}
			if d := cmp.Diff(test.want, labelled(set)); d != "" {
				t.Errorf("%s: (-want +got)\n%s", test.name, d)
			}
		}
	}
}

func TestIndexedErrors(t *testing.T) {
	for _, test := range []struct{ text, topics, want string }{
		{"a 1:2\nb 2\n", "", `line 2: "2": expected index:value such as 17:0.5, with a finite value`},
		{"a 1:2\nb 3:1 3:1\n", "", `line 2: the index of "3:1" follows 3; indices must increase along a line`},
		{"a 1:2\nb 3:1 2:1\n", "", `line 2: the index of "2:1" follows 3; indices must increase along a line`},
		{"a 1:2\nb 1:1e999\n", "", `line 2: "1:1e999"`},
		{"a 1:2\nb 1:NaN\n", "", `line 2: "1:NaN"`},
		{"a 1:2\nb 9999999:1\n", "", `line 2: the index of "9999999:1" is outside 0 to 1048576`},
		{"a 1:2\nb -1:1\n", "", `line 2: the index of "-1:1"`},
		{"a 1:2\n\xff 1:1\n", "", `line 2: the label "\xff" is not UTF-8`},
		{"a 1:2\nb 1:1\n", "earn a\n", `topics.qrels: line 1: "earn a": expected topic, document and 1`},
		{"a 1:2\nb 1:1\n", "earn a 1\nearn b 2\n", `topics.qrels: line 2`},
	} {
		dir := t.TempDir()
		path := writeFile(t, filepath.Join(dir, "v.dat"), []byte(test.text))
		if test.topics != "" {
			writeFile(t, filepath.Join(dir, "topics.qrels"), []byte(test.topics))
		}
		if _, err := Open(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%q: got error %v, want one with %q", test.text, err, test.want)
		}
	}
	dir := t.TempDir()
	path := writeFile(t, filepath.Join(dir, "v.dat"), []byte("a 1:2\nb 1:1\n"))
	for _, name := range []string{"a.qrels", "b.qrels"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("earn a 1\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Indexed(path, Options{}); err == nil || !strings.Contains(err.Error(), "several topic files beside it (") {
		t.Errorf("two files of topics: %v", err)
	}
	if _, err := Indexed(path, Options{Limit: 300}); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("with 300 bytes of memory: %v", err)
	}
}
