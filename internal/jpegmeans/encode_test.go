package jpegmeans

import (
	"encoding/binary"
	"math"
	mathbits "math/bits"
	"math/rand/v2"
	"slices"
)

// written is a JPEG file that a test encodes from coefficients.
type written struct {
	width, height int
	sampling      [][2]int // across and down, of each component
	names         string   // of components, "\x01\x02\x03" where empty
	marker        byte     // of the frame
	interval      int
	quant         []byte
	segments      []byte // before the frame
	scans         []writtenScan
	// sample, if set, gives the samples of a component, and codes fit their coefficients. Without it, coefficients
	// are random.
	sample func(component, x, y int) float64
}

// band selects the coefficients of a scan, in the file's order, and their bits (T.81, G.1.1.1).
type band struct {
	from, to  int
	high, low uint
}

type writtenScan struct {
	components []int
	band
}

// sequentialScan has all coefficients of the components.
func sequentialScan(components ...int) writtenScan {
	return writtenScan{components, band{to: blockSize - 1}}
}

// progressiveScans returns the scans of a progressive file with a number of components.
func progressiveScans(components int) []writtenScan {
	all := make([]int, components)
	var out []writtenScan
	for i := range all {
		all[i] = i
	}
	out = append(out, writtenScan{all, band{0, 0, 0, 1}})
	for i := range all {
		out = append(out, writtenScan{all[i : i+1], band{1, 5, 0, 2}}, writtenScan{all[i : i+1], band{6, 63, 0, 2}},
			writtenScan{all[i : i+1], band{1, 63, 2, 1}})
	}
	out = append(out, writtenScan{all, band{0, 0, 1, 0}})
	for i := range all {
		out = append(out, writtenScan{all[i : i+1], band{1, 63, 1, 0}})
	}
	return out
}

func segment(marker byte, data ...byte) []byte {
	out := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2))
	return append(out, data...)
}

// codes are Huffman codes.
type codes struct {
	table  []byte // counts and symbols, as they are written
	code   [256]uint32
	length [256]int
}

// anyCodes are codes of all 256 symbols, of 4 to 16 bits.
func anyCodes(rng *rand.Rand) *codes {
	return newCodes([]byte{0, 0, 0, 8, 0, 16, 0, 32, 0, 64, 0, 128, 0, 0, 0, 8}, rng.Perm(256))
}

// codesFor returns codes as encoders choose them, shorter for more frequent symbols.
func codesFor(times *[256]int) *codes {
	var symbols []int
	for s := range times {
		symbols = append(symbols, s)
	}
	slices.SortStableFunc(symbols, func(a, b int) int { return times[b] - times[a] })
	return newCodes([]byte{0, 2, 1, 3, 3, 2, 4, 3, 5, 3, 4, 4, 0, 0, 0, 222}, symbols)
}

// newCodes returns codes for the symbols in order; counts holds the number of codes of each length.
func newCodes(counts []byte, symbols []int) *codes {
	c := &codes{table: slices.Clone(counts)}
	code, at := uint32(0), 0
	for i, n := range counts {
		for range n {
			c.code[symbols[at]], c.length[symbols[at]] = code, i+1
			c.table = append(c.table, byte(symbols[at]))
			code, at = code+1, at+1
		}
		code <<= 1
	}
	return c
}

// encoder writes the bits of scans.
type encoder struct {
	out     []byte
	next    uint64
	n       int
	codes   *codes
	times   [256]int // that each symbol was written
	run     int      // blocks that have ended and are not written
	pending []uint32 // bits of coefficients of these
	last    [4]int
}

func (e *encoder) put(v uint32, n int) {
	for n--; n >= 0; n-- {
		e.next = e.next<<1 | uint64(v>>n&1)
		if e.n++; e.n == 8 {
			e.out = append(e.out, byte(e.next))
			if byte(e.next) == 0xff {
				e.out = append(e.out, 0)
			}
			e.n = 0
		}
	}
}

func (e *encoder) symbol(s int) {
	e.times[s]++
	e.put(e.codes.code[s], e.codes.length[s])
}

// value writes the bits of a value. The symbol holds its size.
func (e *encoder) value(v, size int) {
	if v < 0 {
		v += 1<<size - 1
	}
	e.put(uint32(v), size)
}

func sizeOf(v int) int { return mathbits.Len(uint(max(v, -v))) }

func (e *encoder) flushRun() {
	if e.run > 0 {
		size := mathbits.Len(uint(e.run)) - 1
		e.symbol(size << 4)
		e.put(uint32(e.run-1<<size), size)
		e.run = 0
	}
	e.flush()
}

func (e *encoder) flush() {
	for _, bit := range e.pending {
		e.put(bit, 1)
	}
	e.pending = nil
}

// pad fills the last byte.
func (e *encoder) pad() {
	e.flushRun()
	for e.n > 0 {
		e.put(1, 1)
	}
	e.last = [4]int{}
}

func (e *encoder) block(b band, component int, values *[blockSize]int, progressive bool) {
	k := b.from
	if k == 0 {
		v := values[0] >> b.low
		if b.high > 0 {
			e.put(uint32(v&1), 1)
			return
		}
		size := sizeOf(v - e.last[component])
		e.symbol(size)
		e.value(v-e.last[component], size)
		e.last[component] = v
		if k++; k > b.to {
			return
		}
	}
	end := -1 // the last coefficient that is new
	shifted := func(k int) int { return max(values[k], -values[k]) >> b.low }
	for j := k; j <= b.to; j++ {
		if s := shifted(j); s == 1 || s > 0 && b.high == 0 {
			end = j
		}
	}
	zeros := 0
	var own []uint32 // bits of coefficients that are not new
	for ; k <= b.to; k++ {
		s := shifted(k)
		if s == 0 {
			zeros++
			continue
		}
		for zeros > 15 && k <= end {
			e.flushRun()
			e.symbol(0xf0)
			zeros -= 16
			e.pending, own = own, nil
			e.flush()
		}
		if b.high > 0 && s > 1 {
			own = append(own, uint32(s&1))
			continue
		}
		e.flushRun()
		size := sizeOf(s)
		e.symbol(zeros<<4 | size)
		if values[k] < 0 {
			s = -s
		}
		e.value(s, size)
		e.pending, own = own, nil
		e.flush()
		zeros = 0
	}
	if zeros > 0 || len(own) > 0 {
		if !progressive {
			e.symbol(0)
			return
		}
		e.run++
		e.pending = append(e.pending, own...)
		if e.run == 1<<15-1 {
			e.flushRun()
		}
	}
}

// file writes the file.
func (w written) file(rng *rand.Rand) []byte {
	values := w.coefficients(rng)
	e := &encoder{codes: anyCodes(rng)}
	if w.sample != nil {
		w.write(e, values)
		e = &encoder{codes: codesFor(&e.times)}
	}
	return w.write(e, values)
}

// units returns the numbers of units across and down, and the sampling factors of a component.
func (w written) units() (across, down int, factors func(component int) (h, v int)) {
	factors = func(component int) (h, v int) {
		if len(w.sampling) == 1 {
			return 1, 1
		}
		return w.sampling[component][0], w.sampling[component][1]
	}
	h, v := factors(0)
	return (w.width + 8*h - 1) / (8 * h), (w.height + 8*v - 1) / (8 * v), factors
}

// coefficients returns the coefficients of the blocks of each component, from its samples or random ones with mostly
// low frequencies, as in photographs.
func (w written) coefficients(rng *rand.Rand) [][][blockSize]int {
	across, down, factors := w.units()
	values := make([][][blockSize]int, len(w.sampling))
	for i := range values {
		h, v := factors(i)
		values[i] = make([][blockSize]int, across*down*h*v)
		for j := range values[i] {
			b := &values[i][j]
			if w.sample != nil {
				x, y := j%(across*h), j/(across*h)
				w.transform(b, func(u, v int) float64 { return w.sample(i, 8*x+u, 8*y+v) })
				continue
			}
			b[0] = int(rng.NormFloat64() * 500 / float64(w.quant[0]))
			for k := range min(rng.IntN(70), 63) {
				b[k+1] = int(rng.NormFloat64() * 200 / float64(k+2) / float64(w.quant[k+1]) * 4)
			}
		}
	}
	return values
}

// cosines holds the weights of a row's samples in its coefficients (T.81, A.3.3).
var cosines = func() (c [8][8]float64) {
	for u := range c {
		for x := range c[u] {
			if c[u][x] = math.Cos(float64((2*x+1)*u)*math.Pi/16) / 2; u == 0 {
				c[u][x] /= math.Sqrt2
			}
		}
	}
	return c
}()

// transform writes the quantised coefficients of a block of samples from 0 to 255, in the file's order.
func (w written) transform(out *[blockSize]int, sample func(x, y int) float64) {
	var rows [8][8]float64
	for y := range 8 {
		for x := range 8 {
			s := min(max(sample(x, y), 0), 255) - 128
			for u := range 8 {
				rows[y][u] += cosines[u][x] * s
			}
		}
	}
	for k, at := range zigzag {
		sum := 0.0
		for y := range 8 {
			sum += cosines[at/8][y] * rows[y][at%8]
		}
		out[k] = int(math.Round(sum / float64(w.quant[k])))
	}
}

// write encodes the coefficients as a file.
func (w written) write(e *encoder, values [][][blockSize]int) []byte {
	progressive := w.marker == startOfProgressive
	out := append([]byte{0xff, startOfImage}, w.segments...)
	out = append(out, segment(quantTables, append([]byte{0}, w.quant...)...)...)
	header := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, uint16(w.height)), uint16(w.width))
	header = append(header, byte(len(w.sampling)))
	names := w.names
	if names == "" {
		names = "\x01\x02\x03\x04"
	}
	for i, s := range w.sampling {
		header = append(header, names[i], byte(s[0]<<4|s[1]), 0)
	}
	out = append(out, segment(w.marker, header...)...)
	if w.interval > 0 {
		out = append(out, segment(restartInterval, 0, byte(w.interval))...)
	}
	for _, which := range []byte{0x00, 0x10} {
		out = append(out, segment(huffmanTables, append([]byte{which}, e.codes.table...)...)...)
	}
	across, down, factors := w.units()
	for _, s := range w.scans {
		header := []byte{byte(len(s.components))}
		for _, c := range s.components {
			header = append(header, names[c], 0)
		}
		header = append(header, byte(s.from), byte(s.to), byte(s.high<<4|s.low))
		out = append(out, segment(startOfScan, header...)...)
		e.out = nil
		for unit := range across * down {
			if w.interval > 0 && unit > 0 && unit%w.interval == 0 {
				e.pad()
				e.out = append(e.out, 0xff, restart0|byte(unit/w.interval-1)&7)
			}
			for _, c := range s.components {
				h, v := factors(c)
				for j := range h * v {
					x, y := unit%across*h+j%h, unit/across*v+j/h
					if len(s.components) == 1 {
						at := unit*h*v + j
						if x, y = at%(across*h), at/(across*h); 8*x >= w.width || 8*y >= w.height {
							continue
						}
					}
					e.block(s.band, c, &values[c][y*across*h+x], progressive)
				}
			}
		}
		e.pad()
		out = append(out, e.out...)
	}
	return append(out, 0xff, endOfImage)
}
