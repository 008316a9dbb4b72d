package datasets

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// A solid is a convex body: the image of a unit shape that is stretched by
// half, turned and put at a place. In its own coordinates every unit shape
// reaches from -1 to 1 along each axis, y up.
type solid struct {
	shape  shape
	at     r3.Vec
	half   r3.Vec
	turn   r3.Rotation
	albedo float64 // how light it is, 0 to 1
	// stripes is how many dark stripes run down the body, seen from above
	// around its axis.
	stripes int
	// hole is a body that is cut out of this one, or nil.
	hole *solid
}

// shape gives where the ray o + t·d is in a unit shape, from in.t to out.t.
type shape func(o, d r3.Vec) (in, out crossing, hit bool)

// crossing is where a ray crosses a surface, with the surface's outward
// normal, which need not have unit length.
type crossing struct {
	t      float64
	normal r3.Vec
}

// sphere is the unit sphere.
func sphere(o, d r3.Vec) (in, out crossing, hit bool) {
	a, b, c := r3.Dot(d, d), r3.Dot(o, d), r3.Dot(o, o)-1
	disc := b*b - a*c
	if disc <= 0 {
		return in, out, false
	}
	root := math.Sqrt(disc)
	in.t, out.t = (-b-root)/a, (-b+root)/a
	in.normal, out.normal = along(o, d, in.t), along(o, d, out.t)
	return in, out, true
}

func along(o, d r3.Vec, t float64) r3.Vec { return r3.Add(o, r3.Scale(t, d)) }

// frustum returns the shape of an upright cylinder of radius 1 below that
// narrows to the radius top above; 0 makes a cone.
func frustum(top float64) shape {
	mid, slope := (1+top)/2, (top-1)/2
	return func(o, d r3.Vec) (in, out crossing, hit bool) {
		in, out, hit = between(o, d, halfSpace{r3.Vec{Y: 1}, 1}, halfSpace{r3.Vec{Y: -1}, 1})
		if !hit {
			return in, out, false
		}
		// Inside, x² + z² ≤ r² with r = mid + slope·y: a·t² + 2·b·t + c ≤ 0.
		r, dr := mid+slope*o.Y, slope*d.Y
		a := d.X*d.X + d.Z*d.Z - dr*dr
		b := o.X*d.X + o.Z*d.Z - r*dr
		c := o.X*o.X + o.Z*o.Z - r*r
		disc := b*b - a*c
		if a == 0 || disc <= 0 {
			return in, out, a < 0
		}
		root := math.Sqrt(disc)
		t0, t1 := min((-b-root)/a, (-b+root)/a), max((-b-root)/a, (-b+root)/a)
		side := func(t float64) crossing {
			p := along(o, d, t)
			return crossing{t, r3.Vec{X: p.X, Y: -slope * (mid + slope*p.Y), Z: p.Z}}
		}
		enter, leave := t0, t1
		if a < 0 { // steeper than the side: one of the two ends is inside the cone
			enter, leave = t1, math.Inf(1)
			if dr < 0 {
				enter, leave = math.Inf(-1), t0
			}
		}
		if enter > in.t {
			in = side(enter)
		}
		if leave < out.t {
			out = side(leave)
		}
		return in, out, in.t < out.t
	}
}

// halfSpace is all p with normal·p ≤ bound.
type halfSpace struct {
	normal r3.Vec
	bound  float64
}

// between gives where a ray is in all of the half spaces.
func between(o, d r3.Vec, spaces ...halfSpace) (in, out crossing, hit bool) {
	in.t, out.t = math.Inf(-1), math.Inf(1)
	for _, s := range spaces {
		gap, speed := s.bound-r3.Dot(s.normal, o), r3.Dot(s.normal, d)
		switch t := gap / speed; {
		case speed == 0 && gap < 0:
			return in, out, false
		case speed < 0 && t > in.t:
			in = crossing{t, s.normal}
		case speed > 0 && t < out.t:
			out = crossing{t, s.normal}
		}
	}
	return in, out, in.t < out.t
}

var ends = []halfSpace{{r3.Vec{Z: 1}, 1}, {r3.Vec{Z: -1}, 1}}

var boxSides = append([]halfSpace{{r3.Vec{X: 1}, 1}, {r3.Vec{X: -1}, 1}, {r3.Vec{Y: 1}, 1}, {r3.Vec{Y: -1}, 1}}, ends...)

// box is the cube from -1 to 1.
func box(o, d r3.Vec) (in, out crossing, hit bool) { return between(o, d, boxSides...) }

var wedgeSides = append([]halfSpace{{r3.Vec{X: 2, Y: 1}, 1}, {r3.Vec{X: -2, Y: 1}, 1}, {r3.Vec{Y: -1}, 1}}, ends...)

// wedge is a roof: full width below, a ridge along z above.
func wedge(o, d r3.Vec) (in, out crossing, hit bool) { return between(o, d, wedgeSides...) }

// A seen is a solid with what is the same for all rays of one view: the ray
// through (x, y) on the screen starts, in the solid's own coordinates, at
// origin + x·right + y·up.
type seen struct {
	*solid
	origin, right, up, ahead r3.Vec
	x, y, reach              float64 // a circle on the screen around it
	hole                     *seen
}

// camera has unit vectors to the right, up and ahead.
type camera struct{ right, up, ahead r3.Vec }

func (s *solid) seenFrom(c camera) *seen {
	back := r3.Rotation(quat.Conj(quat.Number(s.turn)))
	local := func(v r3.Vec) r3.Vec {
		v = back.Rotate(v)
		return r3.Vec{X: v.X / s.half.X, Y: v.Y / s.half.Y, Z: v.Z / s.half.Z}
	}
	out := &seen{
		solid: s, origin: local(r3.Scale(-1, s.at)), right: local(c.right), up: local(c.up), ahead: local(c.ahead),
		x: r3.Dot(s.at, c.right), y: r3.Dot(s.at, c.up), reach: r3.Norm(s.half),
	}
	if s.hole != nil {
		out.hole = s.hole.seenFrom(c)
	}
	return out
}

// hit returns where the ray through (x, y) comes in, in the solid's own
// coordinates, and the body whose surface it meets there: the solid or its
// hole.
func (s *seen) hit(x, y float64) (in crossing, of *solid, ok bool) {
	if dx, dy := x-s.x, y-s.y; dx*dx+dy*dy > s.reach*s.reach {
		return in, nil, false
	}
	in, out, ok := s.shape(s.start(x, y), s.ahead)
	if !ok {
		return in, nil, false
	}
	if s.hole != nil {
		from, to, cut := s.hole.shape(s.hole.start(x, y), s.hole.ahead)
		if cut && from.t <= in.t && to.t > in.t {
			// The ray comes in through the hole and meets its far wall.
			return crossing{to.t, r3.Scale(-1, to.normal)}, s.hole.solid, to.t < out.t
		}
	}
	return in, s.solid, true
}

// start returns the start of the ray through (x, y).
func (s *seen) start(x, y float64) r3.Vec {
	return r3.Add(s.origin, r3.Add(r3.Scale(x, s.right), r3.Scale(y, s.up)))
}

// lightness returns the albedo at the place p of the surface, in the solid's
// own coordinates.
func (s *solid) lightness(p r3.Vec) float64 {
	if s.stripes > 0 {
		if turns := math.Atan2(p.X, p.Z) / (2 * math.Pi) * float64(s.stripes); turns-math.Floor(turns) < 0.5 {
			return 0.35 * s.albedo
		}
	}
	return s.albedo
}

// outward turns a normal in the solid's own coordinates into a unit vector in
// the world's.
func (s *solid) outward(normal r3.Vec) r3.Vec {
	stretched := r3.Vec{X: normal.X / s.half.X, Y: normal.Y / s.half.Y, Z: normal.Z / s.half.Z}
	return r3.Unit(s.turn.Rotate(stretched))
}
