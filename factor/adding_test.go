package factor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAddingPages: what docs/adding-a-*.md show is what is compiled here.
func TestAddingPages(t *testing.T) {
	for _, part := range []string{"method", "penalty", "solver"} {
		code, err := os.ReadFile("added_" + part + "_test.go")
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join("..", "docs", "adding-a-"+part+".md"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), string(code)) {
			t.Errorf("docs/adding-a-%s.md shows another file than added_%s_test.go", part, part)
		}
	}
}

// TestAddingAMethod: the registry entry makes a method of it, and it does what it says.
func TestAddingAMethod(t *testing.T) {
	info := Info{Name: "nnsc", Title: "Non-negative sparse coding", Family: "NMF", zero: NNSC{}}
	p := randomProblem(3, false)
	sums := map[float64]float64{}
	for _, lambda := range []float64{0, 1, 10} {
		m, err := info.New(map[string]any{"lambda": lambda})
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		n, k := res.Coefficients.Dims()
		for i := range n {
			for r := range k {
				sums[lambda] += res.Coefficients.At(i, r)
			}
		}
	}
	if !(sums[0] > sums[1] && sums[1] > sums[10]) {
		t.Errorf("coefficients sum to %v by λ; more λ should make them fewer", sums)
	}
	if _, err := (NNSC{Lambda: -2}).Fit(context.Background(), p.x, p.known, p.opt); err == nil {
		t.Error("a negative weight is taken")
	}
}
