package testkit

import "testing"

var sink []byte

func TestAllocated(t *testing.T) {
	for _, size := range []int{0, 5 << 20, 50 << 20} {
		if got := Allocated(func() { sink = make([]byte, size) }); got < uint64(size) || got > uint64(size)+2<<20 {
			t.Errorf("%d bytes are measured for %d", got, size)
		}
	}
	small := Allocated(func() {
		for range 1 << 20 {
			sink = make([]byte, 16)
		}
	})
	if small < 15<<20 || small > 18<<20 {
		t.Errorf("%d bytes are measured for 2^20 times 16", small)
	}
}
