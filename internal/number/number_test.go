package number

import (
	"math"
	"testing"
)

// Half-precision numbers as IEEE 754 gives them.
func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0: 0, 0x0001: 0x1p-24, 0x03ff: 1023 * 0x1p-24, 0x0400: 0x1p-14, 0x3555: 0.333251953125, 0x3c00: 1, 0x3c01: 1 + 0x1p-10,
		0x7bff: 65504, 0xc000: -2, 0x8001: -0x1p-24, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		if got := Half(bits); got != want {
			t.Errorf("%#04x is %v, want %v", bits, got, want)
		}
	}
	for _, bits := range []uint16{0x7c01, 0x7e00, 0xffff} {
		if got := Half(bits); !math.IsNaN(got) {
			t.Errorf("%#04x is %v, want NaN", bits, got)
		}
	}
	if got := Half(0x8000); got != 0 || !math.Signbit(got) {
		t.Errorf("0x8000 is %v, want -0", got)
	}
	// All finite numbers are in the order of their bits.
	for bits := range uint16(0x7bff) {
		if Half(bits) >= Half(bits+1) {
			t.Errorf("%#04x is %v and %#04x %v", bits, Half(bits), bits+1, Half(bits+1))
		}
	}
}
