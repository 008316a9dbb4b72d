package datasets

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
)

func TestLargest(t *testing.T) {
	s := &Set{
		Names: []string{"0", "1", "2", "3", "4", "5", "6", "7"}, Classes: []string{"a", "b", "c", "d"},
		Labels: []int{0, 1, 1, 2, 2, 3, 0, -1}, Vectors: mat.NewDense(8, 1, nil),
	}
	for k, want := range [][]string{{}, {"a"}, {"a", "b"}, {"a", "b", "c"}, {"a", "b", "c", "d"}, {"a", "b", "c", "d"}} {
		if k == 0 {
			continue
		}
		if got := s.Largest(k); !cmp.Equal(got.Classes, want) {
			t.Errorf("the %d largest classes are %v, want %v", k, got.Classes, want)
		}
	}
	two := s.Largest(2)
	if diff := cmp.Diff([]string{"0", "1", "2", "6"}, two.Names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 1, 1, 0}, two.Labels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]LeftOut{{Reason: Unlabelled, Count: 1}}, two.LeftOut); diff != "" {
		t.Error(diff)
	}
}
