package jpegmeans

import (
	"errors"
	"fmt"
	mathbits "math/bits"
)

// zigzag holds the place of each coefficient of the file's order in a block (T.81, figure 5).
var zigzag = [blockSize]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

var (
	errShort = errors.New("the bits of a JPEG's scan end early")
	errCode  = errors.New("bits in a JPEG that are no Huffman code")
)

// part is one component of a scan.
type part struct {
	index     int
	component *component
	dc, ac    *table
	quant     *[blockSize]int32
	last      int32 // the last DC coefficient
}

// band is which coefficients a scan has, in the file's order, and which of their bits (T.81, G.1.1.1).
type band struct {
	from, to  int
	high, low uint
}

// scan reads a scan (T.81, B.2.3), whose header this is and whose bits are next.
func (d *decoder) scan(header []byte) error {
	parts, b, err := d.readScan(header)
	if err != nil {
		return err
	}
	if !d.scanned {
		if err := d.start(); err != nil {
			return err
		}
		d.scanned = true
	}
	if d.frame.progressive {
		for i := range parts {
			if c := parts[i].component; c.coefficients == nil {
				c.coefficients = make([]coefficients, d.frame.blocks(parts[i].index))
			}
		}
	}
	across, down := d.frame.mcus()
	expected := byte(restart0)
	d.bits.start(d.content, d.at)
	for i := range parts {
		d.seen |= 1 << parts[i].index
	}
	for unit := range across * down {
		if unit%across == 0 {
			d.rows = unit / across * 8 * d.frame.components[0].v
		}
		if d.interval > 0 && unit > 0 && unit%d.interval == 0 {
			if err := d.restart(expected); err != nil {
				return err
			}
			expected = restart0 | (expected+1)&7
			for i := range parts {
				parts[i].last = 0
			}
			d.endOfBand = 0
		}
		for i := range parts {
			p := &parts[i]
			h, v := p.component.h, p.component.v
			for j := range h * v {
				x, y := unit%across*h+j%h, unit/across*v+j/h
				if len(parts) == 1 {
					// Blocks follow row by row, and those outside of the image have no bits.
					at := unit*h*v + j
					x, y = at%(across*h), at/(across*h)
					if 8*x >= d.frame.width || 8*y >= d.frame.height {
						continue
					}
				}
				if err := d.readBlock(p, &b, x, y, across*h); err != nil {
					return err
				}
			}
		}
	}
	d.at, d.rows = d.bits.end(), d.frame.height
	return nil
}

// readScan reads the header of a scan.
func (d *decoder) readScan(header []byte) (parts []part, b band, err error) {
	if d.frame == nil {
		return nil, b, errors.New("a scan before the frame of a JPEG")
	}
	n := 0
	if len(header) > 0 {
		n = int(header[0])
	}
	if n < 1 || n > len(d.frame.components) || len(header) != 4+2*n {
		return nil, b, fmt.Errorf("a JPEG scan of %d components in a header of %d bytes", n, len(header))
	}
	total := 0
	for i := range n {
		id, tables := header[1+2*i], header[2+2*i]
		p := part{index: -1}
		for j, c := range d.frame.components {
			if c.id == id {
				p.index = j
			}
		}
		if p.index < 0 {
			return nil, b, fmt.Errorf("a JPEG scan of component %d, which the frame has not", id)
		}
		for _, before := range parts {
			if before.index == p.index {
				return nil, b, fmt.Errorf("a JPEG scan with component %d twice", id)
			}
		}
		most := byte(3)
		if d.frame.baseline {
			most = 1
		}
		if tables>>4 > most || tables&0xf > most {
			return nil, b, fmt.Errorf("a JPEG scan with Huffman tables %#x", tables)
		}
		p.component = &d.frame.components[p.index]
		p.dc, p.ac, p.quant = &d.dc[tables>>4], &d.ac[tables&0xf], &d.quant[p.component.quant]
		total += p.component.h * p.component.v
		parts = append(parts, p)
	}
	if len(d.frame.components) > 1 && total > 10 {
		return nil, b, fmt.Errorf("%d blocks in a unit of a JPEG scan, want 10 at most", total)
	}
	b = band{to: blockSize - 1}
	if d.frame.progressive {
		last := header[1+2*n:]
		b = band{int(last[0]), int(last[1]), uint(last[2] >> 4), uint(last[2] & 0xf)}
		if b.from > b.to || b.to >= blockSize || b.from == 0 && b.to > 0 || b.from > 0 && n > 1 {
			return nil, b, fmt.Errorf("a JPEG scan of %d components and coefficients %d to %d", n, b.from, b.to)
		}
		if b.high != 0 && b.high != b.low+1 {
			return nil, b, fmt.Errorf("a JPEG scan of bit %d after bit %d", b.low, b.high)
		}
	}
	return parts, b, nil
}

// restart goes on behind the next restart marker, which has to be the expected one, and is looked
// for where it is not at once there.
func (d *decoder) restart(expected byte) error {
	for at := d.bits.end(); at+1 < len(d.content); at++ {
		if d.content[at] != 0xff {
			continue
		}
		switch d.content[at+1] {
		case expected:
			d.bits.start(d.content, at+2)
			return nil
		case 0:
			at++
		case 0xff:
		default:
			return fmt.Errorf("a JPEG marker of %#x where restart %d is expected", d.content[at+1], expected-restart0)
		}
	}
	return errEnds
}

// readBlock reads what the scan has of a block: that at x and y, in a component with so many blocks in a row.
func (d *decoder) readBlock(p *part, b *band, x, y, across int) error {
	if !d.frame.progressive {
		if err := d.sequential(p); err != nil {
			return err
		}
		d.put(p.component, x, y)
		return nil
	}
	c := &p.component.coefficients[y*across+x]
	var err error
	switch {
	case b.high == 0:
		err = d.first(p, b, c)
	case b.from == 0:
		if d.bits.take(1) == 1 {
			c.values[0] = clipped(int32(c.values[0]) | 1<<b.low)
		}
	default:
		err = d.refine(p.ac, b, c)
	}
	if err == nil && d.bits.n < 0 {
		err = errShort
	}
	return err
}

// put writes the means of the block that was read, and clears it.
func (d *decoder) put(c *component, x, y int) {
	if d.counting {
		d.block.clear()
		return
	}
	if d.block.wild() {
		d.wild = true
		d.block.clip()
	}
	c.put(&d.block, x, y)
	d.block.clear()
}

// difference reads the DC coefficient of a block (T.81, F.2.2.1).
func (d *decoder) difference(p *part) error {
	size, ok := d.bits.symbol(p.dc)
	if !ok {
		return errCode
	}
	if size > 16 {
		return fmt.Errorf("a DC coefficient of %d bits in a JPEG, want 16 at most", size)
	}
	p.last += d.bits.value(int(size))
	return nil
}

// ends reads for how many blocks there are no more coefficients, this one among them
// (T.81, G.1.2.2; of a sequential file there is one).
func (d *decoder) ends(run byte) { d.endOfBand = 1<<run | int(d.bits.take(int(run))) }

// sequential reads a block with all its coefficients (T.81, F.2.2).
func (d *decoder) sequential(p *part) error {
	if err := d.difference(p); err != nil {
		return err
	}
	d.block.setDC(int64(p.last) * int64(p.quant[0]))
	if d.endOfBand > 0 {
		d.endOfBand--
		return d.short()
	}
	r, t, b := &d.bits, p.ac, &d.block
	for k := 1; k < blockSize; k++ {
		symbol, ok := r.symbol(t)
		if !ok {
			return errCode
		}
		run, size := symbol>>4, int(symbol&0xf)
		if size == 0 {
			if run < 15 {
				d.ends(run)
				d.endOfBand--
				break
			}
			k += 15
			continue
		}
		if k += int(run); k >= blockSize {
			break
		}
		b.set(zigzag[k], r.value(size)*p.quant[k])
	}
	return d.short()
}

// short returns an error where more bits were taken than there are.
func (d *decoder) short() error {
	if d.bits.n < 0 {
		return errShort
	}
	return nil
}

// coefficients are those of a block of a progressive file, in the file's order.
type coefficients struct {
	values [blockSize]int16
	some   uint64 // has a bit for each but the first that is not 0
}

// first reads the first bits of the coefficients of a band of a block (T.81, G.1.2.1 and G.1.2.2).
func (d *decoder) first(p *part, b *band, c *coefficients) error {
	k := b.from
	if k == 0 {
		if err := d.difference(p); err != nil {
			return err
		}
		c.values[0] = clipped(p.last << b.low)
		k++
	}
	if k > b.to {
		return nil
	}
	if d.endOfBand > 0 {
		d.endOfBand--
		return nil
	}
	for ; k <= b.to; k++ {
		symbol, ok := d.bits.symbol(p.ac)
		if !ok {
			return errCode
		}
		run, size := symbol>>4, int(symbol&0xf)
		if size == 0 {
			if run < 15 {
				d.ends(run)
				d.endOfBand--
				break
			}
			k += 15
			continue
		}
		if k += int(run); k > b.to {
			break
		}
		c.set(k, d.bits.value(size)<<b.low)
	}
	return nil
}

// set sets a coefficient to v, which is not 0.
func (c *coefficients) set(k int, v int32) {
	c.values[k] = clipped(v)
	c.some |= 1 << k
}

// refine reads one more bit of the coefficients of a band of a block (T.81, G.1.2.3).
func (d *decoder) refine(t *table, b *band, c *coefficients) error {
	delta := int32(1) << b.low
	k := b.from
	if d.endOfBand == 0 {
		for ; k <= b.to; k++ {
			symbol, ok := d.bits.symbol(t)
			if !ok {
				return errCode
			}
			run, size := symbol>>4, symbol&0xf
			added := int32(0)
			switch {
			case size == 0 && run < 15:
				d.ends(run)
			case size == 1:
				if added = delta; d.bits.take(1) == 0 {
					added = -delta
				}
			case size > 1:
				return errors.New("a Huffman code of a JPEG that adds more than a bit to a coefficient")
			}
			if d.endOfBand > 0 {
				break
			}
			if k = d.refineUp(c, k, b.to, int(run), delta); k > b.to {
				return errors.New("a run of zeros in a JPEG that leaves the band")
			}
			if added != 0 {
				c.set(k, added)
			}
		}
	}
	if d.endOfBand > 0 {
		d.endOfBand--
		d.refineUp(c, k, b.to, blockSize, delta)
	}
	return nil
}

// refineUp reads a bit of each coefficient from k on that is not 0 until it has passed so many that are 0,
// and returns the place of the next that is 0, or the one behind the last.
func (d *decoder) refineUp(c *coefficients, k, to, zeros int, delta int32) int {
	for k <= to {
		gap := min(mathbits.TrailingZeros64(c.some>>k), to+1-k)
		if zeros < gap {
			return k + zeros
		}
		zeros -= gap
		if k += gap; k > to {
			break
		}
		if d.bits.take(1) == 1 {
			v := int32(c.values[k])
			if v > 0 {
				v += delta
			} else {
				v -= delta
			}
			c.values[k] = clipped(v)
		}
		k++
	}
	return k
}

// reconstruct writes the means of the blocks of a progressive file.
func (d *decoder) reconstruct() {
	across, _ := d.frame.mcus()
	for i := range d.frame.components {
		c := &d.frame.components[i]
		if c.coefficients == nil {
			continue
		}
		quant := &d.quant[c.quant]
		for y := range (c.height + 7) / 8 {
			for x := range (c.width + 7) / 8 {
				of := &c.coefficients[y*across*c.h+x]
				d.block.setDC(int64(of.values[0]) * int64(quant[0]))
				for some := of.some; some != 0; some &= some - 1 {
					k := mathbits.TrailingZeros64(some)
					d.block.set(zigzag[k], int32(of.values[k])*quant[k])
				}
				d.put(c, x, y)
			}
		}
	}
}

// clipped returns v, or the nearest number of 16 bits, which has its sign.
func clipped(v int32) int16 { return int16(min(max(v, -1<<15), 1<<15-1)) }
