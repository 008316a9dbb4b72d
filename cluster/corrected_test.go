package cluster

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// clouds returns n samples of m columns around k distant centres, with the centre of each. The samples of
// the last centre form two nearby parts; the second is labelled k.
func clouds(n, m, k int) (x *mat.Dense, truth []int) {
	src := rand.New(rand.NewPCG(3, 4))
	x = mat.NewDense(n, m, nil)
	for i := range n {
		place := i % (k + 1)
		for j := range m {
			x.Set(i, j, 0.15*src.NormFloat64())
		}
		at := min(place, k-1)
		x.Set(i, at, x.At(i, at)+3)
		if place == k {
			x.Set(i, k, x.At(i, k)+2)
		}
		truth = append(truth, place)
	}
	return x, truth
}

func corrected(t *testing.T, x *mat.Dense, k int, groups []int, known Known) *Correction {
	t.Helper()
	c, err := NewCorrected(x)
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Fit(t.Context(), k, groups, known)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func repeated(n, value int) []int { return slices.Repeat([]int{value}, n) }

// TestCorrectedFollows checks that the correction of one sample also applies to similar samples, that the result
// without corrections is unchanged, and that shares sum to 1.
func TestCorrectedFollows(t *testing.T) {
	x, truth := clouds(120, 8, 3)
	groups := make([]int, 120)
	for i, place := range truth {
		groups[i] = min(place, 2) // the two parts of the last place are one group
	}
	if found := corrected(t, x, 4, groups, Known{}); !slices.Equal(found.Labels, groups) {
		t.Errorf("without labels: got %v, want %v", found.Labels, groups)
	}
	labels := repeated(120, -1)
	labels[3] = 3 // the first sample of the second part
	found := corrected(t, x, 4, groups, Known{Labels: labels})
	if !slices.Equal(found.Labels, truth) {
		t.Errorf("one labelled sample: got %v, want %v", found.Labels, truth)
	}
	for i := range 120 {
		row := found.Shares.RawRowView(i)
		if sum := mat.Sum(found.Shares.RowView(i)); sum < 1-1e-9 || sum > 1+1e-9 || slices.Min(row) < 0 {
			t.Fatalf("shares %v", row)
		}
	}
	if row := found.Shares.RawRowView(3); row[3] != 1 {
		t.Errorf("shares of the labelled sample: got %v, want 1 in cluster 3", row)
	}
	// A cannot-link has the same effect: its samples are in different groups, and similar samples follow them.
	found = corrected(t, x, 4, groups, Known{CannotLink: [][2]int{{2, 3}}})
	if found.Labels[2] == found.Labels[3] {
		t.Error("a link is not held to")
	}
	parts := map[[2]int]int{}
	for i, place := range truth {
		if place >= 2 {
			parts[[2]int{place, found.Labels[i]}]++
		}
	}
	if len(parts) != 2 {
		t.Errorf("a link leaves parts %v", parts)
	}
}

// TestCorrectedProperties checks that the order of samples, the scale of each and the numbers of groups have no
// effect, and that sparse and dense samples give the same result.
func TestCorrectedProperties(t *testing.T) {
	x, truth := clouds(90, 7, 4)
	src := rand.New(rand.NewPCG(5, 6))
	groups, labels := make([]int, 90), repeated(90, -1)
	for i, place := range truth {
		groups[i] = place
		if src.IntN(4) == 0 {
			groups[i] = src.IntN(5) // as no directions make them
		}
		if src.IntN(12) == 0 {
			labels[i] = place
		}
	}
	known := Known{Labels: labels, MustLink: [][2]int{{0, 5}, {7, 12}}, CannotLink: [][2]int{{1, 2}, {20, 30}}}
	if labels[20] >= 0 || labels[30] >= 0 {
		t.Fatal("the linked samples are labelled")
	}
	want := corrected(t, x, 5, groups, known).Labels

	order := src.Perm(90)
	place := make([]int, 90)
	moved, movedGroups, movedLabels := mat.NewDense(90, 7, nil), make([]int, 90), make([]int, 90)
	number := []int{3, 4, 0, 2, 1}
	for to, from := range order {
		place[from] = to
		row := slices.Clone(x.RawRowView(from))
		for j := range row {
			row[j] *= 4 // of all alike, since the mean is of unit rows
		}
		moved.SetRow(to, row)
		movedGroups[to] = number[groups[from]]
		if movedLabels[to] = -1; labels[from] >= 0 {
			movedLabels[to] = number[labels[from]]
		}
	}
	links := func(pairs [][2]int) (out [][2]int) {
		for _, p := range pairs {
			out = append(out, [2]int{place[p[0]], place[p[1]]})
		}
		return out
	}
	got := corrected(t, moved, 5, movedGroups, Known{Labels: movedLabels, MustLink: links(known.MustLink), CannotLink: links(known.CannotLink)}).Labels
	for from, to := range place {
		if got[to] != number[want[from]] {
			t.Fatalf("permuted: sample %d is in %d, not %d", from, got[to], number[want[from]])
		}
	}
	for i, c := range labels {
		if c >= 0 && want[i] != c {
			t.Errorf("labelled sample %d is in cluster %d, want %d", i, want[i], c)
		}
	}
}

// TestCorrectedMistakes checks that each invalid input is one error.
func TestCorrectedMistakes(t *testing.T) {
	x, _ := clouds(12, 5, 2)
	c, err := NewCorrected(x)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"few groups":   func() error { _, err := c.Fit(t.Context(), 2, make([]int, 11), Known{}); return err },
		"a group of 2": func() error { _, err := c.Fit(t.Context(), 2, repeated(12, 2), Known{}); return err },
		"a label of 2": func() error {
			_, err := c.Fit(t.Context(), 2, make([]int, 12), Known{Labels: repeated(12, 2)})
			return err
		},
		"few labels": func() error {
			_, err := c.Fit(t.Context(), 2, make([]int, 12), Known{Labels: repeated(3, 0)})
			return err
		},
		"contradictions": func() error {
			_, err := c.Fit(t.Context(), 2, make([]int, 12), Known{MustLink: [][2]int{{0, 1}}, CannotLink: [][2]int{{0, 1}}})
			return err
		},
		"no groups": func() error { _, err := c.Fit(t.Context(), 0, make([]int, 12), Known{}); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	_, err = c.Fit(t.Context(), 2, make([]int, 12), Known{CannotLink: [][2]int{{0, 1}, {1, 2}, {0, 2}}})
	if !errors.Is(err, ErrDeadEnd) {
		t.Errorf("three samples apart in two groups: %v", err)
	}
	// Rows of zeros and empty groups are valid.
	zeros := mat.NewDense(6, 3, nil)
	zeros.Set(0, 0, 1)
	if found := corrected(t, zeros, 3, make([]int, 6), Known{Labels: []int{0, -1, 2, -1, -1, -1}}); found.Labels[0] != 0 || found.Labels[2] != 2 {
		t.Errorf("of zeros: %v", found.Labels)
	}
}
