//go:build !amd64

package simd

// Instructions names the processor's instructions that the loops use beyond
// those that every processor of its kind has, or is empty.
func Instructions() string { return "" }
