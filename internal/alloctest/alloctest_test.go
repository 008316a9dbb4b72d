package alloctest

import "testing"

var sink []byte

func TestBytes(t *testing.T) {
	for _, size := range []int{0, 5 << 20, 50 << 20} {
		if got := Bytes(func() { sink = make([]byte, size) }); got < uint64(size) || got > uint64(size)+2<<20 {
			t.Errorf("%d bytes are measured for %d", got, size)
		}
	}
	small := Bytes(func() {
		for range 1 << 20 {
			sink = make([]byte, 16)
		}
	})
	if small < 15<<20 || small > 18<<20 {
		t.Errorf("%d bytes are measured for 2^20 times 16", small)
	}
}
