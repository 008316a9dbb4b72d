package factor

import (
	"errors"
	"testing"
)

// TestLDAByMeans: the class means alone lead to the directions that the scatters lead to.
func TestLDAByMeans(t *testing.T) {
	compared := 0
	for seed := range uint64(40) {
		p := classProblem(seed)
		d, err := newDiscriminant(t.Context(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		a, y, err := d.reduced(t.Context(), 0.9, len(d.sizes))
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.byMeans(t.Context(), a.sigma, y, len(d.sizes)-1)
		if errors.Is(err, errNearlySingular) {
			continue
		}
		want, plain := d.byScatters(t.Context(), y, len(d.sizes)-1)
		if err != nil || plain != nil {
			t.Fatal(err, plain)
		}
		sameUpToSigns(t, p.String(), got, want, 1e-9)
		compared++
	}
	if compared < 20 {
		t.Errorf("of 40 problems %d have scatter within classes in all directions", compared)
	}
}
