package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/spatial/r3"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

const (
	generatedSide  = 32
	generatedViews = 36
	// oversample rays a pixel and direction are averaged.
	oversample = 2
)

// Generated returns a set that needs no download: 20 objects (an aeroplane, a
// boat, a bottle …) in 36 views, 10 degrees apart, as 720 grey images of 32×32
// pixels, values 0 to 255. The objects are made of simple solids and seen from
// a little above, on black; the light's direction and strength differ from view
// to view, and there is a little noise. The same seed makes the same set.
func Generated(seed uint64) *Set {
	things := objects()
	n, m := len(things)*generatedViews, generatedSide*generatedSide
	set := &Set{Name: "generated", Names: make([]string, n), Labels: make([]int, n), Height: generatedSide, Width: generatedSide}
	pixels := make([]uint8, n*m)
	var group errgroup.Group
	for c, thing := range things {
		set.Classes = append(set.Classes, thing.name)
		group.Go(func() error {
			return guard.Call(func() error {
				for v := range generatedViews {
					i := c*generatedViews + v
					set.Names[i] = fmt.Sprintf("%s/%03d", thing.name, v*360/generatedViews)
					set.Labels[i] = c
					thing.draw(pixels[i*m:(i+1)*m], v, seed)
				}
				return nil
			})
		})
	}
	if err := group.Wait(); err != nil {
		panic(err) // here, where a caller can recover it
	}
	set.Vectors = NewBytes(n, m, pixels)
	return set
}

// draw draws the object, turned by v views, into the pixels of one image.
func (o object) draw(pixels []uint8, v int, seed uint64) {
	const (
		frame = 1.1 // half of the width that the image shows
		noise = 0.02
		side  = generatedSide * oversample
	)
	random := rng.New(seed, "generated", o.name, v)
	scene := o.scene(2*math.Pi*float64(v)/generatedViews, random)
	for i := range pixels {
		row, column := i/generatedSide, i%generatedSide
		sum := 0.0
		for k := range oversample * oversample {
			x := float64(column*oversample+k%oversample) + 0.5
			y := float64(row*oversample+k/oversample) + 0.5
			sum += scene.grey(frame*(2*x/side-1), frame*(1-2*y/side))
		}
		grey := sum/(oversample*oversample) + noise*random.NormFloat64()
		pixels[i] = uint8(math.Round(255 * min(max(grey, 0), 1)))
	}
}

// scene is an object before the camera and in the light.
type scene struct {
	solids   []*seen
	light    r3.Vec // towards the light
	shine    r3.Vec // the normal of a mirror that throws the light at the camera
	strength float64
}

// scene turns the object about its upright axis and lights it at random.
func (o object) scene(turn float64, random *rand.Rand) *scene {
	const degree = math.Pi / 180
	sinE, cosE := math.Sincos(20 * degree) // from above
	sinT, cosT := math.Sincos(turn)
	cam := camera{
		right: vec(cosT, 0, -sinT),
		up:    vec(-sinE*sinT, cosE, -sinE*cosT),
		ahead: vec(-cosE*sinT, -sinE, -cosE*cosT),
	}
	sinA, cosA := math.Sincos((120*random.Float64() - 60) * degree) // from the left or the right
	sinH, cosH := math.Sincos((20 + 45*random.Float64()) * degree)
	light := r3.Add(r3.Scale(cosH*sinA, cam.right), r3.Add(r3.Scale(sinH, cam.up), r3.Scale(-cosH*cosA, cam.ahead)))
	out := &scene{light: light, shine: r3.Unit(r3.Sub(light, cam.ahead)), strength: 0.8 + 0.5*random.Float64()}
	for _, s := range o.solids {
		out.solids = append(out.solids, s.seenFrom(cam))
	}
	return out
}

// grey returns the light that comes from (x, y) on the screen, 0 to 1.
func (s *scene) grey(x, y float64) float64 {
	const (
		ambient    = 0.3
		gloss      = 0.15
		glossiness = 20
	)
	var front *seen
	var body *solid
	at := crossing{t: math.Inf(1)}
	for _, solid := range s.solids {
		if in, of, ok := solid.hit(x, y); ok && in.t < at.t {
			front, body, at = solid, of, in
		}
	}
	if front == nil {
		return 0
	}
	normal := body.outward(at.normal)
	albedo := body.lightness(along(front.start(x, y), front.ahead, at.t))
	diffuse := ambient + s.strength*max(0, r3.Dot(normal, s.light))
	mirrored := gloss * s.strength * elementary.Pow(max(0, r3.Dot(normal, s.shine)), glossiness)
	return min(albedo*diffuse+mirrored, 1)
}
