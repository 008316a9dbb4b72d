package features

import (
	"math"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// gradientOf is the gradient of which dx and dy, upwards, are the parts.
func gradientOf(dx, dy float32) gradient {
	out := make([]gradient, 1)
	gradients(out, []float32{0, dy, 0}, []float32{0, 0, dx}, []float32{0, 0, 0})
	return out[0]
}

func TestGradientsAlongOrientations(t *testing.T) {
	for o := range orientations {
		sin, cos := math.Sincos(float64(o) * math.Pi / 4)
		g := gradientOf(float32(math.Round(cos)), float32(math.Round(sin)))
		var got [orientations]float32
		got[g.axis] += g.axisPart
		got[g.diagonal] += g.diagonalPart
		for i, v := range got {
			want := 0.0
			if i == o {
				want = math.Hypot(math.Round(cos), math.Round(sin))
			}
			if math.Abs(float64(v)-want) > 1e-6 {
				t.Errorf("orientation %d: %v in %d, want %v", o, v, i, want)
			}
		}
	}
}

func TestGradientsAgainstAtan2(t *testing.T) {
	random := rng.New(1)
	for range 10_000 {
		dx, dy := float32(random.NormFloat64()), float32(random.NormFloat64())
		want := orientationsOf(float64(dx), float64(dy))
		g := gradientOf(dx, dy)
		if g.axis%2 != 0 || g.diagonal%2 != 1 || g.axisPart < 0 || g.diagonalPart < 0 {
			t.Fatalf("(%v, %v): %+v", dx, dy, g)
		}
		want[g.axis] -= float64(g.axisPart)
		want[g.diagonal] -= float64(g.diagonalPart)
		for o, v := range want {
			if math.Abs(v) > math.Hypot(float64(dx), float64(dy))/1500 {
				t.Fatalf("(%v, %v): %+v is wrong by %v in %d", dx, dy, g, v, o)
			}
		}
	}
}

func TestNoGradient(t *testing.T) {
	if g := gradientOf(0, 0); g.axisPart != 0 || g.diagonalPart != 0 {
		t.Errorf("%+v", g)
	}
}

// orientationsOf shares the length of a gradient between orientations.
func orientationsOf(dx, dy float64) (out [orientations]float64) {
	turn := math.Atan2(dy, dx) / (2 * math.Pi) * orientations
	first := math.Floor(turn)
	for i, part := range []float64{1 - (turn - first), turn - first} {
		out[(int(first)+i+orientations)%orientations] += part * math.Hypot(dx, dy)
	}
	return out
}
