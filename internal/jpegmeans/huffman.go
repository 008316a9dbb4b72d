package jpegmeans

import "encoding/binary"

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

// define makes what codes are found by. It is false where there are more codes than prefix codes of their lengths.
func (t *table) define(counts, symbols []byte) bool {
	*t = table{symbols: symbols}
	code, at := uint32(0), 0
	for i, n := range counts {
		length := i + 1
		if code+uint32(n) > 1<<length {
			return false
		}
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
	return true
}

// readTables reads Huffman tables (T.81, B.2.4.2).
func (d *decoder) readTables(data []byte) error {
	for len(data) > 0 {
		if len(data) < 17 {
			return errDamaged
		}
		class, number, counts, n := data[0]>>4, data[0]&0xf, data[1:17], 0
		for _, count := range counts {
			n += int(count)
		}
		if class > 1 || number > 3 || number > 1 && d.frame != nil && d.frame.baseline || n == 0 || n > 256 || len(data) < 17+n {
			return errDamaged
		}
		t := &d.dc[number]
		if class == 1 {
			t = &d.ac[number]
		}
		if !t.define(counts, data[17:17+n]) {
			return errDamaged
		}
		data = data[17+n:]
	}
	return nil
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
