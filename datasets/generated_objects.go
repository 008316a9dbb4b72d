package datasets

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// object is a thing that is made of solids. It stands in the middle of the
// ball of radius 1, y up.
type object struct {
	name   string
	solids []*solid
}

func vec(x, y, z float64) r3.Vec { return r3.Vec{X: x, Y: y, Z: z} }

func newSolid(shape shape, albedo float64, at, half r3.Vec) *solid {
	return &solid{shape: shape, at: at, half: half, albedo: albedo, turn: r3.Rotation{Real: 1}}
}

func ball(albedo float64, at, half r3.Vec) *solid { return newSolid(sphere, albedo, at, half) }

func brick(albedo float64, at, half r3.Vec) *solid { return newSolid(box, albedo, at, half) }

func roof(albedo float64, at, half r3.Vec) *solid { return newSolid(wedge, albedo, at, half) }

// column is a frustum with the radius r below and r·top above.
func column(albedo float64, at r3.Vec, r, halfHeight, top float64) *solid {
	return newSolid(frustum(top), albedo, at, vec(r, halfHeight, r))
}

// tilted returns the solid turned about an axis through its middle.
func (s *solid) tilted(degrees float64, axis r3.Vec) *solid {
	s.turn = r3.NewRotation(degrees*math.Pi/180, axis)
	return s
}

func (s *solid) striped(n int) *solid {
	s.stripes = n
	return s
}

func (s *solid) hollow(hole *solid) *solid {
	s.hole = hole
	return s
}

// arc is a bow of n balls of radius r around at, in the plane of x and y, from
// one angle to the other.
func arc(albedo float64, at r3.Vec, radius, r, from, to float64, n int) []*solid {
	balls := make([]*solid, n)
	for i := range n {
		sin, cos := math.Sincos((from + (to-from)*float64(i)/float64(n-1)) * math.Pi / 180)
		balls[i] = ball(albedo, r3.Add(at, vec(radius*cos, radius*sin, 0)), vec(r, r, r))
	}
	return balls
}

// wheels are four of them, at ±x and ±z.
func wheels(albedo, x, y, z, r float64) []*solid {
	var out []*solid
	for _, at := range []r3.Vec{vec(x, y, z), vec(-x, y, z), vec(x, y, -z), vec(-x, y, -z)} {
		out = append(out, column(albedo, at, r, 0.08, 1).tilted(90, axisX))
	}
	return out
}

var axisX, axisY, axisZ = vec(1, 0, 0), vec(0, 1, 0), vec(0, 0, 1)

// objects returns the 20 objects, in the order of their names.
func objects() []object {
	return []object{
		{"aeroplane", []*solid{
			ball(0.85, vec(0, 0, 0), vec(0.95, 0.17, 0.17)),
			brick(0.6, vec(0.1, 0, 0), vec(0.18, 0.03, 0.9)),
			brick(0.6, vec(-0.8, 0.05, 0), vec(0.1, 0.03, 0.35)),
			brick(0.45, vec(-0.8, 0.22, 0), vec(0.12, 0.2, 0.03)),
			ball(0.3, vec(0.55, 0.12, 0), vec(0.2, 0.1, 0.1)),
		}},
		{"boat", []*solid{
			roof(0.55, vec(0, -0.6, 0), vec(0.35, 0.22, 0.85)).tilted(180, axisZ),
			column(0.5, vec(0, 0.1, 0), 0.05, 0.75, 1),
			roof(0.95, vec(0, 0.2, 0.33), vec(0.32, 0.55, 0.02)).tilted(90, axisY),
			roof(0.8, vec(0, 0.1, -0.28), vec(0.26, 0.4, 0.02)).tilted(90, axisY),
		}},
		{"bottle", []*solid{
			column(0.6, vec(0, -0.4, 0), 0.38, 0.5, 1),
			column(0.6, vec(0, 0.25, 0), 0.38, 0.15, 0.4),
			column(0.6, vec(0, 0.6, 0), 0.15, 0.22, 0.9),
			column(0.85, vec(0, 0.87, 0), 0.17, 0.08, 1),
			brick(0.95, vec(0, -0.4, 0.3), vec(0.26, 0.25, 0.1)),
		}},
		{"camera", []*solid{
			brick(0.45, vec(0, -0.05, 0), vec(0.8, 0.5, 0.28)),
			column(0.6, vec(0, -0.08, 0.45), 0.36, 0.2, 0.9).tilted(90, axisX),
			ball(0.15, vec(0, -0.08, 0.6), vec(0.25, 0.25, 0.15)),
			brick(0.75, vec(-0.1, 0.55, 0), vec(0.28, 0.13, 0.2)),
			column(0.9, vec(0.58, 0.5, 0), 0.12, 0.08, 1),
		}},
		{"car", append([]*solid{
			brick(0.75, vec(0, -0.22, 0), vec(0.95, 0.18, 0.42)),
			ball(0.75, vec(-0.1, -0.08, 0), vec(0.68, 0.5, 0.4)),
			ball(0.25, vec(-0.1, -0.02, 0), vec(0.7, 0.32, 0.41)),
			ball(0.95, vec(0.95, -0.2, 0.28), vec(0.05, 0.09, 0.09)),
			ball(0.95, vec(0.95, -0.2, -0.28), vec(0.05, 0.09, 0.09)),
		}, wheels(0.2, 0.58, -0.42, 0.42, 0.22)...)},
		{"cat", []*solid{
			ball(0.65, vec(-0.1, -0.25, 0), vec(0.55, 0.4, 0.32)).striped(14),
			ball(0.75, vec(0.5, 0.25, 0), vec(0.3, 0.28, 0.3)),
			column(0.75, vec(0.48, 0.57, 0.17), 0.13, 0.16, 0),
			column(0.75, vec(0.48, 0.57, -0.17), 0.13, 0.16, 0),
			ball(0.2, vec(0.8, 0.2, 0), vec(0.07, 0.06, 0.06)),
			column(0.5, vec(-0.75, 0.15, 0), 0.1, 0.5, 0.8).tilted(20, axisZ),
			column(0.6, vec(0.25, -0.65, 0.17), 0.1, 0.25, 1),
			column(0.6, vec(0.25, -0.65, -0.17), 0.1, 0.25, 1),
			column(0.6, vec(-0.4, -0.65, 0.17), 0.1, 0.25, 1),
			column(0.6, vec(-0.4, -0.65, -0.17), 0.1, 0.25, 1),
		}},
		{"chair", []*solid{
			brick(0.7, vec(0, -0.1, 0), vec(0.48, 0.07, 0.48)),
			brick(0.85, vec(-0.44, 0.45, 0), vec(0.06, 0.5, 0.48)),
			column(0.5, vec(0.4, -0.52, 0.4), 0.07, 0.38, 1),
			column(0.5, vec(-0.4, -0.52, 0.4), 0.07, 0.38, 1),
			column(0.5, vec(0.4, -0.52, -0.4), 0.07, 0.38, 1),
			column(0.5, vec(-0.4, -0.52, -0.4), 0.07, 0.38, 1),
		}},
		{"die", []*solid{
			brick(0.85, vec(0, 0, 0), vec(0.62, 0.62, 0.62)),
			ball(0.1, vec(0, 0, 0.62), vec(0.16, 0.16, 0.03)),
			ball(0.1, vec(0.62, 0.3, 0.3), vec(0.03, 0.14, 0.14)),
			ball(0.1, vec(0.62, -0.3, -0.3), vec(0.03, 0.14, 0.14)),
			ball(0.1, vec(0.33, 0.33, -0.62), vec(0.13, 0.13, 0.03)),
			ball(0.1, vec(-0.33, 0.33, -0.62), vec(0.13, 0.13, 0.03)),
			ball(0.1, vec(0.33, -0.33, -0.62), vec(0.13, 0.13, 0.03)),
			ball(0.1, vec(-0.33, -0.33, -0.62), vec(0.13, 0.13, 0.03)),
			ball(0.1, vec(-0.62, 0.33, 0.33), vec(0.03, 0.13, 0.13)),
			ball(0.1, vec(-0.62, 0, 0), vec(0.03, 0.13, 0.13)),
			ball(0.1, vec(-0.62, -0.33, -0.33), vec(0.03, 0.13, 0.13)),
			ball(0.1, vec(0.3, 0.62, 0.3), vec(0.13, 0.03, 0.13)),
			ball(0.1, vec(-0.3, 0.62, -0.3), vec(0.13, 0.03, 0.13)),
		}},
		{"duck", []*solid{
			ball(0.85, vec(-0.1, -0.3, 0), vec(0.72, 0.42, 0.45)),
			ball(0.9, vec(0.4, 0.35, 0), vec(0.33, 0.33, 0.31)),
			column(0.5, vec(0.8, 0.3, 0), 0.15, 0.16, 0.4).tilted(-90, axisZ),
			column(0.75, vec(-0.78, -0.05, 0), 0.2, 0.25, 0).tilted(50, axisZ),
			ball(0.6, vec(-0.15, -0.25, 0.4), vec(0.38, 0.2, 0.12)),
			ball(0.6, vec(-0.15, -0.25, -0.4), vec(0.38, 0.2, 0.12)),
			ball(0.1, vec(0.56, 0.45, 0.23), vec(0.07, 0.07, 0.07)),
			ball(0.1, vec(0.56, 0.45, -0.23), vec(0.07, 0.07, 0.07)),
		}},
		{"fish", []*solid{
			ball(0.7, vec(0.1, 0, 0), vec(0.75, 0.4, 0.25)),
			roof(0.5, vec(-0.72, 0, 0), vec(0.4, 0.27, 0.05)).tilted(-90, axisZ),
			roof(0.5, vec(0.05, 0.45, 0), vec(0.3, 0.16, 0.04)),
			ball(0.1, vec(0.6, 0.1, 0.18), vec(0.07, 0.07, 0.07)),
			ball(0.1, vec(0.6, 0.1, -0.18), vec(0.07, 0.07, 0.07)),
			ball(0.95, vec(0.15, 0, 0.02), vec(0.12, 0.38, 0.26)),
		}},
		{"hammer", []*solid{
			column(0.65, vec(0, -0.25, 0), 0.11, 0.68, 0.85),
			brick(0.5, vec(-0.1, 0.55, 0), vec(0.35, 0.17, 0.17)),
			column(0.6, vec(0.42, 0.55, 0), 0.22, 0.15, 1).tilted(90, axisZ),
			roof(0.45, vec(-0.62, 0.55, 0), vec(0.17, 0.25, 0.17)).tilted(90, axisZ),
		}},
		{"house", []*solid{
			brick(0.85, vec(0, -0.35, 0), vec(0.5, 0.4, 0.7)),
			roof(0.45, vec(0, 0.3, 0), vec(0.62, 0.27, 0.8)),
			brick(0.6, vec(0.25, 0.5, -0.4), vec(0.1, 0.3, 0.1)),
			brick(0.2, vec(0, -0.48, 0.7), vec(0.14, 0.27, 0.03)),
			brick(0.25, vec(0.5, -0.25, 0.3), vec(0.03, 0.15, 0.15)),
			brick(0.25, vec(0.5, -0.25, -0.3), vec(0.03, 0.15, 0.15)),
			brick(0.25, vec(-0.5, -0.25, 0), vec(0.03, 0.15, 0.15)),
		}},
		{"lamp", []*solid{
			column(0.45, vec(0, -0.82, 0), 0.42, 0.08, 0.8),
			column(0.6, vec(0, -0.3, 0), 0.07, 0.5, 1),
			column(0.95, vec(0, 0.45, 0), 0.6, 0.4, 0.55).striped(5),
		}},
		{"mug", append(arc(0.75, vec(0.5, -0.05, 0), 0.34, 0.085, -80, 80, 9),
			column(0.75, vec(0, 0, 0), 0.55, 0.68, 1).
				hollow(column(0.4, vec(0, 0.15, 0), 0.47, 0.75, 1)),
			brick(0.3, vec(-0.3, 0, 0.42), vec(0.18, 0.3, 0.05)).tilted(-35, axisY),
		)},
		{"mushroom", []*solid{
			column(0.9, vec(0, -0.45, 0), 0.3, 0.42, 0.75),
			ball(0.5, vec(0, 0.2, 0), vec(0.75, 0.5, 0.75)).
				hollow(brick(0.8, vec(0, -0.45, 0), vec(1, 0.5, 1))),
			ball(0.95, vec(0.42, 0.5, 0.34), vec(0.17, 0.14, 0.17)),
			ball(0.95, vec(-0.32, 0.58, 0.25), vec(0.17, 0.14, 0.17)),
			ball(0.95, vec(-0.1, 0.48, -0.56), vec(0.18, 0.15, 0.14)),
		}},
		{"rocket", []*solid{
			column(0.85, vec(0, -0.1, 0), 0.28, 0.5, 1),
			column(0.5, vec(0, 0.68, 0), 0.28, 0.28, 0.05),
			column(0.35, vec(0, -0.68, 0), 0.22, 0.1, 0.8),
			brick(0.5, vec(0, -0.5, 0), vec(0.62, 0.2, 0.04)),
			brick(0.5, vec(0, -0.5, 0), vec(0.04, 0.2, 0.62)),
			ball(0.15, vec(0, 0.15, 0.24), vec(0.13, 0.13, 0.08)),
		}},
		{"snowman", []*solid{
			ball(0.9, vec(0, -0.5, 0), vec(0.48, 0.45, 0.48)),
			ball(0.9, vec(0, 0.1, 0), vec(0.35, 0.32, 0.35)),
			ball(0.9, vec(0, 0.5, 0), vec(0.25, 0.24, 0.25)),
			column(0.25, vec(0, 0.68, 0), 0.34, 0.03, 1),
			column(0.25, vec(0, 0.82, 0), 0.2, 0.15, 1),
			column(0.5, vec(0, 0.5, 0.33), 0.06, 0.14, 0).tilted(90, axisX),
			column(0.4, vec(0.5, 0.25, 0), 0.05, 0.28, 1).tilted(-55, axisZ),
			column(0.4, vec(-0.5, 0.25, 0), 0.05, 0.28, 1).tilted(55, axisZ),
		}},
		{"table", []*solid{
			column(0.8, vec(0, 0.3, 0), 0.9, 0.07, 1).striped(8),
			column(0.5, vec(0, -0.15, 0), 0.12, 0.4, 1),
			brick(0.4, vec(0, -0.6, 0), vec(0.55, 0.06, 0.08)),
			brick(0.4, vec(0, -0.6, 0), vec(0.08, 0.06, 0.55)),
		}},
		{"teapot", append(arc(0.6, vec(-0.5, -0.05, 0), 0.32, 0.075, 90, 270, 9),
			ball(0.75, vec(0, -0.1, 0), vec(0.55, 0.48, 0.55)),
			column(0.7, vec(0.65, 0, 0), 0.16, 0.38, 0.5).tilted(-45, axisZ),
			column(0.6, vec(0, 0.38, 0), 0.28, 0.05, 0.7),
			ball(0.4, vec(0, 0.5, 0), vec(0.1, 0.1, 0.1)),
		)},
		{"train", append([]*solid{
			column(0.5, vec(0.2, 0, 0), 0.3, 0.58, 1).tilted(90, axisZ),
			brick(0.75, vec(-0.55, 0.15, 0), vec(0.28, 0.5, 0.36)),
			brick(0.35, vec(-0.55, 0.7, 0), vec(0.36, 0.05, 0.42)),
			brick(0.35, vec(0, -0.35, 0), vec(0.85, 0.08, 0.34)),
			column(0.35, vec(0.55, 0.45, 0), 0.1, 0.2, 1.5),
			ball(0.85, vec(0.1, 0.32, 0), vec(0.13, 0.13, 0.13)),
		}, wheels(0.2, 0.5, -0.5, 0.34, 0.2)...)},
	}
}
