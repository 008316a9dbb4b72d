package vocab

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// An image of 8×4 pixels has a descriptor at each pixel of its two upper rows. Every third pixel has word 1 of two.
func pixels() (*features.Descriptors, *Assigned) {
	d := &features.Descriptors{Dim: 1, Width: 8, Height: 4}
	as := &Assigned{Nearest: 1}
	for i := range 16 {
		d.Vectors = append(d.Vectors, 0)
		d.X, d.Y = append(d.X, float32(i%8)), append(d.Y, float32(i/8))
		word := int32(0)
		if i%3 == 2 {
			word = 1
		}
		as.Words, as.Weights = append(as.Words, word), append(as.Weights, 1)
	}
	return d, as
}

func TestCount(t *testing.T) {
	d, as := pixels()
	// Word 1 is at 2, 5 in the first row of pixels and at 0, 3, 6 in the second.
	for grid, want := range map[string]Histogram{
		"1x1": {[]int{0, 1}, []float64{11, 5}},
		"2x1": {[]int{0, 1}, []float64{11, 5}},
		"1x2": {[]int{0, 1, 2, 3}, []float64{5, 3, 6, 2}},
		"2x2": {[]int{0, 1, 2, 3}, []float64{5, 3, 6, 2}},
		"4x4": {[]int{0, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 14, 15}, []float64{2, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1}},
		"4x2": {[]int{0, 1, 2, 3, 4, 5, 6, 7}, []float64{3, 1, 3, 1, 2, 2, 3, 1}},
		// The whole, then the cells.
		"1x1+1x2": {[]int{0, 1, 2, 3, 4, 5}, []float64{11, 5, 5, 3, 6, 2}},
	} {
		var g Grid
		if err := g.UnmarshalText([]byte(grid)); err != nil {
			t.Fatal(err)
		}
		got, err := g.Count(2, d, as)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", grid, diff)
		}
	}
}

// The histogram of a cell is the sum of the histograms of its subcells. Histograms sum to the number of descriptors,
// also with soft assignment.
func TestPyramidAddsUp(t *testing.T) {
	const words, dim, p = 7, 3, 500
	random := rng.New(1, "pyramid")
	v := wordsOf(randomRows(random, words, dim, words), dim)
	d := &features.Descriptors{Dim: dim, Vectors: randomRows(random, p, dim, words), Width: 93, Height: 61}
	for range p {
		d.X, d.Y = append(d.X, 93*random.Float32()-0.5), append(d.Y, 61*random.Float32()-0.5)
	}
	for _, as := range []Assignment{{}, {Nearest: 3}} {
		var assigned Assigned
		if err := assigner(t, v, as).Assign(&assigned, d); err != nil {
			t.Fatal(err)
		}
		g := Grid{{Rows: 1, Columns: 1}, {Rows: 2, Columns: 2}, {Rows: 4, Columns: 4}}
		h, err := g.Count(words, d, &assigned)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Matrix(g.Len()*words, []Histogram{h})
		if err != nil {
			t.Fatal(err)
		}
		at := func(first, side, row, col, word int) float64 { return x.At(0, (first+row*side+col)*words+word) }
		for word := range words {
			for _, level := range []struct{ first, side, next int }{{0, 1, 1}, {1, 2, 5}} {
				for row := range level.side {
					for col := range level.side {
						var sum float64
						for part := range 4 {
							sum += at(level.next, 2*level.side, 2*row+part/2, 2*col+part%2, word)
						}
						if whole := at(level.first, level.side, row, col, word); math.Abs(whole-sum) > 1e-9 {
							t.Errorf("word %d in cell %d, %d of %d: %v, its parts hold %v", word, row, col, level.side, whole, sum)
						}
					}
				}
			}
		}
		if sum := mat.Sum(x); math.Abs(sum-3*p) > 1e-9 {
			t.Errorf("%v descriptors were counted, want %d on each of 3 levels", sum, p)
		}
	}
}

func TestCells(t *testing.T) {
	g := Grid{{Rows: 4, Columns: 4}}
	for _, test := range []struct {
		x, y          float32
		width, height int
		want          int
	}{
		{0, 0, 256, 256, 0},
		{-0.5, -0.5, 256, 256, 0},
		// Pixels 0 to 63 are the first quarter, which ends half a pixel further.
		{63, 0, 256, 256, 0},
		{63.49, 0, 256, 256, 0},
		{63.5, 0, 256, 256, 1},
		{64, 0, 256, 256, 1},
		{0, 63.5, 256, 256, 4},
		{191.5, 127.5, 256, 256, 11},
		{255, 255, 256, 256, 15},
		{255.5, 255.5, 256, 256, 15},
		// A quarter of 250 pixels is 62½ of them.
		{61.99, 0, 250, 100, 0},
		{62, 0, 250, 100, 1},
		// The middle of an image of one pixel is the border of its 16 cells.
		{0, 0, 1, 1, 10},
		// Places outside.
		{-10, -1e30, 256, 256, 0},
		{1e30, 300, 256, 256, 15},
	} {
		if got := g.AppendCells(nil, test.x, test.y, test.width, test.height); !slices.Equal(got, []int{test.want}) {
			t.Errorf("%v, %v of %d×%d is in cell %v, want %d", test.x, test.y, test.width, test.height, got, test.want)
		}
	}
	if got := (Grid{{Rows: 1, Columns: 1}, {Rows: 2, Columns: 2}, {Rows: 4, Columns: 4}}).AppendCells([]int{-1}, 191.5, 127.5, 256, 256); !slices.Equal(got, []int{-1, 0, 4, 16}) {
		t.Errorf("cells of a pyramid: %v", got)
	}
	if got := Grid(nil).AppendCells(nil, 3, 4, 5, 6); !slices.Equal(got, []int{0}) {
		t.Errorf("cells of the whole image: %v", got)
	}
}

func TestGridOfText(t *testing.T) {
	for s, want := range map[string]Grid{
		"4x4":         {{Rows: 4, Columns: 4}},
		"3x1":         {{Rows: 3, Columns: 1}},
		"1x1+2x2+4x4": {{Rows: 1, Columns: 1}, {Rows: 2, Columns: 2}, {Rows: 4, Columns: 4}},
	} {
		var got Grid
		if err := got.UnmarshalText([]byte(s)); err != nil || !slices.Equal(got, want) || got.String() != s {
			t.Errorf("%q is read as %v", s, got)
		}
	}
	for _, s := range []string{"", "4", "4x", "x4", "4x4+", "0x4", "4x-1", "4x4x4", "2000x1", "4 x 4"} {
		if g := (Grid{{Rows: 3, Columns: 3}}); g.UnmarshalText([]byte(s)) == nil || g.String() != "3x3" {
			t.Errorf("%q is read as %v", s, g)
		}
	}
	if err := new(Grid).UnmarshalText([]byte("1x1+2x0")); err == nil || strings.Count(err.Error(), "2x0") != 1 {
		t.Errorf("%v, want an error that names 2x0 once", err)
	}
	if got := Grid(nil).String(); got != "1x1" {
		t.Errorf("the whole image is %q", got)
	}
	if got := (Grid{{Rows: 4, Columns: 4}}).Len() * 200; got != 3200 {
		t.Errorf("200 words on a 4×4 grid have %d columns", got)
	}
}

func TestCountErrors(t *testing.T) {
	for want, change := range map[string]func(g *Grid, words *int, d *features.Descriptors, as *Assigned){
		"histogram: no descriptors":          func(_ *Grid, _ *int, d *features.Descriptors, _ *Assigned) { *d = features.Descriptors{} },
		"an image of 8×0 pixels":             func(_ *Grid, _ *int, d *features.Descriptors, _ *Assigned) { d.Height = 0 },
		"0 words in each of 1 cells":         func(_ *Grid, words *int, _ *features.Descriptors, _ *Assigned) { *words = 0 },
		"100000000 words in each of 1 cells": func(_ *Grid, words *int, _ *features.Descriptors, _ *Assigned) { *words = 1e8 },
		"with 15 words and 16 weights":       func(_ *Grid, _ *int, _ *features.Descriptors, as *Assigned) { as.Words = as.Words[1:] },
		"with 16 words and 16 weights, 2 f":  func(_ *Grid, _ *int, _ *features.Descriptors, as *Assigned) { as.Nearest = 2 },
	} {
		var g Grid
		words := 2
		d, as := pixels()
		change(&g, &words, d, as)
		_, err := g.Count(words, d, as)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
		if none := d.Len() == 0; errors.Is(err, features.ErrNoDescriptors) != none {
			t.Errorf("error %v is ErrNoDescriptors: %v", err, !none)
		}
	}
}

func TestMatrix(t *testing.T) {
	rows := []Histogram{{[]int{1, 4}, []float64{2, 3}}, {}, {[]int{0}, []float64{5}}}
	x, err := Matrix(5, rows)
	if err != nil {
		t.Fatal(err)
	}
	if want := mat.NewDense(3, 5, []float64{0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0}); !mat.Equal(x, want) {
		t.Errorf("got %v", mat.Formatted(x))
	}
	if _, err := Matrix(4, rows); err == nil {
		t.Error("a column that the matrix does not have was taken")
	}
}

// Cache keys of histograms contain this form of a grid.
func TestGridInKeys(t *testing.T) {
	grid := Grid{{Rows: 1, Columns: 2}, {Rows: 4, Columns: 4}}
	const want = "vocab.Grid vocab.Grid{vocab.Cells{Rows:1, Cols:2}, vocab.Cells{Rows:4, Cols:4}}"
	if got := fmt.Sprintf("%T %#[1]v", grid); got != want {
		t.Errorf("a grid is %s, want %s", got, want)
	}
}
