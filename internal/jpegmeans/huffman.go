package jpegmeans

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// lookBits is the longest code that is looked up at once.
const lookBits = 9

// table is a Huffman table (T.81, annexes C and F.2.2.3).
type table struct {
	symbols []byte // in the order of codes, up to 256; none where the table is not defined
	// look holds for each number of lookBits bits the symbol of the code with which they begin,
	// and behind it the code's length, or 0 where that is longer.
	look [1 << lookBits]uint16
	// limit holds for each length, laid out to 16 bits, the first number that begins with no code of
	// up to this length, and first what leads from a code to the place of its symbol.
	limit [16]uint32
	first [16]int32
}

// eachTable calls f for each table of a segment of Huffman tables (T.81, B.2.4.2), with its class, times
// 16, and number, how many codes it has of each length from 1 to 16, and their symbols.
func eachTable(data []byte, f func(which byte, counts, symbols []byte) error) error {
	for len(data) > 0 {
		if len(data) < 17 {
			return fmt.Errorf("a Huffman table of %d bytes in a JPEG, want 17 at least", len(data))
		}
		which, counts, n := data[0], data[1:17], 0
		if which>>4 > 1 || which&0xf > 3 {
			return fmt.Errorf("a JPEG with Huffman table %#x", which)
		}
		for _, count := range counts {
			n += int(count)
		}
		if n == 0 || n > 256 || len(data) < 17+n {
			return fmt.Errorf("a Huffman table of a JPEG with %d codes, and %d bytes of them", n, len(data)-17)
		}
		if err := f(which, counts, data[17:17+n]); err != nil {
			return err
		}
		data = data[17+n:]
	}
	return nil
}

// checkCodes returns an error where there are more codes than prefix codes of their lengths.
func checkCodes(counts []byte) error {
	free := 1
	for _, n := range counts {
		if free = 2*free - int(n); free < 0 {
			return errors.New("a Huffman table of a JPEG with more codes than there are")
		}
	}
	return nil
}

// define makes what codes are found by.
func (t *table) define(counts, symbols []byte) error {
	if err := checkCodes(counts); err != nil {
		return err
	}
	*t = table{symbols: symbols}
	code, at := uint32(0), 0
	for i, n := range counts {
		length := i + 1
		t.first[i] = int32(at) - int32(code)
		for range n {
			if length <= lookBits {
				from := code << (lookBits - length)
				for j := range uint32(1) << (lookBits - length) {
					t.look[from+j] = uint16(symbols[at])<<8 | uint16(length)
				}
			}
			code++
			at++
		}
		t.limit[i] = code << (16 - length)
		code <<= 1
	}
	return nil
}

// readTables reads Huffman tables.
func (d *decoder) readTables(data []byte) error {
	return eachTable(data, func(which byte, counts, symbols []byte) error {
		if d.frame != nil && d.frame.baseline && which&0xf > 1 {
			return fmt.Errorf("a baseline JPEG with Huffman table %#x", which)
		}
		if which>>4 == 0 {
			return d.dc[which&0xf].define(counts, symbols)
		}
		return d.ac[which&0xf].define(counts, symbols)
	})
}

// bits are those of a scan, or of a part between restarts. Beyond their end they are 0, and n falls
// below 0 when they are taken.
type bits struct {
	data []byte
	from int // where they begin
	at   int // where the next byte is
	next uint64
	n    int // how many of next there are; the rest is what follows, or 0
	over bool
}

// start begins at a byte of the file.
func (b *bits) start(content []byte, at int) { *b = bits{data: content, from: at, at: at} }

// enough is how many bits fill has ready, unless they end: a code and a value take up to 32.
const enough = 32

// fill reads bytes. Behind 0xff there stands a 0, which is no data (T.81, F.1.2.3), or a marker,
// where the bits end.
func (b *bits) fill() {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	if b.over {
		return
	}
	if b.at+8 <= len(b.data) {
		w := binary.BigEndian.Uint64(b.data[b.at:])
		if (^w-ones)&w&tops == 0 { // no byte is 0xff
			b.next |= w >> uint(b.n)
			whole := (64 - b.n) >> 3
			b.at += whole
			b.n += 8 * whole
			return
		}
	}
	for b.n <= 56 {
		if b.at >= len(b.data) {
			b.over = true
			return
		}
		c := b.data[b.at]
		if c == 0xff {
			if b.at+1 >= len(b.data) || b.data[b.at+1] != 0 {
				b.over = true
				return
			}
			b.at++
		}
		b.at++
		b.next |= uint64(c) << uint(56-b.n)
		b.n += 8
	}
}

// end returns where the byte stands that follows the last of which a bit was taken.
func (b *bits) end() int {
	at := b.at
	for n := b.n; n >= 8; n -= 8 {
		at--
		if at-1 >= b.from && b.data[at] == 0 && b.data[at-1] == 0xff {
			at--
		}
	}
	return at
}

// read returns the next n bits, up to 16.
func (b *bits) read(n int) uint32 {
	if b.n < enough {
		b.fill()
	}
	v := b.next >> 1 >> uint(63-n)
	b.next <<= uint(n)
	b.n -= n
	return uint32(v)
}

// symbol returns the symbol of the next code. It is a fault of bits without a code, and may be
// one of bits that have ended.
func (b *bits) symbol(t *table) (symbol byte, ok bool) {
	if b.n < enough {
		b.fill()
	}
	if e := t.look[b.next>>(64-lookBits)]; e != 0 {
		b.next <<= e & 0xff
		b.n -= int(e & 0xff)
		return byte(e >> 8), true
	}
	return b.long(t)
}

// long is symbol for codes that are not looked up at once.
func (b *bits) long(t *table) (symbol byte, ok bool) {
	code := uint32(b.next >> 48)
	for i := lookBits; i < 16; i++ {
		if code < t.limit[i] {
			b.next <<= uint(i + 1)
			b.n -= i + 1
			return t.symbols[t.first[i]+int32(code>>(15-i))], true
		}
	}
	return 0, false
}

// value returns the next value of so many bits, up to 16 (T.81, F.2.2.1, EXTEND).
func (b *bits) value(size int) int32 {
	if size == 0 {
		return 0
	}
	positive := int64(b.next) >> 63 // all bits of it, or none
	v := int64(b.next >> uint(64-size))
	b.next <<= uint(size)
	b.n -= size
	return int32(v + (1-1<<uint(size))&^positive)
}
