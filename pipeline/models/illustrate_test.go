package models

import (
	"image"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/vocab"
)

// TestPartsOf counts on a grid of two cells with two words.
func TestPartsOf(t *testing.T) {
	d := &features.Descriptors{
		X: []float32{2, 7, 2, 7}, Y: []float32{1, 1, 1, 1}, Scale: []float32{1, 1, 2, 1}, Width: 10, Height: 3,
	}
	words := &vocab.Assigned{Nearest: 1, Words: []int32{0, 0, 1, 1}}
	basis := mat.NewDense(4, 2, []float64{
		3, 1, // the left cell, word 0
		1, 1, // word 1: as much of the one as of the other
		0, 0, // the right cell, word 0: nothing
		1, 4,
	})
	got := partsOf(vocab.Grid{{Rows: 1, Columns: 2}}, 2, basis, d, words)
	want := []Patch{
		{X: 2, Y: 1, Side: 4, Part: 0, Share: 0.75},
		{X: 7, Y: 1, Side: 4, Part: 1, Share: 0.8},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestPartsAt has four places of two values each.
func TestPartsAt(t *testing.T) {
	basis := mat.NewDense(8, 2, []float64{
		3, 1, // upper left
		0, 1,
		1, 1, // upper right: as much of the one as of the other
		1, 1,
		2, 0, // lower left: the photograph has nothing there
		2, 0,
		0, 1, // lower right
		9, 2,
	})
	x := []float64{2, 0, 1, 1, 0, 0, 1, 0}
	// Of the first place the parts have 1·6 and 2·2, of the second 2 and 4, of the last 0 and 2.
	got := partsAt(features.Cells{Rows: 2, Columns: 2}, image.Rect(10, 0, 30, 20), x, basis, []float64{1, 2})
	want := []Patch{
		{X: 14.5, Y: 4.5, Side: 10, Part: 0, Share: 0.6},
		{X: 24.5, Y: 4.5, Side: 10, Part: 1, Share: 4. / 6},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := partsAt(features.Cells{Rows: 2, Columns: 2}, image.Rectangle{}, x, basis, []float64{1, 2}); got != nil {
		t.Errorf("%v of no part of the image", got)
	}
	if got := partsAt(features.Cells{Rows: 2, Columns: 2}, image.Rect(0, 0, 9, 9), x, basis, []float64{0, 0}); got != nil {
		t.Errorf("%v of parts that are not used", got)
	}
}
