//go:build !amd64

package simd

func descend(z []float64, y, x, u []float32, stride int, floor float64) bool { return false }

func descendPair(z []float64, y, x, u []float32, stride int, floor float64) bool { return false }

func gather(u []float32, stride int, y, z, rows []float32, at []int) bool { return false }
