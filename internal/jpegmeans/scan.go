package jpegmeans

import (
	"errors"
	"fmt"
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

// scan reads a scan (T.81, B.2.3), whose header this is and whose bits are next.
func (d *decoder) scan(header []byte) error {
	parts, err := d.readScan(header)
	if err != nil {
		return err
	}
	if !d.scanned {
		if err := d.start(); err != nil {
			return err
		}
		d.scanned = true
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
			d.endOfRun = 0
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
				if err := d.sequential(p); err != nil {
					return err
				}
				d.put(p.component, x, y)
			}
		}
	}
	d.at, d.rows = d.bits.end(), d.frame.height
	return nil
}

// readScan reads the header of a scan.
func (d *decoder) readScan(header []byte) (parts []part, err error) {
	if d.frame == nil {
		return nil, errors.New("a scan before the frame of a JPEG")
	}
	n := 0
	if len(header) > 0 {
		n = int(header[0])
	}
	if n < 1 || n > len(d.frame.components) || len(header) != 4+2*n {
		return nil, fmt.Errorf("a JPEG scan of %d components in a header of %d bytes", n, len(header))
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
			return nil, fmt.Errorf("a JPEG scan of component %d, which the frame has not", id)
		}
		for _, before := range parts {
			if before.index == p.index {
				return nil, fmt.Errorf("a JPEG scan with component %d twice", id)
			}
		}
		most := byte(3)
		if d.frame.baseline {
			most = 1
		}
		if tables>>4 > most || tables&0xf > most {
			return nil, fmt.Errorf("a JPEG scan with Huffman tables %#x", tables)
		}
		p.component = &d.frame.components[p.index]
		p.dc, p.ac, p.quant = &d.dc[tables>>4], &d.ac[tables&0xf], &d.quant[p.component.quant]
		total += p.component.h * p.component.v
		parts = append(parts, p)
	}
	if len(d.frame.components) > 1 && total > 10 {
		return nil, fmt.Errorf("%d blocks in a unit of a JPEG scan, want 10 at most", total)
	}
	return parts, nil
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

// sequential reads a block with all its coefficients (T.81, F.2.2). endOfRun counts the blocks without
// more coefficients; like image/jpeg it takes codes for several, which sequential files should not have.
func (d *decoder) sequential(p *part) error {
	r, t, b := &d.bits, p.ac, &d.block
	size, ok := r.symbol(p.dc)
	if !ok {
		return errCode
	}
	if size > 16 {
		return fmt.Errorf("a DC coefficient of %d bits in a JPEG, want 16 at most", size)
	}
	p.last += r.value(int(size))
	b.setDC(int64(p.last) * int64(p.quant[0]))
	for k := 1; k < blockSize && d.endOfRun == 0; k++ {
		symbol, ok := r.symbol(t)
		if !ok {
			return errCode
		}
		run, size := symbol>>4, int(symbol&0xf)
		switch {
		case size == 0 && run < 15:
			d.endOfRun = 1<<run | int(r.read(int(run)))
		case size == 0:
			k += 15
		default:
			if k += int(run); k < blockSize {
				b.set(zigzag[k], r.value(size)*p.quant[k])
			}
		}
	}
	d.endOfRun = max(d.endOfRun-1, 0)
	if r.n < 0 {
		return errShort
	}
	return nil
}
