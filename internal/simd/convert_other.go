//go:build !amd64

package simd

func toSingle(dst []float32, x []float64, scale float64) int { return 0 }

func toDouble(dst []float64, x []float32, scale float64) int { return 0 }

func largest(x []float64) (int, float64) { return 0, 0 }
