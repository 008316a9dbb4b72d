package simd

// The functions of poles are those of terms z_i/(d_i − x), of which x is given as origin + tau, with an origin near
// x, so that d_i − x is right to its last digits.

// PoleSums returns Σ z_i t_i, Σ t_i² and Σ i z_i t_i of the terms t.
func PoleSums(z, d []float64, origin, tau float64) (sum, squares, weighted float64) {
	z = z[:len(d)]
	for i := range d {
		t := z[i] / (d[i] - origin - tau)
		sum += z[i] * t
		squares += t * t
		weighted += float64(i) * (z[i] * t)
	}
	return sum, squares, weighted
}

// PoleTerms writes the terms to t.
func PoleTerms(t, z, d []float64, origin, tau float64) {
	z, t = z[:len(d)], t[:len(d)]
	for i := range d {
		t[i] = z[i] / (d[i] - origin - tau)
	}
}

// PoleRatios multiplies the numbers of p by (d_i − x)/(d_i − pole).
func PoleRatios(p, d []float64, origin, tau, pole float64) {
	p = p[:len(d)]
	for i := range d {
		p[i] *= (d[i] - origin - tau) / (d[i] - pole)
	}
}
