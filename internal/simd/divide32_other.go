//go:build !amd64

package simd

func divide32(y, x []float32, floor float32) int { return 0 }

func divideSum32(y, x []float32, floor float32) (int, float64) { return 0, 0 }
