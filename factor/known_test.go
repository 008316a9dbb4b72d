package factor

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/links"
)

// TestAnyLabels: labels are names, and what a method does depends on nothing but
// which of them are the same. A table with a place for each number up to the
// largest would have 2^40 of them.
func TestAnyLabels(t *testing.T) {
	p := planted(1)
	p.opt.Iterations = 5
	names := []int{1 << 40, 7, math.MaxInt}
	other := make([]int, len(p.known.Labels))
	for i, c := range p.known.Labels {
		other[i] = names[c]
	}
	for _, info := range Methods() {
		m, err := info.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		m = ForImages(m, p.image)
		want, err := m.Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		got, err := m.Fit(context.Background(), p.x, Known{Labels: other}, p.opt)
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		if !mat.Equal(got.Coefficients, want.Coefficients) {
			t.Errorf("%s: other coefficients where the labels are called %v", info.Name, names)
		}
	}
}

func TestClasses(t *testing.T) {
	class, count := links.Known{Labels: []int{5, -1, math.MaxInt, 5, 0}}.Classes()
	if want := []int{0, -1, 1, 0, 2}; !slices.Equal(class, want) || count != 3 {
		t.Errorf("got %v of %d classes, want %v of 3", class, count, want)
	}
}
