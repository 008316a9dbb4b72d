// Package fuzztest lets a fuzz target try many inputs for each that the engine of
// package testing makes, which costs several times as much as most targets do.
package fuzztest

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// Variable names the environment variable that says how many inputs a target tries
// beside each that it is given, 0 where it is not set.
const Variable = "PARTWISE_FUZZ_MUTATIONS"

// Repeat returns the fuzz target, for testing.F.Fuzz. Where the environment asks for
// it, the target is also called with mutations of each input. They depend on the input
// alone. One that fails is kept in testdata/fuzz, where the engine keeps its own.
func Repeat[F any](target F) F {
	mutations, _ := strconv.Atoi(os.Getenv(Variable))
	if mutations <= 0 {
		return target
	}
	call := reflect.ValueOf(target)
	return reflect.MakeFunc(call.Type(), func(args []reflect.Value) []reflect.Value {
		call.Call(args)
		t := args[0].Interface().(*testing.T)
		rng := seeded(args[1:])
		for i := 0; i < mutations && !t.Failed(); i++ {
			try(t, call, args[:1], mutate(rng, args[1:]))
		}
		return nil
	}).Interface().(F)
}

// try calls the target and keeps the input if it fails, panics or ends the test.
func try(t *testing.T, call reflect.Value, test, input []reflect.Value) {
	ended := false
	defer func() {
		switch {
		case ended && !t.Failed():
			return
		case t.Skipped():
			t.Error("a target that skips ends its mutations; it should return")
		}
		name, _, _ := strings.Cut(t.Name(), "/")
		file, err := keep(filepath.Join("testdata", "fuzz", name), input)
		t.Logf("failing mutation: %s, error %v", file, err)
	}()
	call.Call(append(test[:1:1], input...))
	ended = true
}

// keep writes an input to a new file of a folder, in the format of package testing.
func keep(dir string, input []reflect.Value) (string, error) {
	var text strings.Builder
	text.WriteString("go test fuzz v1\n")
	for _, v := range input {
		switch x := v.Interface().(type) {
		case []byte:
			fmt.Fprintf(&text, "[]byte(%q)\n", x)
		case string:
			fmt.Fprintf(&text, "string(%q)\n", x)
		case float64:
			fmt.Fprintf(&text, "math.Float64frombits(0x%x)\n", math.Float64bits(x))
		case uint8:
			fmt.Fprintf(&text, "byte(%q)\n", x)
		default:
			fmt.Fprintf(&text, "%T(%v)\n", x, x)
		}
	}
	sum := fnv.New64a()
	sum.Write([]byte(text.String()))
	file := filepath.Join(dir, fmt.Sprintf("%016x", sum.Sum64()))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return file, err
	}
	return file, os.WriteFile(file, []byte(text.String()), 0o666)
}

// seeded returns a source of random numbers that depends on an input alone.
func seeded(input []reflect.Value) *rand.Rand {
	sum := fnv.New64a()
	for _, v := range input {
		switch x := v.Interface().(type) {
		case []byte:
			sum.Write(x)
		case string:
			sum.Write([]byte(x))
		default:
			fmt.Fprint(sum, x)
		}
		sum.Write([]byte{0xff})
	}
	return rand.New(rand.NewPCG(sum.Sum64(), 1))
}

// mutate returns an input that differs from the given one in one value, in up to four
// steps.
func mutate(rng *rand.Rand, input []reflect.Value) []reflect.Value {
	out := append([]reflect.Value(nil), input...)
	i := rng.IntN(len(input))
	v := reflect.New(input[i].Type()).Elem()
	switch old := input[i]; old.Kind() {
	case reflect.Slice:
		v.SetBytes(mutateBytes(rng, old.Bytes()))
	case reflect.String:
		v.SetString(string(mutateBytes(rng, []byte(old.String()))))
	case reflect.Bool:
		v.SetBool(!old.Bool())
	case reflect.Float64:
		v.SetFloat(mutateFloat(rng, old.Float()))
	case reflect.Int:
		v.SetInt(int64(mutateInteger(rng, uint64(old.Int()))))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(mutateInteger(rng, old.Uint()) & (1<<(v.Type().Bits()-1)<<1 - 1))
	default:
		panic("fuzztest: no mutation of a " + old.Type().String())
	}
	out[i] = v
	return out
}

// longestInsertion bounds by how many bytes one step lengthens an input.
const longestInsertion = 64

// integers are numbers at which sizes and signs turn over.
var integers = []uint64{
	0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
	math.MaxInt32, 1 << 31, math.MaxUint32, 1 << 32, math.MaxInt64, 1 << 63, math.MaxUint64,
}

func mutateInteger(rng *rand.Rand, x uint64) uint64 {
	switch rng.IntN(4) {
	case 0:
		return integers[rng.IntN(len(integers))]
	case 1:
		return x ^ 1<<rng.IntN(64)
	case 2:
		return rng.Uint64()
	default:
		return x + uint64(rng.IntN(33)) - 16
	}
}

func mutateFloat(rng *rand.Rand, x float64) float64 {
	switch rng.IntN(4) {
	case 0:
		return math.Float64frombits(rng.Uint64())
	case 1:
		return []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64}[rng.IntN(7)]
	case 2:
		return -x
	default:
		return x * math.Pow(10, float64(rng.IntN(41)-20))
	}
}

// mutateBytes returns other bytes, in memory of their own.
func mutateBytes(rng *rand.Rand, old []byte) []byte {
	b := append(make([]byte, 0, len(old)+4*longestInsertion), old...)
	for range 1 + rng.IntN(4) {
		n := len(b)
		if n == 0 {
			b = append(b, byte(rng.Uint32()))
			continue
		}
		// A piece of the input: from and to.
		from := rng.IntN(n)
		to := from + 1 + rng.IntN(min(n-from, longestInsertion))
		switch rng.IntN(10) {
		case 0: // one bit
			b[from] ^= 1 << rng.IntN(8)
		case 1: // one byte
			b[from] = byte(rng.Uint32())
		case 2: // a piece is left out
			b = append(b[:from], b[to:]...)
		case 3: // the end is left out
			b = b[:from]
		case 4, 5: // a piece stands once more, elsewhere or in place of others
			piece := append([]byte(nil), b[from:to]...)
			at := rng.IntN(n)
			if rng.IntN(2) == 0 {
				copy(b[at:], piece)
				break
			}
			b = append(b[:at], append(piece, b[at:]...)...)
		case 6: // the same byte many times
			for i := from; i < to; i++ {
				b[i] = b[from]
			}
		case 7: // a number of two, four or eight bytes, in either order
			var number [8]byte
			x := integers[rng.IntN(len(integers))]
			size := 2 << rng.IntN(3)
			if rng.IntN(2) == 0 {
				binary.LittleEndian.PutUint64(number[:], x)
				copy(b[from:], number[:size])
			} else {
				binary.BigEndian.PutUint64(number[:], x)
				copy(b[from:], number[8-size:])
			}
		case 8: // a number in digits
			b = append(b[:from], append(strconv.AppendInt(nil, int64(integers[rng.IntN(len(integers))]), 10), b[from:]...)...)
		case 9: // a byte a little greater or less
			b[from] += byte(rng.IntN(33) - 16)
		}
	}
	return b
}
