package network

import (
	"encoding/binary"
	"math"
)

// size returns the product of sizes, and fails where one is below 0 or it is too large.
func size(dims []int) int {
	n := 1
	for _, d := range dims {
		if d < 0 || len(dims) > maxDims || d > 0 && n > maxNumbers/d {
			fail("an array of the shape %v is too large, or none", dims)
		}
		n *= d
	}
	return n
}

// value returns the constant, of floats or integers. Each number lies in the file, so that they
// take no more memory than a few times its size.
func (t *tensor) value() *value {
	n := size(t.dims)
	if t.other {
		fail("the constant %q lies in a file of its own; save the model as one file", t.name)
	}
	width := map[int]int{typeFloat: 4, typeInt32: 4, typeInt64: 8, typeHalf: 2, typeDouble: 8}[t.kind]
	if width == 0 {
		fail("the constant %q has numbers of type %d; want float, float16, double, int32 or int64", t.name, t.kind)
	}
	whole := t.kind == typeInt32 || t.kind == typeInt64
	held := len(t.raw) / width
	if t.raw == nil {
		held = map[int]int{typeFloat: len(t.floats), typeInt32: len(t.ints), typeInt64: len(t.ints), typeHalf: len(t.ints), typeDouble: len(t.doubles)}[t.kind]
	}
	if held != n || len(t.raw)%width != 0 {
		fail("the constant %q has %d numbers and the shape %v", t.name, held, t.dims)
	}
	v := &value{shape: t.dims}
	switch {
	case t.raw == nil && whole:
		v.ints = t.ints
		return v
	case t.raw == nil && t.kind == typeFloat:
		v.floats = t.floats
		return v
	}
	if whole {
		v.ints = make([]int, n)
	} else {
		v.floats = make([]float32, n)
	}
	little := binary.LittleEndian
	for i := range n {
		switch raw := t.raw[min(i*width, len(t.raw)):]; t.kind {
		case typeInt32:
			v.ints[i] = int(int32(little.Uint32(raw)))
		case typeInt64:
			v.ints[i] = bounded(little.Uint64(raw))
		case typeFloat:
			v.floats[i] = math.Float32frombits(little.Uint32(raw))
		case typeHalf:
			if t.raw == nil {
				v.floats[i] = half(uint16(t.ints[i]))
			} else {
				v.floats[i] = half(little.Uint16(raw))
			}
		case typeDouble:
			if t.raw == nil {
				v.floats[i] = float32(t.doubles[i])
			} else {
				v.floats[i] = float32(math.Float64frombits(little.Uint64(raw)))
			}
		}
	}
	return v
}

// half returns the number of IEEE 754's binary16.
func half(bits uint16) float32 {
	sign, exponent, fraction := uint32(bits>>15)<<31, uint32(bits>>10&31), uint32(bits&1023)
	switch exponent {
	case 0: // fraction·2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
