package eigen

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// rankOne is diag(d) + ρzzᵀ with its eigenvalues: value r is origin[r] + tau[r], where origin[r] is an entry of d, so
// that d − value r has full precision. z is adjusted so that these values are exact, which makes the vectors
// orthogonal. Entry i of an eigenvector is entry at[i] in the whole matrix; other entries are 0.
type rankOne struct {
	d, z, origin, tau []float64
	at                []int
	apart             bool // whether each eigenvector of the halves is 0 outside of its half
}

// solve computes the eigenvalues in increasing order. d must be increasing; its gaps and the entries of z must not be
// negligible.
func (m *rankOne) solve(rho float64) {
	k := len(m.d)
	m.origin, m.tau = make([]float64, k), make([]float64, k)
	parallel.DoWork(64*k*k, k, func(r int) { m.origin[r], m.tau[r] = secular(r, m.d, m.z, rho) })
	exact := slices.Repeat([]float64{1}, k)
	for r := range k {
		for i := range k {
			ratio := m.d[i] - m.origin[r] - m.tau[r]
			if i != r {
				ratio /= m.d[i] - m.d[r]
			}
			exact[i] *= ratio
		}
	}
	for i, x := range exact {
		m.z[i] = math.Copysign(math.Sqrt(math.Abs(x)), m.z[i])
	}
}

// vector writes eigenvector r to v, which must be 0.
func (m *rankOne) vector(r int, v []float64) {
	for i, d := range m.d {
		v[m.at[i]] = m.z[i] / (d - m.origin[r] - m.tau[r])
	}
	floats.Scale(1/elementary.Norm(v), v)
}

// mostSecular bounds the steps to a root; bisection alone takes fewer.
const mostSecular = 400

// secular returns root r of 1/ρ + Σ z_i²/(d_i − x), which lies between d_r and d_{r+1}, as the nearer of these plus tau.
// It uses rational interpolation (the middle way of Li 1994; LAPACK's dlaed4), and bisects if a step leaves the
// bracket.
func secular(r int, d, z []float64, rho float64) (origin, tau float64) {
	k, inverse := len(d), 1/rho
	last := r == k-1
	var gap float64
	if last {
		for _, x := range z {
			gap += float64(x * x)
		}
		gap = float64(gap * rho * (1 + 16*eps))
	} else {
		gap = d[r+1] - d[r]
	}
	origin, tau = d[r], gap/2
	lower, upper := 0.0, gap
	w, psi, phi, _, _, _ := sums(r, d, z, inverse, origin, tau)
	if !last {
		a, b := float64(z[r]*z[r]), float64(z[r+1]*z[r+1])
		rest := inverse + (psi + a/tau) + (phi - b/tau)
		if w >= 0 {
			upper = tau
			tau = quadratic(rest, float64(rest*gap)+a+b, a*gap)
		} else {
			origin, lower, upper = d[r+1], -tau, 0
			tau = quadratic(rest, float64(-rest*gap)+a+b, -b*gap)
		}
		if !(tau > lower && tau < upper) {
			tau = lower + (upper-lower)/2
		}
	} else if w >= 0 {
		upper = tau
	} else {
		lower = tau
	}
	before := math.Inf(1)
	for range mostSecular {
		w, psi, phi, dpsi, dphi, err := sums(r, d, z, inverse, origin, tau)
		if w >= 0 {
			upper = min(upper, tau)
		} else {
			lower = max(lower, tau)
		}
		if math.Abs(w) <= eps*(err+float64(8*(phi-psi))+float64(2*inverse)+float64(math.Abs(tau)*(dpsi+dphi))) {
			break
		}
		left := d[r] - origin - tau
		right := gap + left
		if !last {
			right = d[r+1] - origin - tau
		}
		step := quadratic(w-float64(left*dpsi)-float64(right*dphi), float64((left+right)*w)-float64(left*right*(dpsi+dphi)), left*right*w)
		if !(w*step < 0) {
			step = -w / (dpsi + dphi)
		}
		next := tau + step
		if !(next > lower && next < upper) || math.Abs(w) > before/4 {
			next = lower + (upper-lower)/2
		}
		before = math.Abs(w)
		if next <= lower || next >= upper {
			break
		}
		tau = next
	}
	return origin, tau
}

// sums returns 1/ρ + Σ z_i²/(d_i − x) at x = origin + tau, the parts of the sum up to r and after r, their
// derivatives, and a bound of the rounding error in units of eps.
func sums(r int, d, z []float64, inverse, origin, tau float64) (w, psi, phi, dpsi, dphi, err float64) {
	psi, dpsi, left := poleSums(z[:r+1], d[:r+1], origin, tau)
	phi, dphi, right := poleSums(z[r+1:], d[r+1:], origin, tau)
	return inverse + psi + phi, psi, phi, dpsi, dphi, left - float64(float64(r+1)*psi) + right + phi
}

// poleSums returns Σ z_i t_i, Σ t_i² and Σ i z_i t_i with t_i = z_i/(d_i − x).
func poleSums(z, d []float64, origin, tau float64) (sum, squares, weighted float64) {
	for i, z := range z {
		t := z / (d[i] - origin - tau)
		product := float64(z * t)
		sum += product
		squares += float64(t * t)
		weighted += float64(float64(i) * product)
	}
	return sum, squares, weighted
}

// quadratic returns the root of c·x² − a·x + b = 0 that tends to b/a as c tends to 0, without cancellation.
func quadratic(c, a, b float64) float64 {
	root := math.Sqrt(math.Abs(float64(a*a) - float64(4*b*c)))
	if a <= 0 {
		return (a - root) / (2 * c)
	}
	return 2 * b / (a + root)
}
