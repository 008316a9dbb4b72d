// Package demo draws the images of the generated set, which needs no download.
package demo

import (
	"fmt"
	"math"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// Side is the height and the width of an image.
const Side = 32

const views = 36

// Images returns 20 objects (an aeroplane, a boat, a bottle …) in 36 views, 10 degrees
// apart: 720 grey images of 32×32 pixels on black, one after the other, each with a name
// and the index of its class. The direction and strength of the light vary from view to
// view, and there is a little noise. The same seed makes the same images.
func Images(seed uint64) (pixels []uint8, names, classes []string, labels []int) {
	const m = Side * Side
	pixels = make([]uint8, len(objects)*views*m)
	for c, thing := range objects {
		classes = append(classes, thing.name)
		for v := range views {
			thing.draw(pixels[len(names)*m:][:m], v, seed)
			names = append(names, fmt.Sprintf("%s/%03d", thing.name, v*360/views))
			labels = append(labels, c)
		}
	}
	return pixels, names, classes, labels
}

// object is made of solids in the ball of radius 1 around the origin, y up.
type object struct {
	name   string
	solids []solid
}

// solid is a row of equal round bodies from at−half to at+half. Each has the radius r
// around an upright axis and reaches h up and down: ρ²/r² + (y/h)^power = 1, with the
// power 2 a ball, with a high one a column.
type solid struct {
	x, y, z, dx, dy, dz float64
	r, h, power, grey   float64
}

// draw draws the object, turned by v views, into the pixels of one image.
func (o object) draw(pixels []uint8, v int, seed uint64) {
	const bodies, frame, ambient, noise = 8, 1.1, 0.3, 0.02
	random := rng.New(seed, "generated", o.name, v)
	sin, cos := math.Sincos(2 * math.Pi * float64(v) / views)
	sinA, cosA := math.Sincos((2*random.Float64() - 1) * math.Pi / 3) // light from the left or the right
	sinH, cosH := math.Sincos((20 + 45*random.Float64()) * math.Pi / 180)
	strength := 0.8 + 0.5*random.Float64()
	var depth, shade [Side * Side]float64
	for _, s := range o.solids {
		count := 1
		if s.dx != 0 || s.dy != 0 || s.dz != 0 {
			count = bodies
		}
		for b := range count {
			along := 0.0
			if count > 1 {
				along = 2*float64(b)/(bodies-1) - 1
			}
			x, y, z := s.x+along*s.dx, s.y+along*s.dy, s.z+along*s.dz
			x, z = x*cos+z*sin, z*cos-x*sin
			for i := range pixels {
				px := frame * ((2*float64(i%Side)+1)/Side - 1)
				py := frame * (1 - (2*float64(i/Side)+1)/Side)
				right, up := (px-x)/s.r, (py-y)/s.h
				if math.Abs(right) >= 1 || math.Abs(up) >= 1 {
					continue
				}
				ahead := math.Sqrt(max(0, 1-right*right-elementary.Pow(math.Abs(up), s.power)))
				if ahead == 0 {
					continue
				}
				if at := 2 + z + s.r*ahead; at > depth[i] { // all of the object is before -2
					nx, ny, nz := right/s.r, math.Copysign(s.power/2*elementary.Pow(math.Abs(up), s.power-1), up)/s.h, ahead/s.r
					lit := (nx*cosH*sinA + ny*sinH + nz*cosH*cosA) / math.Sqrt(nx*nx+ny*ny+nz*nz)
					depth[i], shade[i] = at, s.grey*(ambient+strength*max(0, lit))
				}
			}
		}
	}
	for i := range pixels {
		pixels[i] = uint8(math.Round(255 * min(max(shade[i]+noise*random.NormFloat64(), 0), 1)))
	}
}

// objects are in the order of their names.
var objects = []object{
	{"aeroplane", []solid{
		{0, 0, 0, 0.75, 0, 0, 0.18, 0.18, 2, 0.85}, {0.1, 0, 0, 0, 0, 0.8, 0.17, 0.04, 2, 0.6},
		{-0.8, 0.2, 0, 0, 0.12, 0, 0.1, 0.12, 2, 0.45}, {-0.8, 0.05, 0, 0, 0, 0.28, 0.1, 0.04, 2, 0.6},
	}},
	{"boat", []solid{
		{0, -0.6, 0, 0, 0, 0.65, 0.3, 0.2, 2, 0.55}, {0, 0.1, 0, 0, 0, 0, 0.05, 0.75, 8, 0.5},
		{0, 0.2, 0.3, 0, 0, 0.22, 0.06, 0.45, 2, 0.95}, {0, 0.1, -0.25, 0, 0, 0.15, 0.06, 0.35, 2, 0.8},
	}},
	{"bottle", []solid{
		{0, -0.35, 0, 0, 0, 0, 0.38, 0.55, 6, 0.6}, {0, 0.55, 0, 0, 0, 0, 0.14, 0.4, 8, 0.6},
		{0, -0.4, 0.2, 0.1, 0, 0, 0.22, 0.25, 8, 0.95},
	}},
	{"camera", []solid{
		{0, -0.05, 0, 0.55, 0, 0, 0.25, 0.45, 8, 0.45}, {0, -0.08, 0.35, 0, 0, 0.15, 0.3, 0.3, 2, 0.6},
		{0, -0.08, 0.75, 0, 0, 0, 0.16, 0.18, 2, 0.15}, {-0.1, 0.5, 0, 0.1, 0, 0, 0.16, 0.15, 6, 0.75},
	}},
	{"car", []solid{
		{0, -0.2, 0, 0.65, 0, 0, 0.35, 0.2, 4, 0.75}, {-0.1, 0.1, 0, 0.3, 0, 0, 0.3, 0.25, 2, 0.3},
		{0.55, -0.42, 0, 0, 0, 0.35, 0.2, 0.2, 2, 0.2}, {-0.55, -0.42, 0, 0, 0, 0.35, 0.2, 0.2, 2, 0.2},
	}},
	{"cat", []solid{
		{-0.1, -0.2, 0, 0.3, 0, 0, 0.3, 0.3, 2, 0.65}, {0.55, 0.25, 0, 0, 0, 0, 0.28, 0.27, 2, 0.75},
		{0.53, 0.5, 0, 0, 0, 0.15, 0.07, 0.14, 2, 0.75}, {-0.7, 0.2, 0, -0.1, 0.4, 0, 0.08, 0.1, 2, 0.5},
		{0.25, -0.6, 0, 0, 0, 0.16, 0.1, 0.3, 8, 0.6}, {-0.4, -0.6, 0, 0, 0, 0.16, 0.1, 0.3, 8, 0.6},
	}},
	{"chair", []solid{
		{0, -0.1, 0, 0.3, 0, 0.3, 0.25, 0.07, 6, 0.7}, {0, -0.1, 0, 0.3, 0, -0.3, 0.25, 0.07, 6, 0.7},
		{-0.45, 0.4, 0, 0, 0, 0.4, 0.07, 0.5, 8, 0.85}, {0.42, -0.52, 0.4, 0, 0, 0, 0.07, 0.4, 8, 0.5},
		{-0.42, -0.52, 0.4, 0, 0, 0, 0.07, 0.4, 8, 0.5}, {0.42, -0.52, -0.4, 0, 0, 0, 0.07, 0.4, 8, 0.5},
		{-0.42, -0.52, -0.4, 0, 0, 0, 0.07, 0.4, 8, 0.5},
	}},
	{"die", []solid{
		{0, 0, 0.4, 0.4, 0, 0, 0.2, 0.6, 10, 0.85}, {0, 0, -0.4, 0.4, 0, 0, 0.2, 0.6, 10, 0.85},
		{0, 0, 0, 0.4, 0, 0, 0.3, 0.6, 10, 0.85}, {0, 0, 0.58, 0, 0, 0, 0.14, 0.14, 2, 0.1},
		{0.58, 0, 0, 0, 0.3, 0.3, 0.08, 0.08, 2, 0.1}, {0, 0, -0.58, 0.3, 0.3, 0, 0.08, 0.08, 2, 0.1},
	}},
	{"duck", []solid{
		{-0.1, -0.3, 0, 0.25, 0, 0, 0.42, 0.4, 2, 0.85}, {0.4, 0.35, 0, 0, 0, 0, 0.32, 0.33, 2, 0.9},
		{0.75, 0.3, 0, 0.1, 0, 0, 0.1, 0.07, 2, 0.5}, {-0.15, -0.25, 0.35, 0.15, 0, 0, 0.2, 0.2, 2, 0.6},
		{-0.15, -0.25, -0.35, 0.15, 0, 0, 0.2, 0.2, 2, 0.6},
		{-0.75, -0.05, 0, 0.12, -0.1, 0, 0.12, 0.12, 2, 0.75},
	}},
	{"fish", []solid{
		{0.1, 0, 0, 0.5, 0, 0, 0.22, 0.36, 2, 0.7}, {-0.75, 0, 0, 0, 0.25, 0, 0.14, 0.14, 2, 0.5},
		{0.05, 0.4, 0, 0.2, 0, 0, 0.06, 0.16, 2, 0.5}, {0.6, 0.1, 0, 0, 0, 0.18, 0.08, 0.08, 2, 0.1},
	}},
	{"hammer", []solid{
		{0, -0.25, 0, 0, 0, 0, 0.11, 0.68, 8, 0.65}, {-0.05, 0.55, 0, 0.45, 0, 0, 0.17, 0.19, 4, 0.5},
	}},
	{"house", []solid{
		{0, -0.35, 0, 0, 0, 0.35, 0.45, 0.45, 8, 0.85}, {0, 0.2, 0, 0, 0, 0.4, 0.55, 0.18, 2, 0.45},
		{0, 0.4, 0, 0, 0, 0.5, 0.28, 0.2, 2, 0.45}, {0.25, 0.6, -0.4, 0, 0, 0, 0.1, 0.25, 8, 0.6},
		{0, -0.5, 0.72, 0, 0, 0, 0.13, 0.28, 8, 0.2}, {0.42, -0.25, 0, 0, 0, 0.4, 0.08, 0.12, 6, 0.25},
	}},
	{"lamp", []solid{
		{0, -0.82, 0, 0, 0, 0, 0.42, 0.08, 4, 0.45}, {0, -0.3, 0, 0, 0, 0, 0.07, 0.5, 8, 0.6},
		{0, 0.3, 0, 0, 0, 0, 0.6, 0.2, 6, 0.95}, {0, 0.6, 0, 0, 0, 0, 0.4, 0.22, 6, 0.95},
	}},
	{"mug", []solid{
		{0, 0, 0, 0, 0, 0, 0.5, 0.65, 10, 0.75}, {-0.1, 0, 0.42, 0.1, 0, 0, 0.15, 0.3, 8, 0.3},
		{0.8, 0, 0, 0, 0.2, 0, 0.08, 0.1, 2, 0.75}, {0.62, 0.3, 0, 0.15, -0.05, 0, 0.08, 0.08, 2, 0.75},
		{0.62, -0.3, 0, 0.15, 0.05, 0, 0.08, 0.08, 2, 0.75},
	}},
	{"mushroom", []solid{
		{0, -0.45, 0, 0, 0, 0, 0.27, 0.45, 6, 0.9}, {0, 0.25, 0, 0, 0, 0, 0.75, 0.42, 2, 0.5},
		{0.42, 0.45, 0.34, 0, 0, 0, 0.17, 0.14, 2, 0.95}, {-0.32, 0.5, 0.25, 0, 0, 0, 0.17, 0.14, 2, 0.95},
		{-0.1, 0.42, -0.55, 0, 0, 0, 0.18, 0.15, 2, 0.95},
	}},
	{"rocket", []solid{
		{0, -0.1, 0, 0, 0, 0, 0.28, 0.6, 8, 0.85}, {0, 0.5, 0, 0, 0, 0, 0.27, 0.45, 2, 0.5},
		{0, -0.55, 0, 0.45, 0, 0, 0.08, 0.2, 4, 0.5}, {0, -0.55, 0, 0, 0, 0.45, 0.08, 0.2, 4, 0.5},
		{0, 0.15, 0.2, 0, 0, 0, 0.13, 0.13, 2, 0.15},
	}},
	{"snowman", []solid{
		{0, -0.5, 0, 0, 0, 0, 0.48, 0.45, 2, 0.9}, {0, 0.1, 0, 0, 0, 0, 0.35, 0.32, 2, 0.9},
		{0, 0.5, 0, 0, 0, 0, 0.25, 0.24, 2, 0.9}, {0, 0.82, 0, 0, 0, 0, 0.2, 0.15, 8, 0.25},
		{0, 0.68, 0, 0, 0, 0, 0.34, 0.03, 4, 0.25}, {0, 0.5, 0.3, 0, 0, 0.1, 0.06, 0.06, 2, 0.5},
		{0.5, 0.25, 0, 0.22, 0.15, 0, 0.06, 0.06, 2, 0.4}, {-0.5, 0.25, 0, -0.22, 0.15, 0, 0.06, 0.06, 2, 0.4},
	}},
	{"table", []solid{
		{0, 0.3, 0, 0, 0, 0, 0.9, 0.07, 6, 0.8}, {0, -0.15, 0, 0, 0, 0, 0.12, 0.4, 8, 0.5},
		{0, -0.6, 0, 0.45, 0, 0, 0.1, 0.06, 4, 0.4}, {0, -0.6, 0, 0, 0, 0.45, 0.1, 0.06, 4, 0.4},
	}},
	{"teapot", []solid{
		{0, -0.1, 0, 0, 0, 0, 0.52, 0.46, 2, 0.75}, {0.65, 0, 0, 0.18, 0.22, 0, 0.11, 0.12, 2, 0.7},
		{0, 0.45, 0, 0, 0, 0, 0.1, 0.15, 4, 0.4}, {-0.8, 0, 0, 0, 0.15, 0, 0.07, 0.08, 2, 0.6},
		{-0.6, 0.22, 0, 0.15, 0.02, 0, 0.07, 0.08, 2, 0.6},
		{-0.62, -0.22, 0, 0.15, -0.04, 0, 0.07, 0.08, 2, 0.6},
	}},
	{"train", []solid{
		{0.2, 0, 0, 0.5, 0, 0, 0.28, 0.3, 2, 0.5}, {-0.55, 0.15, 0, 0, 0, 0.1, 0.3, 0.5, 8, 0.75},
		{-0.55, 0.68, 0, 0, 0, 0.1, 0.36, 0.06, 4, 0.35}, {0.55, 0.42, 0, 0, 0, 0, 0.1, 0.25, 8, 0.35},
		{0.5, -0.45, 0, 0, 0, 0.3, 0.2, 0.2, 2, 0.2}, {-0.5, -0.45, 0, 0, 0, 0.3, 0.2, 0.2, 2, 0.2},
		{0, -0.35, 0, 0.7, 0, 0, 0.22, 0.08, 4, 0.35},
	}},
}
