//go:build !amd64

package simd

import "unsafe"

func dots(dst, a, rows []float64, at []int) int { return 0 }

func addRows(dst, weights, rows []float64, at []int) int { return 0 }

func ratios(dst, a, rows []float64, at []int, x, y []float64, floor float64) int { return 0 }

func divide(y, x []float64, floor float64) int { return 0 }

func step(z, x, y []float64, least, floor float64) int { return 0 }

func divideSum(y, x []float64, floor float64) (int, float64) { return 0, 0 }

func logSum(y, x []float64) (int, float64) { return 0, 0 }

func registerLength() int { return 4 }

func sweep(v, b, h, inverse, active, step []float64) bool { return false }

func sweep32(v, b, h, inverse, active, step []float32) bool { return false }

func prefetch(x unsafe.Pointer, bytes int) {}
