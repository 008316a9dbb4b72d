//go:build !amd64

package simd

func leastGap(lower []float32, went []float64) (float64, bool) { return 0, false }

func roots(dst []float32, x, added []float64, first, by float64) (float64, bool) { return 0, false }

func leastTwo(x []float64) (leastLanes, int) { return leastLanes{}, 0 }
