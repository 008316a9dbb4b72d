package vectorfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// TestAddingAReader checks that the code in docs/how-to/add-a-reader.md compiles, that an entry of the list of readers
// makes Open read such files, and that a known set can use them.
func TestAddingAReader(t *testing.T) {
	code, err := os.ReadFile("added_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "how-to", "add-a-reader.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), string(code)) {
		t.Error("docs/how-to/add-a-reader.md does not contain added_test.go")
	}
	t.Cleanup(vectorfile.Add(vectorfile.IsMyMatrixMarket, vectorfile.MyMatrixMarket))
	t.Cleanup(catalogue.Add(catalogue.Info{
		Name: "toy", Title: "A toy", Samples: 3, Content: "three vectors",
		Licence: "free", Home: "https://example.org/toy",
		Forms: []catalogue.Form{{From: "raw", VectorFile: "toy.mtx"}},
	}))

	const head = "%%MatrixMarket matrix coordinate real general\n"
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write("toy.mtx", head+"% a remark\n3 3 6\n1 1 0.5\n1 3 2\n2 2 1e-1\n3 1 4\n3 2 5\n3 3 6\n")
	for _, name := range []string{path, "toy", catalogue.SetPrefix + "toy"} {
		set, err := datasets.Open(t.Context(), name, datasets.OpenOptions{Root: dir})
		if err != nil {
			t.Fatal(err)
		}
		x, ok := set.Vectors.(*sparse.CSR)
		if !ok || !mat.Equal(x, mat.NewDense(3, 3, []float64{0.5, 0, 2, 0, 0.1, 0, 4, 5, 6})) {
			t.Errorf("%s: %T %v", name, set.Vectors, set.Vectors)
		}
		if len(set.Classes) != 0 || set.Name != "toy" {
			t.Errorf("%s: classes %v", set.Name, set.Classes)
		}
	}
	for text, want := range map[string]string{
		"2 2 1\n3 1 1\n":     `line 3: "3 1 1" is not in a matrix of 2×2`,
		"2 2 1\n1 x 1\n":     "line 3",
		"2 2 2\n1 1 1\n":     "1 entries, expected 2",
		"9 99999999 1\n":     "line 2: a matrix of 9×99999999",
		"2 2 1\n1 1 1e999\n": "line 3",
	} {
		if _, err := datasets.Open(t.Context(), write("bad", head+text), datasets.OpenOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", text, err, want)
		}
	}
	if _, err := vectorfile.MyMatrixMarket(t.Context(), path, vectorfile.Options{Limit: 200}); err == nil || !strings.Contains(err.Error(), "line 5") {
		t.Errorf("with 200 bytes of memory: %v", err)
	}
}
