//go:build !amd64

package simd

func subtractFrom([]float64, []float64) int { return 0 }

func laneMinima(*[Lanes]float64, []float64) int { return 0 }

func below(*[Lanes]float64, float64) (uint64, bool) { return 0, false }
