//go:build !amd64

package simd

func poleSums(_, _ []float64, _, _ float64) (int, [3]float64) { return 0, [3]float64{} }

func poleTerms(_, _, _ []float64, _, _ float64) int { return 0 }

func poleRatios(_, _ []float64, _, _, _ float64) int { return 0 }
