// Package number decodes numbers of binary files.
package number

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Kind is the binary format of a number.
type Kind int

const (
	None Kind = iota
	Uint8
	Int8
	Uint16
	Int16
	Uint32
	Int32
	Uint64
	Int64
	Float16
	Float32
	Float64
)

// Size returns the size of a number in bytes.
func (k Kind) Size() int {
	return [...]int{None: 8, Uint8: 1, Int8: 1, Uint16: 2, Int16: 2, Uint32: 4, Int32: 4, Uint64: 8, Int64: 8, Float16: 2, Float32: 4, Float64: 8}[k]
}

// Whole reports whether the kind is an integer.
func (k Kind) Whole() bool { return k != None && k < Float16 }

// In returns a function that decodes the i-th number of raw.
func (k Kind) In(raw []byte, order binary.ByteOrder) func(i int) float64 {
	switch k {
	case Uint8:
		return func(i int) float64 { return float64(raw[i]) }
	case Int8:
		return func(i int) float64 { return float64(int8(raw[i])) }
	case Uint16:
		return func(i int) float64 { return float64(order.Uint16(raw[2*i:])) }
	case Int16:
		return func(i int) float64 { return float64(int16(order.Uint16(raw[2*i:]))) }
	case Uint32:
		return func(i int) float64 { return float64(order.Uint32(raw[4*i:])) }
	case Int32:
		return func(i int) float64 { return float64(int32(order.Uint32(raw[4*i:]))) }
	case Uint64:
		return func(i int) float64 { return float64(order.Uint64(raw[8*i:])) }
	case Int64:
		return func(i int) float64 { return float64(int64(order.Uint64(raw[8*i:]))) }
	case Float16:
		return func(i int) float64 { return Half(order.Uint16(raw[2*i:])) }
	case Float32:
		return func(i int) float64 { return float64(math.Float32frombits(order.Uint32(raw[4*i:]))) }
	default:
		return func(i int) float64 { return math.Float64frombits(order.Uint64(raw[8*i:])) }
	}
}

// Half returns the value of an IEEE 754 binary16 number: sign, 5 bits of exponent, 10 bits of fraction.
func Half(bits uint16) float64 {
	// A float32 has the same parts, and an exponent that is 112 higher.
	v := float64(math.Float32frombits(uint32(bits&0x7fff)<<13)) * 0x1p112
	switch infinite := uint16(0x7c00); {
	case bits&0x7fff > infinite:
		return math.NaN()
	case bits&0x7fff == infinite:
		v = math.Inf(1)
	}
	if bits>>15 != 0 {
		return -v
	}
	return v
}

// Buffered returns a buffered reader for r, which has n bytes, or 0 if unknown. The buffer has at most 64 KiB.
func Buffered(r io.Reader, n int64) *bufio.Reader {
	size := int64(1 << 16)
	if n > 0 {
		size = min(n, size)
	}
	return bufio.NewReaderSize(r, int(size))
}

// MaxBytes exceeds the size of any array that fits into memory.
const MaxBytes = 1 << 40

// ReadBytes reads exactly n bytes, of which at least known exist. It allocates memory for the others while it reads,
// so that a false n is an error that takes no memory.
func ReadBytes(r io.Reader, n, known int64) ([]byte, error) {
	data := make([]byte, 0, min(n, max(known, 1<<16)))
	for int64(len(data)) < n {
		if len(data) == cap(data) {
			data = append(make([]byte, 0, min(n, 2*int64(cap(data)))), data...)
		}
		k, err := io.ReadFull(r, data[len(data):cap(data)])
		data = data[:len(data)+k]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return data, fmt.Errorf("the header declares %d bytes, but the file has %d: %w", n, len(data), io.ErrUnexpectedEOF)
		}
		if err != nil {
			return data, err
		}
	}
	return data, nil
}

// Write writes values in little-endian order, a few at a time, up to the first error.
func Write[T any](w io.Writer, values []T) error {
	for some := range slices.Chunk(values, 8192) {
		if err := binary.Write(w, binary.LittleEndian, some); err != nil {
			return err
		}
	}
	return nil
}

// End returns an error unless r is at its end. In an archive this also verifies the checksum.
func End(r *bufio.Reader) error {
	switch _, err := r.ReadByte(); err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("extra bytes after the values")
	default:
		return err
	}
}
