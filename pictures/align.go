package pictures

import "math"

// plane is a square single-channel image, stored by rows.
type plane struct {
	n int
	v []float32
}

func newPlane(n int) plane { return plane{n, make([]float32, n*n)} }

// reduced returns p reduced to a side of n pixels. p.n must be n times a power of 2.
func (p plane) reduced(n int) plane {
	for p.n > n {
		p = p.halved()
	}
	return p
}

// halved returns p at half the resolution; each pixel is the mean of four.
func (p plane) halved() plane {
	h := newPlane(p.n / 2)
	for y := range h.n {
		for x := range h.n {
			at := 2*y*p.n + 2*x
			h.v[y*h.n+x] = (p.v[at] + p.v[at+1] + p.v[at+p.n] + p.v[at+p.n+1]) / 4
		}
	}
	return h
}

// detail returns p minus its 5×5 box filter.
func (p plane) detail() plane {
	n := p.n
	mean := func(v []float32, at, step, i int) float32 { // over the window around the i-th of a row or column
		lo, hi := max(i-2, 0), min(i+2, n-1)
		var sum float32
		for u := lo; u <= hi; u++ {
			sum += v[at+(u-i)*step]
		}
		return sum / float32(hi-lo+1)
	}
	rows, out := make([]float32, n*n), newPlane(n)
	for at := range rows {
		rows[at] = mean(p.v, at, 1, at%n)
	}
	for at := range rows {
		out.v[at] = p.v[at] - mean(rows, at, n, at/n)
	}
	return out
}

// warp maps the point (x, y) of an image, in coordinates from −1 to 1, to (X·x + DX, Y·y + DY) of another.
type warp struct{ X, DX, Y, DY float64 }

var identity = warp{X: 1, Y: 1}

// sampled returns p under a warp with linear interpolation, the mask of pixels inside p, and their fraction.
func (p plane) sampled(w warp) (out plane, ok []bool, share float64) {
	n := p.n
	out, ok = newPlane(n), make([]bool, n*n)
	inside := 0
	step := 2 / float64(n)
	for y := range n {
		v := ((w.Y*((float64(y)+0.5)*step-1)+w.DY)+1)/step - 0.5
		for x := range n {
			u := ((w.X*((float64(x)+0.5)*step-1)+w.DX)+1)/step - 0.5
			if u < -0.5 || v < -0.5 || u > float64(n)-0.5 || v > float64(n)-0.5 {
				continue
			}
			u0, v0 := min(max(int(math.Floor(u)), 0), n-2), min(max(int(math.Floor(v)), 0), n-2)
			a, b := float32(min(max(u-float64(u0), 0), 1)), float32(min(max(v-float64(v0), 0), 1))
			at := v0*n + u0
			out.v[y*n+x] = (1-b)*((1-a)*p.v[at]+a*p.v[at+1]) + b*((1-a)*p.v[at+n]+a*p.v[at+n+1])
			ok[y*n+x] = true
			inside++
		}
	}
	return out, ok, float64(inside) / float64(n*n)
}

// correlation returns Pearson's correlation of two planes over the mask ok, or over all pixels if ok is nil. It is 0 if
// one of them is constant.
func correlation(p, q plane, ok []bool) float64 {
	var n, sp, sq, spp, sqq, spq float64
	for i := range p.v {
		if ok != nil && !ok[i] {
			continue
		}
		a, b := float64(p.v[i]), float64(q.v[i])
		n++
		sp += a
		sq += b
		spp += a * a
		sqq += b * b
		spq += a * b
	}
	vp, vq := spp-sp*sp/n, sqq-sq*sq/n
	if !(vp > 1e-6*n && vq > 1e-6*n) {
		return 0
	}
	return (spq - sp*sq/n) / math.Sqrt(vp*vq)
}

// align registers p with q: it returns the warp, starting at w, that minimises the squared difference up to gain and
// offset of the brightness, by Gauss-Newton steps (Lucas and Kanade 1981; Baker and Matthews 2004).
func align(p, q plane, w warp, steps int) warp {
	n := p.n
	step := 2 / float64(n)
	for range steps {
		moved, ok, share := p.sampled(w)
		if share < 0.5 {
			break
		}
		// Six unknowns: the warp, the gain and the offset.
		var h [6][7]float64
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
				row := [7]float64{gx * cx, gx, gy * cy, gy, float64(moved.v[at]), 1, float64(q.v[at])}
				for i := range 6 {
					for j := i; j < 7; j++ {
						h[i][j] += row[i] * row[j]
					}
				}
			}
		}
		for i := range 6 {
			for j := range i {
				h[i][j] = h[j][i]
			}
		}
		d, solved := solve6(h)
		if !solved || !(d[4] > 0.2 && d[4] < 5) {
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

// solve6 solves six linear equations by Gaussian elimination with partial pivoting.
func solve6(h [6][7]float64) (x [6]float64, ok bool) {
	for c := range 6 {
		pivot := c
		for r := c + 1; r < 6; r++ {
			if math.Abs(h[r][c]) > math.Abs(h[pivot][c]) {
				pivot = r
			}
		}
		if !(math.Abs(h[pivot][c]) > 1e-9) {
			return x, false
		}
		h[c], h[pivot] = h[pivot], h[c]
		for r := range 6 {
			if r == c {
				continue
			}
			f := h[r][c] / h[c][c]
			for j := c; j < 7; j++ {
				h[r][j] -= f * h[c][j]
			}
		}
	}
	for i := range 6 {
		x[i] = h[i][6] / h[i][i]
	}
	return x, true
}
