package datasets

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

func TestSubset(t *testing.T) {
	set := vectorSet(4, 2, 1, 2, 1, 2, 0, 4, 5, 0, 7, 8)
	set.Classes = []string{"a", "b", "c"}
	set.Labels = []int{2, 0, -1, 1}
	dense := set.Vectors
	for _, vectors := range []mat.Matrix{
		dense,
		vectorfile.NewBytes(4, 2, []uint8{1, 2, 0, 4, 5, 0, 7, 8}),
		sparse.FromEntries(4, 2, []sparse.Entry{
			{Row: 0, Col: 0, Value: 1}, {Row: 0, Col: 1, Value: 2}, {Row: 1, Col: 1, Value: 4},
			{Row: 2, Col: 0, Value: 5}, {Row: 3, Col: 0, Value: 7}, {Row: 3, Col: 1, Value: 8},
		}),
	} {
		set.Vectors = vectors
		got := set.Subset([]int{3, 0, 2})
		if d := cmp.Diff([]string{"v.csv row 4=b", "v.csv row 1=c", "v.csv row 3"}, labelled(got)); d != "" {
			t.Errorf("%T: (-want +got)\n%s", vectors, d)
		}
		if !slices.Equal(got.Classes, []string{"b", "c"}) || got.Height != 1 || got.Width != 2 || got.Name != set.Name {
			t.Errorf("%T: %+v", vectors, got)
		}
		if !mat.Equal(got.Vectors, mat.NewDense(3, 2, []float64{7, 8, 1, 2, 5, 0})) {
			t.Errorf("%T: vectors %v", vectors, mat.Formatted(got.Vectors))
		}
		if none := set.Subset(nil); none.Len() != 0 || len(none.Classes) != 0 {
			t.Errorf("%T: no samples: %+v", vectors, none)
		}
	}
	if !slices.Equal(set.Labels, []int{2, 0, -1, 1}) {
		t.Errorf("the set's own labels became %v", set.Labels)
	}

	files := fileSet()
	got := files.Subset([]int{2, 1})
	if !slices.Equal(got.Files, []string{"c, d.png", "b/1.png"}) || got.Vectors != nil || !slices.Equal(got.Labels, []int{-1, -1}) {
		t.Errorf("files: %+v", got)
	}
}

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
