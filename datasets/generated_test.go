package datasets

import (
	"bytes"
	"cmp"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
)

func TestGenerated(t *testing.T) {
	set := Generated(1)
	n, m := set.Vectors.Dims()
	if n != 720 || m != 1024 || set.Len() != n || len(set.Labels) != n || set.Height != 32 || set.Width != 32 {
		t.Fatalf("%d×%d vectors, %d names, %d labels, images of %d×%d", n, m, set.Len(), len(set.Labels), set.Height, set.Width)
	}
	if len(set.Classes) != 20 || !slices.IsSorted(set.Classes) || len(slices.Compact(slices.Sorted(slices.Values(set.Names)))) != n {
		t.Errorf("classes %q, names %q", set.Classes, set.Names)
	}
	for i, l := range set.Labels {
		if l != i/36 {
			t.Fatalf("sample %d has the label %d", i, l)
		}
	}
	if got := set.Names[37]; got != "boat/010" {
		t.Errorf("sample 37 is called %q", got)
	}

	if again := Generated(1); !bytes.Equal(again.Vectors.(*vectorfile.Bytes).Values(), set.Vectors.(*vectorfile.Bytes).Values()) {
		t.Error("the same seed made another set")
	}
	other := Generated(2)
	if bytes.Equal(other.Vectors.(*vectorfile.Bytes).Values(), set.Vectors.(*vectorfile.Bytes).Values()) {
		t.Error("another seed made the same set")
	}
}

// The set is of use if it is neither too easy nor hopeless: nearly every image
// has one of its own object as its nearest, but many have strangers nearer
// than the object's other side.
func TestGeneratedIsHardEnough(t *testing.T) {
	set := Generated(1)
	n, m := set.Vectors.Dims()
	unit := make([][]float64, n)
	for i := range unit {
		unit[i] = make([]float64, m)
		for j, v := range set.Vectors.(*vectorfile.Bytes).Row(i) {
			unit[i][j] = float64(v)
		}
		length := floats.Norm(unit[i], 2)
		if length < 255 {
			t.Fatalf("%s is all but black", set.Names[i])
		}
		floats.Scale(1/length, unit[i])
	}
	nearestOwn, fullyOwn := 0, 0
	for i := range n {
		near := make([]int, 0, n)
		cosine := make([]float64, n)
		for j := range n {
			cosine[j] = floats.Dot(unit[i], unit[j])
			near = append(near, j)
		}
		slices.SortFunc(near, func(a, b int) int { return cmp.Compare(cosine[b], cosine[a]) })
		own := func(j int) bool { return set.Labels[j] == set.Labels[i] }
		if own(near[1]) {
			nearestOwn++
		}
		if !slices.ContainsFunc(near[1:36], func(j int) bool { return !own(j) }) {
			fullyOwn++
		}
	}
	if nearestOwn < n*95/100 {
		t.Errorf("only %d of %d images have one of their own object as nearest", nearestOwn, n)
	}
	if fullyOwn > n/2 {
		t.Errorf("%d of %d images are nearer to all of their own object than to any other", fullyOwn, n)
	}
}
