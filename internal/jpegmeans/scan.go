package jpegmeans

import (
	"encoding/binary"
	"image"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// zigzag maps the order of coefficients in the file to their index in a block (T.81, figure 5).
var zigzag = [blockSize]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

// decoder decodes a file. Its methods call guard.Fail.
type decoder struct {
	reader
	times int
	frame *frame
	seen  int // bit set of the components in scans so far

	quant    [4][blockSize]int32 // in the order of the file
	tables   [2][4]table         // of DC and AC
	interval int                 // MCUs between restarts, or 0

	bits     bits
	block    block
	endOfRun int   // number of blocks left in an end-of-block run
	most     int64 // largest sum of magnitudes in a block, which tests check

	counting bool // only count the complete rows, without an image
	rows     int
}

func (d *decoder) tryDecode() (img image.Image, err error) {
	err = guard.Try(func() { img = d.decode() })
	return img, err
}

func (d *decoder) decode() image.Image {
	endsIf(len(d.content) < 2)
	damagedIf(d.content[0] != 0xff || d.content[1] != startOfImage)
	d.at = 2
	for {
		marker, data := d.nextSegment()
		switch {
		case marker == endOfImage:
			damagedIf(d.seen == 0 || d.counting)
			c := d.frame.components
			box := image.Rect(0, 0, c[0].stride, len(c[0].means)/c[0].stride)
			if len(c) == 1 {
				return &image.Gray{Pix: c[0].means, Stride: c[0].stride, Rect: box}
			}
			return &image.YCbCr{
				Y: c[0].means, Cb: c[1].means, Cr: c[2].means, YStride: c[0].stride, CStride: c[1].stride,
				SubsampleRatio: image.YCbCrSubsampleRatio444, Rect: box,
			}
		case marker == startOfFrame || marker == startOfExtended:
			damagedIf(d.frame != nil)
			d.frame = readFrame(marker, data)
		case marker == huffmanTables:
			d.readTables(data)
		case marker == quantTables:
			d.readQuant(data)
		case marker == startOfScan:
			d.scan(data)
		case marker == restartInterval:
			damagedIf(len(data) != 2)
			d.interval = int(data[0])<<8 | int(data[1])
		default:
			damagedIf((marker < application0 || marker > application15) && marker != comment)
		}
	}
}

// start allocates the image before the first scan.
func (d *decoder) start() {
	width, height := d.frame.width, d.frame.height
	across, down := d.frame.subsampling()
	for i := range d.frame.components {
		c := &d.frame.components[i]
		if i == 0 {
			c.width, c.height, c.across, c.down = width, height, &averages[d.times], &averages[d.times]
		} else {
			c.width, c.height = (width+across-1)/across, (height+down-1)/down
			c.across, c.down = &averages[d.times/across], &averages[d.times/down]
		}
		c.stride = (width + d.times - 1) / d.times
		c.means = make([]uint8, c.stride*((height+d.times-1)/d.times))
	}
}

// scan reads the data of a scan with the given header (T.81, B.2.3).
func (d *decoder) scan(header []byte) {
	first := d.seen == 0
	parts := d.readScan(header)
	if first && !d.counting {
		d.start()
	}
	// Number of minimum coded units in x and y (T.81, A.2.3).
	h, v := d.frame.components[0].h, d.frame.components[0].v
	across, down := (d.frame.width+8*h-1)/(8*h), (d.frame.height+8*v-1)/(8*v)
	expected := byte(restart0)
	d.bits = bits{data: d.content, at: d.at}
	for unit := range across * down {
		if unit%across == 0 {
			d.rows = unit / across * 8 * v
		}
		if d.interval > 0 && unit > 0 && unit%d.interval == 0 {
			d.restart(expected)
			expected = restart0 | (expected+1)&7
			for _, c := range parts {
				c.last = 0
			}
			d.endOfRun = 0
		}
		for _, c := range parts {
			d.unit(c, unit, across, len(parts) == 1)
		}
	}
	d.at, d.rows = d.bits.at, d.frame.height
}

// unit reads the blocks of a component in a minimum coded unit. If the component is alone, blocks are in row order
// and only within the image.
func (d *decoder) unit(c *component, unit, across int, alone bool) {
	b, h, v := &d.block, c.h, c.v
	for j := range h * v {
		x, y := unit%across*h+j%h, unit/across*v+j/h
		if alone {
			at := unit*h*v + j
			x, y = at%(across*h), at/(across*h)
			if 8*x >= d.frame.width || 8*y >= d.frame.height {
				continue
			}
		}
		d.sequential(c)
		if !d.counting {
			c.writeMeans(b, x, y)
		}
		d.most = max(d.most, b.sum+int64(max(b.values[0], -b.values[0])))
		if b.sum > 0 {
			b.values = [blockSize]int32{}
		}
		b.columns, b.sum = 0, 0
	}
}

// readScan reads the header of a scan, and returns its components.
func (d *decoder) readScan(header []byte) (parts []*component) {
	damagedIf(d.frame == nil || len(header) == 0)
	n, most := int(header[0]), byte(3)
	damagedIf(n < 1 || n > len(d.frame.components) || len(header) != 4+2*n)
	if d.frame.baseline {
		most = 1
	}
	total, here := 0, 0
	for i := range n {
		index, tables := d.frame.component(header[1+2*i]), header[2+2*i]
		damagedIf(index < 0 || here>>index&1 != 0 || tables>>4 > most || tables&0xf > most)
		here |= 1 << index
		c := &d.frame.components[index]
		c.dc, c.ac, c.last = &d.tables[0][tables>>4], &d.tables[1][tables&0xf], 0
		parts = append(parts, c)
		total += c.h * c.v
	}
	damagedIf(len(d.frame.components) > 1 && total > 10)
	d.seen |= here
	return parts
}

// restart continues after the next restart marker, which must be the expected one.
func (d *decoder) restart(expected byte) {
	for at := d.bits.at; at+1 < len(d.content); at++ {
		if d.content[at] != 0xff {
			continue
		}
		switch d.content[at+1] {
		case expected:
			d.bits = bits{data: d.content, at: at + 2}
			return
		case 0:
			at++
		case 0xff:
		default:
			damagedIf(true)
		}
	}
	endsIf(true)
}

// sequential reads a block (T.81, F.2.2). Like image/jpeg it accepts end-of-block runs.
func (d *decoder) sequential(c *component) {
	r, b, quant := &d.bits, &d.block, &d.quant[c.quant]
	size, ok := r.symbol(c.dc)
	damagedIf(!ok || size > 16)
	c.last += r.value(int(size))
	b.set(0, int64(c.last)*int64(quant[0]))
	for k := 1; k < blockSize && d.endOfRun == 0; k++ {
		symbol, ok := r.symbol(c.ac)
		damagedIf(!ok)
		run, size := symbol>>4, int(symbol&0xf)
		switch {
		case size == 0 && run < 15:
			d.endOfRun = 1<<run | int(r.read(int(run)))
		case size == 0:
			k += 15
		default:
			if k += int(run); k < blockSize {
				b.set(zigzag[k], int64(r.value(size))*int64(quant[k]))
			}
		}
	}
	d.endOfRun = max(d.endOfRun-1, 0)
	damagedIf(r.n < 0)
}

const lookBits = 9 // length of the longest code in the lookup table

// table is a Huffman table (T.81, annexes C and F.2.2.3).
type table struct {
	symbols []byte // by code, up to 256; empty if the table is not defined
	// look maps the next lookBits bits to a symbol and its code length, or to 0 if the code is longer.
	look [1 << lookBits]uint16
	// limit is, for each length, the first 16-bit prefix that no code of up to this length matches. first maps a code
	// to the index of its symbol.
	limit [16]uint32
	first [16]int32
}

// define builds the table from code lengths and symbols. It returns false if no prefix code has these lengths.
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
func (d *decoder) readTables(data []byte) {
	for len(data) > 0 {
		damagedIf(len(data) < 17)
		class, number, counts, n := data[0]>>4, data[0]&0xf, data[1:17], 0
		for _, count := range counts {
			n += int(count)
		}
		damagedIf(class > 1 || number > 3 || number > 1 && d.frame != nil && d.frame.baseline || n == 0 || n > 256 || len(data) < 17+n)
		damagedIf(!d.tables[class][number].define(counts, data[17:17+n]))
		data = data[17+n:]
	}
}

// bits is a bit reader for the data between restarts. After the end it reads zeros, and n becomes negative.
type bits struct {
	data []byte
	at   int // offset of the next byte, never after a marker
	next uint64
	n    int // number of valid bits in next, from the top
	over bool
}

const enough = 32 // number of bits that fill provides before the end: a code and a value take up to 32

// fill reads bytes into next. It skips a stuffed 0 after 0xff (T.81, F.1.2.3); a marker ends the data.
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

func (b *bits) read(n int) uint32 {
	if b.n < enough {
		b.fill()
	}
	v := b.next >> 1 >> uint(63-n)
	b.next <<= uint(n)
	b.n -= n
	return uint32(v)
}

// symbol returns the symbol of the next code. After the end of the data it may return any symbol.
func (b *bits) symbol(t *table) (symbol byte, ok bool) {
	if b.n < enough {
		b.fill()
	}
	if e := t.look[b.next>>(64-lookBits)]; e != 0 {
		b.next <<= e & 0xff
		b.n -= int(e & 0xff)
		return byte(e >> 8), true
	}
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

// value returns the next signed value of size bits, up to 16 (T.81, F.2.2.1, EXTEND).
func (b *bits) value(size int) int32 {
	positive := int32(int64(b.next) >> 63) // all ones if the top bit is set, else 0
	return int32(b.read(size)) + (1-1<<size)&^positive
}
