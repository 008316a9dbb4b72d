package cluster

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// TestStrays: rows on two arcs belong to their groups; rows of random directions, given to one of the
// groups, are strays. The order of the rows does not matter.
func TestStrays(t *testing.T) {
	const near, far, m = 60, 3, 20
	random := rng.New(1, "strays")
	x, groups := mat.NewDense(near+far, m, nil), make([]int, near+far)
	for i := range near + far {
		row := x.RawRowView(i)
		if i < near {
			groups[i] = i % 2
			row[i%2], row[2+i%2] = 1, random.Float64()
			continue
		}
		for j := range row {
			row[j] = random.NormFloat64()
		}
	}
	strays, err := Strays(t.Context(), x, groups, 5)
	if err != nil || slices.Contains(strays[:near], true) || slices.Contains(strays[near:], false) {
		t.Errorf("strays %v, want the last %d: %v", strays, far, err)
	}
	order := random.Perm(near + far)
	permuted, err := Strays(t.Context(), matrix.SelectRows(x, order), matrix.Take(groups, order), 5)
	if err != nil {
		t.Fatal(err)
	}
	for at, i := range order {
		if permuted[at] != strays[i] {
			t.Errorf("row %d is a stray: %v, and %v after a permutation", i, strays[i], permuted[at])
		}
	}
	if all, err := Strays(t.Context(), x, groups, near/2+1); err != nil || slices.Contains(all, false) {
		t.Errorf("a size above the sizes of all groups: %v, %v", all, err)
	}
	if _, err := Strays(t.Context(), x, groups[1:], 5); err == nil || !strings.Contains(err.Error(), "63 samples, but groups has 62 entries") {
		t.Errorf("a missing group: %v", err)
	}
}
