package network

import (
	"encoding/binary"

	"github.com/seed4492f2cd/partwise/internal/number"
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
	kind, known := kinds[t.kind]
	if !known {
		fail("the constant %q has numbers of type %d; want float, float16, double, int32 or int64", t.name, t.kind)
	}
	held, at := len(t.floats)+len(t.ints)+len(t.doubles), func(i int) float64 { return 0 }
	switch {
	case t.raw != nil:
		held, at = len(t.raw)/kind.Size(), kind.In(t.raw, binary.LittleEndian)
		if len(t.raw)%kind.Size() != 0 {
			held = -1
		}
	case t.floats != nil:
		at = func(i int) float64 { return float64(t.floats[i]) }
	case t.doubles != nil:
		at = func(i int) float64 { return t.doubles[i] }
	case kind == number.Float16:
		at = func(i int) float64 { return number.Half(uint16(t.ints[i])) }
	case t.ints != nil:
		at = func(i int) float64 { return float64(t.ints[i]) }
	}
	if held != n {
		fail("the constant %q has %d numbers and the shape %v", t.name, held, t.dims)
	}
	v := &value{shape: t.dims}
	if kind.Whole() {
		v.ints = make([]int, n)
		for i := range v.ints {
			v.ints[i] = int(min(max(at(i), -maxInt), maxInt))
		}
		return v
	}
	v.floats = make([]float32, n)
	for i := range v.floats {
		v.floats[i] = float32(at(i))
	}
	return v
}

// kinds are the types of numbers that are read.
var kinds = map[int]number.Kind{
	typeFloat: number.Float32, typeInt32: number.Int32, typeInt64: number.Int64, typeHalf: number.Float16, typeDouble: number.Float64,
}
