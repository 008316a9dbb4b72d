package fitting

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestFixedBasis checks that a basis is read from vectors and from a model, that its values are part of the identity of
// a trial, and that unusable files are errors.
func TestFixedBasis(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	resolve := func(name, path string) (*Method, error) {
		return Resolve(spec.Method{Name: name, FixedBasis: path}, spec.Clustering, spec.Cluster{})
	}
	vectors := write("u.csv", "1,2,3\n4,5,6\n")
	want := mat.NewDense(3, 2, []float64{1, 4, 2, 5, 3, 6})
	var saved strings.Builder
	if err := (&factor.Result{Model: &factor.Additive{Basis: want}, Basis: want, Coefficients: want}).Save(&saved); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, path := range []string{vectors, write("u.npz", saved.String()), write("other.csv", "1,2,3\n4,5,7\n")} {
		m, err := resolve("nmf", path)
		if err != nil {
			t.Fatal(err)
		}
		seen[m.Fixed] = true
		if got := m.Factoriser.(factor.Parts).Fixed; !strings.HasSuffix(path, "other.csv") && !mat.Equal(got, want) {
			t.Errorf("%s has the vectors %v", path, mat.Formatted(got))
		}
	}
	if len(seen) != 2 || seen[""] {
		t.Errorf("the identities are %v", seen)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.csv"):       "none.csv",
		write("negative.csv", "1,2\n3,-4\n"): "value -4 at row 2, column 2",
		write("empty.csv", ""):               "the file is empty",
	} {
		if _, err := resolve("nmf", path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", path, err, want)
		}
	}
	if _, err := resolve("cf", vectors); err == nil || !strings.Contains(err.Error(), "basis free or semi") {
		t.Errorf("cf gives %v", err)
	}
}
