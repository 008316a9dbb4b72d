package eval

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConfusion(t *testing.T) {
	truth := []int{0, 0, 0, 1, 1, -1}
	predicted := []int{0, 0, 1, 1, 0, 2}
	c, err := Confusion(truth, predicted, 3)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int{{2, 1, 0}, {1, 1, 0}, {0, 0, 0}}, c); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if got := Accuracy(truth, predicted); got != 0.6 {
		t.Errorf("accuracy %v, want 0.6", got)
	}
	if got := Accuracy([]int{-1}, []int{0}); got != 0 {
		t.Errorf("accuracy of nothing %v, want 0", got)
	}
	for _, predicted := range []int{-1, 2} {
		_, err := Confusion([]int{0, 1}, []int{0, predicted}, 2)
		if err == nil || !strings.Contains(err.Error(), "sample 2") {
			t.Errorf("got error %v, want one that names sample 2", err)
		}
	}
	if _, err := Confusion([]int{2}, []int{0}, 2); err == nil {
		t.Error("a class out of range is no error")
	}
}

// TestConfusionSize checks that an invalid number of classes, or one that is too large for a table, is an error.
func TestConfusionSize(t *testing.T) {
	for _, classes := range []int{-1, 1 << 40} {
		if _, err := Confusion([]int{0}, []int{0}, classes); err == nil {
			t.Errorf("a table of %d classes is made", classes)
		}
	}
}

// TestAnyNumbers checks that the scores depend only on which labels are equal.
func TestAnyNumbers(t *testing.T) {
	truth, assigned := []int{0, 0, 1, 1, 2, 2, -1}, []int{1, 1, 0, 2, 2, 2, 0}
	want := quartetOf(truth, assigned)
	for i, c := range truth {
		if c >= 0 {
			truth[i] = math.MaxInt - c
		}
		assigned[i] = math.MinInt + assigned[i]<<40
	}
	if got := quartetOf(truth, assigned); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
