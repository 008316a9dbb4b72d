package pictures

import (
	"math"

	"github.com/seed4492f2cd/partwise/internal/blas"
)

// reduced returns a square image reduced to a side of n pixels, by means of four pixels. Its side must be n times a power
// of 2.
func (g grey) reduced(n int) grey {
	for g.w > n {
		half := newGrey(g.w/2, g.w/2)
		for i := range half.v {
			p := g.v[2*(i/half.w)*g.w+2*(i%half.w):]
			half.v[i] = (p[0] + p[1] + p[g.w] + p[g.w+1]) / 4
		}
		g = half
	}
	return g
}

// detail returns a square image minus its 5×5 box filter.
func (g grey) detail() grey {
	n := g.w
	mean := func(v []float32, at, step, i int) float32 { // over the window around the i-th of a row or column
		lo, hi := max(i-2, 0), min(i+2, n-1)
		var sum float32
		for u := lo; u <= hi; u++ {
			sum += v[at+(u-i)*step]
		}
		return sum / float32(hi-lo+1)
	}
	rows, out := make([]float32, n*n), newGrey(n, n)
	for at := range rows {
		rows[at] = mean(g.v, at, 1, at%n)
	}
	for at := range rows {
		out.v[at] = g.v[at] - mean(rows, at, n, at/n)
	}
	return out
}

// warp maps the point (x, y) of an image, in coordinates from −1 to 1, to (X·x + DX, Y·y + DY) of another.
type warp struct{ X, DX, Y, DY float64 }

var identity = warp{X: 1, Y: 1}

// sampled returns a square image under a warp with linear interpolation, and the mask of pixels inside it.
func (g grey) sampled(w warp) (out grey, ok []bool) {
	out, ok = newGrey(g.w, g.h), make([]bool, g.w*g.h)
	step := 2 / float64(g.w)
	for i := range ok {
		x, y := (float64(i%g.w)+0.5)*step-1, (float64(i/g.w)+0.5)*step-1
		u, v := (w.X*x+w.DX+1)/step, (w.Y*y+w.DY+1)/step
		if ok[i] = min(u, v) >= 0 && max(u, v) <= float64(g.w); ok[i] {
			out.v[i] = g.at(u, v)
		}
	}
	return out, ok
}

// correlation returns Pearson's correlation of two images. It is 0 if one of them is constant.
func correlation(p, q grey) float64 {
	var sp, sq, spp, sqq, spq float64
	for i := range p.v {
		a, b := float64(p.v[i]), float64(q.v[i])
		sp += a
		sq += b
		spp += a * a
		sqq += b * b
		spq += a * b
	}
	n := float64(len(p.v))
	vp, vq := spp-sp*sp/n, sqq-sq*sq/n
	if !(vp > 1e-6*n && vq > 1e-6*n) {
		return 0
	}
	return (spq - sp*sq/n) / math.Sqrt(vp*vq)
}

// align registers p with q: it returns the warp, starting at w, that minimises the squared difference up to gain and
// offset of the brightness, by Gauss-Newton steps (Lucas and Kanade 1981; Baker and Matthews 2004).
func align(p, q grey, w warp, steps int) warp {
	n := p.w
	step := 2 / float64(n)
	for range steps {
		moved, ok := p.sampled(w)
		// Six unknowns: the warp, the gain and the offset.
		var h [6 * 6]float64
		var d [6]float64
		for y := 1; y < n-1; y++ {
			for x := 1; x < n-1; x++ {
				at := y*n + x
				if !ok[at] || !ok[at-1] || !ok[at+1] || !ok[at-n] || !ok[at+n] {
					continue
				}
				cx, cy := (float64(x)+0.5)*step-1, (float64(y)+0.5)*step-1
				// Derivatives in the coordinates of p.
				gx := float64(moved.v[at+1]-moved.v[at-1]) / (2 * step * w.X)
				gy := float64(moved.v[at+n]-moved.v[at-n]) / (2 * step * w.Y)
				row := [6]float64{gx * cx, gx, gy * cy, gy, float64(moved.v[at]), 1}
				for i, v := range row {
					for j := i; j < 6; j++ {
						h[6*i+j] += v * row[j]
					}
					d[i] += v * float64(q.v[at])
				}
			}
		}
		u, positive := blas.Cholesky(blas.Matrix{Rows: 6, Cols: 6, Stride: 6, Data: h[:]})
		if !positive {
			break
		}
		x := blas.Matrix{Rows: 6, Cols: 1, Stride: 1, Data: d[:]}
		blas.Trsm(blas.Trans, u, x)
		blas.Trsm(blas.NoTrans, u, x)
		if !(d[4] > 0.2 && d[4] < 5) {
			break
		}
		// q ≈ gain·(p + ∇p·δ) + offset, so the solution is gain·δ.
		next := warp{w.X + d[0]/d[4], w.DX + d[1]/d[4], w.Y + d[2]/d[4], w.DY + d[3]/d[4]}
		if !(next.X > 0.7 && next.X < 1.4 && next.Y > 0.7 && next.Y < 1.4 && math.Abs(next.DX) < 0.4 && math.Abs(next.DY) < 0.4) {
			break
		}
		w = next
	}
	return w
}
