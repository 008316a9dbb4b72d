package figure

import (
	"errors"
	"strings"
	"testing"
)

// TestRanks: names are at their ranks, and each group has a bar.
func TestRanks(t *testing.T) {
	methods := []string{"kmeans", "a & b", "nmf", "a method with a name that is much too long for a figure of ranks"}
	f, err := Ranks(methods, []float64{2.5, 1, 2.75, 3.75}, [][]int{{0, 2}, {2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	picture, svg := drawn(t, f)
	for _, word := range []string{"kmeans (2.50)", "a &amp; b (1.00)", "nmf (2.75)", ">1<", ">4<"} {
		if !strings.Contains(string(svg), word) {
			t.Errorf("without %q", word)
		}
	}
	if strings.Contains(string(svg), "much too long") || !strings.Contains(string(svg), "…") {
		t.Error("a long name is not shortened")
	}
	with := colours(t, picture)[rgba(0)]
	if f, err = Ranks(methods, []float64{2.5, 1, 2.75, 3.75}, nil); err != nil {
		t.Fatal(err)
	}
	picture, _ = drawn(t, f)
	if without := colours(t, picture)[rgba(0)]; with < 1000 || without > 0 {
		t.Errorf("%d pixels in the colour of bars, and %d without groups", with, without)
	}
	if _, err := Ranks(nil, nil, nil); !errors.Is(err, ErrNoData) {
		t.Errorf("no methods: %v", err)
	}
	if _, err := Ranks(methods[:2], []float64{1.5, 1.5}, [][]int{{0, 1}}); err != nil {
		t.Error(err)
	}
}
