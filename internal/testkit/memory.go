package testkit

import (
	"runtime/metrics"
	"testing"
)

// Allocated returns how many bytes of the heap are allocated while do runs, whether they are freed
// meanwhile or not; so it is never less than the peak. What other goroutines allocate counts too. Small
// objects are counted in blocks, which makes it wrong by up to a megabyte.
func Allocated(do func()) uint64 {
	before := allocated()
	do()
	return allocated() - before
}

// AllocatesAtMost fails the test if do allocates more than a number of bytes.
func AllocatesAtMost(t *testing.T, most uint64, do func()) {
	t.Helper()
	if got := Allocated(do); got > most {
		t.Fatalf("%d bytes are allocated, at most %d should be", got, most)
	}
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
