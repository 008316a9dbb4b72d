package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWindowWidth: registers of any width give the same bytes.
func TestWindowWidth(t *testing.T) {
	if !wide {
		t.Skip("this processor has no AVX-512")
	}
	defer func() { wide = true }()
	src := rand.New(rand.NewPCG(3, 4))
	const windows, columns, taps, depth = 11, 24, 3, 19
	x, at := numbers(500, src.Float32), numbers(windows*taps, func() int32 { return src.Int32N(400) })
	w, bias := numbers(taps*depth*columns, src.Float32), numbers(columns, src.Float32)
	deep := numbers(taps*columns, src.Float32)
	var got [2][]float32
	for i := range got {
		wide = i == 0
		tile, _ := WindowTile()
		width := WindowColumns(columns)
		wider, tiled := make([]float32, taps*depth*width), make([]int32, (windows+tile-1)/tile*tile*taps)
		for d := range taps * depth {
			copy(wider[d*width:], w[d*columns:][:columns])
		}
		for r := range windows {
			for s := range taps {
				tiled[r/tile*tile*taps+s*tile+r%tile] = at[r*taps+s]
			}
		}
		got[i] = make([]float32, 2*windows*columns)
		Windows(got[i], columns, columns, x, tiled, windows, taps, depth, wider, append(slices.Clone(bias), make([]float32, width-columns)...), &windowBounds[0])
		Depthwise(got[i][windows*columns:], x, at, taps, deep, bias, &windowBounds[0])
	}
	if !slices.Equal(got[0], got[1]) {
		t.Error("other numbers")
	}
	wide = false
	checkWindows(t)
	checkDepthwise(t)
}
