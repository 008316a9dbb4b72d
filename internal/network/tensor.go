package network

import (
	"encoding/binary"
	"fmt"
	"math"
)

// size returns the product of sizes, or an error where one is below 0 or it is too large.
func size(dims []int) (int, error) {
	n := 1
	for _, d := range dims {
		if d < 0 || len(dims) > maxDims || d > 0 && n > maxNumbers/d {
			return 0, fmt.Errorf("an array of the shape %v is too large, or none", dims)
		}
		n *= d
	}
	return n, nil
}

// values returns the numbers of a tensor, floats or integers. Each of them lies in the
// file, so that they take no more memory than a few times its size.
func (t *tensor) values() (floats []float32, ints []int, err error) {
	n, err := size(t.dims)
	if err != nil {
		return nil, nil, err
	}
	if t.other {
		return nil, nil, fmt.Errorf("the constant %q lies in a file of its own; save the model as one file", t.name)
	}
	width := map[int]int{typeFloat: 4, typeInt32: 4, typeInt64: 8, typeHalf: 2, typeDouble: 8}[t.kind]
	if width == 0 {
		return nil, nil, fmt.Errorf("the constant %q has numbers of type %d; want float, float16, double, int32 or int64", t.name, t.kind)
	}
	held := map[int]int{typeFloat: len(t.floats), typeInt32: len(t.ints), typeInt64: len(t.ints), typeHalf: len(t.ints), typeDouble: len(t.doubles)}[t.kind]
	if t.raw != nil {
		held = len(t.raw) / width
	}
	if held != n || t.raw != nil && len(t.raw) != n*width {
		return nil, nil, fmt.Errorf("the constant %q has %d numbers and the shape %v", t.name, held, t.dims)
	}
	if t.kind == typeInt32 || t.kind == typeInt64 {
		if t.raw == nil {
			return nil, t.ints, nil
		}
		ints = make([]int, n)
		for i := range ints {
			if t.kind == typeInt64 {
				ints[i] = whole(binary.LittleEndian.Uint64(t.raw[8*i:]))
			} else {
				ints[i] = int(int32(binary.LittleEndian.Uint32(t.raw[4*i:])))
			}
		}
		return nil, ints, nil
	}
	if t.kind == typeFloat && t.raw == nil {
		return t.floats, nil, nil
	}
	floats = make([]float32, n)
	for i := range floats {
		switch {
		case t.kind == typeFloat:
			floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.raw[4*i:]))
		case t.kind == typeHalf && t.raw == nil:
			floats[i] = half(uint16(t.ints[i]))
		case t.kind == typeHalf:
			floats[i] = half(binary.LittleEndian.Uint16(t.raw[2*i:]))
		case t.raw == nil:
			floats[i] = float32(t.doubles[i])
		default:
			floats[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(t.raw[8*i:])))
		}
	}
	return floats, nil, nil
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
