package features

import "math"

// orientations is the number of directions of gradients, 45° apart, counter-clockwise from the right.
const orientations = 8

// gradient is the gradient at one pixel, its magnitude shared linearly between the two orientations beside it.
// One of these is always along an axis (0, 2, 4, 6) and the other along a diagonal, since they are 45° apart.
type gradient struct {
	axisPart, diagonalPart float32
	axis, diagonal         uint8
}

// octants holds the orientations beside a gradient by the signs of its parts (bits 0 and 1: x and y are
// negative) and by which is longer (bit 2: y).
var octants = [8]struct{ axis, diagonal uint8 }{
	{0, 1}, {4, 3}, {0, 7}, {4, 5},
	{2, 1}, {2, 3}, {6, 7}, {6, 5},
}

// atanSteps makes angles right to 1/1500 of 45°, far below what a descriptor's byte shows.
const atanSteps = 1024

// atanTable holds the angle of the slope i/atanSteps as a part of 45°.
var atanTable = func() (table [atanSteps + 1]float32) {
	for i := range table {
		table[i] = float32(math.Atan(float64(i)/atanSteps) * 4 / math.Pi)
	}
	return table
}()

// gradients writes the gradients of the row between above and below, of pixel j+1 to out[j]: differences over
// two pixels, not halved. It has no branch, since none could be predicted.
func gradients(out []gradient, above, row, below []float32) {
	n := len(out)
	above, below = above[1:n+1], below[1:n+1]
	left, right := row[:n], row[2:n+2]
	for j := range out {
		dx, dy := right[j]-left[j], above[j]-below[j]
		const sign = 1 << 31
		bx, by := math.Float32bits(dx), math.Float32bits(dy)
		// The bits of positive numbers are ordered as the numbers are.
		ax, ay := bx&^sign, by&^sign
		// The 1 is the least number above 0: no gradient has the slope 0.
		short, long := math.Float32frombits(min(ax, ay)), math.Float32frombits(max(ax, ay, 1))
		octant := octants[bx>>31|by>>31<<1|(ax-ay)>>31<<2]
		length := float32(math.Sqrt(float64(dx*dx + dy*dy)))
		diagonal := length * atanTable[int(short/long*atanSteps+0.5)]
		out[j] = gradient{length - diagonal, diagonal, octant.axis, octant.diagonal}
	}
}
