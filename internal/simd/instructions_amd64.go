package simd

// Instructions names the processor's instructions that the loops use beyond
// those that every processor of its kind has, or is empty.
func Instructions() string {
	if fast {
		return "AVX2 and FMA"
	}
	return ""
}
