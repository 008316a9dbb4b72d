package simd

import "testing"

// TestLoopsWithoutAssembly: as on a processor that has no AVX2.
func TestLoopsWithoutAssembly(t *testing.T) {
	defer func(before bool) { fast = before }(fast)
	fast = false
	checkLoops(t)
	checkSweep(t)
	TestDivideSumEdges(t)
	TestDescend(t)
	TestGather(t)
}
