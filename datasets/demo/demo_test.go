package demo

import (
	"bytes"
	"cmp"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func TestImages(t *testing.T) {
	pixels, names, classes, labels := Images(1)
	n := len(names)
	if n != 720 || len(pixels) != n*Side*Side || len(labels) != n {
		t.Fatalf("%d pixels, %d names, %d labels", len(pixels), n, len(labels))
	}
	if len(classes) != 20 || !slices.IsSorted(classes) || len(slices.Compact(slices.Sorted(slices.Values(names)))) != n {
		t.Errorf("classes %q, names %q", classes, names)
	}
	for i, l := range labels {
		if l != i/36 {
			t.Fatalf("sample %d has the label %d", i, l)
		}
	}
	if names[37] != "boat/010" {
		t.Errorf("sample 37 is called %q", names[37])
	}
	if again, _, _, _ := Images(1); !bytes.Equal(again, pixels) {
		t.Error("the same seed made other images")
	}
	if other, _, _, _ := Images(2); bytes.Equal(other, pixels) {
		t.Error("another seed made the same images")
	}
}

// The set is neither too easy nor hopeless: nearly every image has its nearest neighbour in its own object, but many
// are nearer to other objects than to their object's other side.
func TestImagesAreHardEnough(t *testing.T) {
	const m = Side * Side
	pixels, names, _, labels := Images(1)
	n := len(names)
	unit := make([][]float64, n)
	for i := range unit {
		unit[i] = make([]float64, m)
		for j, v := range pixels[i*m:][:m] {
			unit[i][j] = float64(v)
		}
		length := floats.Norm(unit[i], 2)
		if length < 255 {
			t.Fatalf("%s is all but black", names[i])
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
		own := func(j int) bool { return labels[j] == labels[i] }
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
