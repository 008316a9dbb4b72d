package simd

// poleSums, poleTerms and poleRatios do the first terms of what their namesakes do, a multiple of four, and return
// how many.
func poleSums(z, d []float64, origin, tau float64) (n int, sums [3]float64) {
	if n = len(d) &^ 3; !fast || n == 0 {
		return 0, sums
	}
	poleSumsAVX2(&z[0], &d[0], n, origin, tau, &sums)
	return n, sums
}

func poleTerms(t, z, d []float64, origin, tau float64) int {
	n := len(d) &^ 3
	if !fast || n == 0 {
		return 0
	}
	poleTermsAVX2(&t[0], &z[0], &d[0], n, origin, tau)
	return n
}

func poleRatios(p, d []float64, origin, tau, pole float64) int {
	n := len(d) &^ 3
	if !fast || n == 0 {
		return 0
	}
	poleRatiosAVX2(&p[0], &d[0], n, origin, tau, pole)
	return n
}

//go:noescape
func poleSumsAVX2(z, d *float64, n int, origin, tau float64, sums *[3]float64)

//go:noescape
func poleTermsAVX2(t, z, d *float64, n int, origin, tau float64)

//go:noescape
func poleRatiosAVX2(p, d *float64, n int, origin, tau, pole float64)
