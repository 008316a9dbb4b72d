// Package demo draws the images of the generated set, which needs no download.
package demo

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// Side is the height and the width of an image.
const Side = 32

const views = 36

var drawn sync.Map // pixels by seed

// Images draws 20 objects (an aeroplane, a boat, a bottle …) in 36 views, 10 degrees apart. It returns 720 grey images
// of Side×Side pixels on black, one after the other, and for each a name and the index of its class. The light varies
// between views, and there is some noise. Equal seeds give equal images.
func Images(seed uint64) (pixels []uint8, names, classes []string, labels []int) {
	const m = Side * Side
	pixels = make([]uint8, len(objects())*views*m)
	before, ok := drawn.Load(seed)
	if ok {
		copy(pixels, before.([]uint8))
	}
	for c, thing := range objects() {
		classes = append(classes, thing.name)
		for v := range views {
			if !ok {
				thing.draw(pixels[len(names)*m:][:m], v, seed)
			}
			names = append(names, fmt.Sprintf("%s/%03d", thing.name, v*360/views))
			labels = append(labels, c)
		}
	}
	drawn.Store(seed, slices.Clone(pixels))
	return pixels, names, classes, labels
}

// object is a union of solids in the unit ball around the origin; y points up.
type object struct {
	name   string
	solids []solid
}

// solid is a row of equal round bodies from at−half to at+half. Each has the radius r around a vertical axis and
// extends h up and down: ρ²/r² + (y/h)^power = 1. The power 2 gives a ball, a high one a cylinder.
type solid struct {
	x, y, z, dx, dy, dz float64
	r, h, power, grey   float64
}

// draw draws view v of the object into the pixels of one image.
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
			for row := range Side {
				up := (frame*(1-(2*float64(row)+1)/Side) - y) / s.h
				if math.Abs(up) >= 1 {
					continue
				}
				height := elementary.Pow(math.Abs(up), s.power)
				ny := math.Copysign(s.power/2*elementary.Pow(math.Abs(up), s.power-1), up) / s.h
				for column := range Side {
					right := (frame*((2*float64(column)+1)/Side-1) - x) / s.r
					ahead := math.Sqrt(max(0, 1-right*right-height))
					if ahead == 0 {
						continue
					}
					i := row*Side + column
					if at := 2 + z + s.r*ahead; at > depth[i] { // all of the object is before -2
						nx, nz := right/s.r, ahead/s.r
						lit := (nx*cosH*sinA + ny*sinH + nz*cosH*cosA) / math.Sqrt(nx*nx+ny*ny+nz*nz)
						depth[i], shade[i] = at, s.grey*(ambient+strength*max(0, lit))
					}
				}
			}
		}
	}
	for i := range pixels {
		pixels[i] = uint8(math.Round(255 * min(max(shade[i]+noise*random.NormFloat64(), 0), 1)))
	}
}

//go:embed objects.csv
var objectsFile string

// objects are sorted by name.
var objects = sync.OnceValue(func() (all []object) {
	for line := range strings.Lines(objectsFile[strings.Index(objectsFile, "\n")+1:]) {
		name, numbers, _ := strings.Cut(line, ",")
		var s solid
		fields := []any{&s.x, &s.y, &s.z, &s.dx, &s.dy, &s.dz, &s.r, &s.h, &s.power, &s.grey}
		if _, err := fmt.Sscan(strings.ReplaceAll(numbers, ",", " "), fields...); err != nil {
			panic(fmt.Errorf("objects.csv: %q: %w", line, err))
		}
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, object{name: name})
		}
		last := &all[len(all)-1]
		last.solids = append(last.solids, s)
	}
	return all
})
