//go:build !amd64

package simd

func addBoth(_, _, _ []float64, _ int, _, _ *[4]float64) int { return 0 }
