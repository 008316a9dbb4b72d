package jpegmeans

import "math"

const blockSize = 64

// block holds the dequantised coefficients of 8×8 pixels, a vertical frequency after the other.
type block struct {
	values  [blockSize]int32
	columns uint  // has a bit for each horizontal frequency that has coefficients other than 0
	sum     int64 // of the magnitudes of all coefficients but the first
}

// largest is more than any coefficient of 8-bit pixels, and as much as sums of 64 leave room for.
const largest = 1 << 15

func (b *block) setDC(v int64) {
	b.values[0] = int32(min(max(v, -largest), largest))
	b.columns = 1
}

func (b *block) set(at uint8, v int32) {
	b.values[at&63] = v
	b.columns |= 1 << (at & 7)
	b.sum += int64(max(v, -v))
}

// wild tells whether no pixels of 8 bits have these coefficients. The squares of the coefficients of 64 pixels
// add up to those of the pixels, 64·128², so that the magnitudes add up to no more than 8·8·128; rounding them
// adds up to half a step of the quantisation each.
func (b *block) wild() bool { return b.sum+int64(max(b.values[0], -b.values[0])) > 8192 }

// inRange tells that no pixel of the block is below 0 or above 255. A coefficient changes a pixel by a quarter
// of its magnitude at most, and the first changes all by an eighth (T.81, A.3.3).
func (b *block) inRange() bool {
	dc := int64(b.values[0])
	return dc-2*b.sum >= -8*128 && dc+2*b.sum <= 8*127
}

// fraction is the bits behind the point of the weights; with largest sums of products stay within 64 bits.
const fraction = 20

// average is how the means of each run of some samples of a row of eight follow from its coefficients: the
// inverse transform (T.81, A.3.3) with the samples of each run added up, divided by their number. The means of
// runs at equal distance from the two ends differ in the sign of the odd frequencies.
type average struct {
	run, runs int         // samples of a run, and runs of a row, 8/run
	columns   uint        // has a bit for each frequency on which means depend
	weights   [4][8]int64 // of each frequency in the means of the first half of the runs
}

// averages holds those of runs of 1, 2, 4 and 8 samples.
var averages = func() (all [9]average) {
	for _, run := range []int{1, 2, 4, 8} {
		a := &all[run]
		a.run, a.runs = run, 8/run
		for i := range max(a.runs/2, 1) {
			for u := range 8 {
				w := 0.0
				for x := i * run; x < (i+1)*run; x++ {
					w += math.Cos(float64((2*x+1)*u)*math.Pi/16) / float64(2*run)
				}
				if u == 0 {
					w /= math.Sqrt2
				}
				if a.weights[i][u] = int64(math.Round(w * (1 << fraction))); a.weights[i][u] != 0 {
					a.columns |= 1 << u
				}
			}
		}
	}
	return all
}()

// apply writes the means of eight coefficients to the front of out.
func (a *average) apply(out, c *[8]int64) {
	if a.runs == 1 {
		out[0] = a.weights[0][0] * c[0]
		return
	}
	for i := range a.runs / 2 {
		w := &a.weights[i]
		even, odd := w[0]*c[0]+w[2]*c[2]+w[4]*c[4]+w[6]*c[6], w[1]*c[1]+w[3]*c[3]+w[5]*c[5]+w[7]*c[7]
		out[i], out[a.runs-1-i] = even+odd, even-odd
	}
}

// means writes the rounded means of down.run×across.run samples of the block, a row every stride bytes.
func (b *block) means(out []uint8, stride int, across, down *average) {
	var rows [8][8]int64
	for u := range 8 {
		if b.columns&across.columns>>u&1 == 0 {
			continue
		}
		var c, column [8]int64
		for v := range c {
			c[v] = int64(b.values[8*v+u])
		}
		down.apply(&column, &c)
		for y := range down.runs {
			rows[y][u] = column[y]
		}
	}
	const half = 128<<(2*fraction) + 1<<(2*fraction-1)
	for y := range down.runs {
		var row [8]int64
		across.apply(&row, &rows[y])
		line := out[y*stride:][:across.runs]
		for x := range line {
			line[x] = uint8(min(max((row[x]+half)>>(2*fraction), 0), 255))
		}
	}
}

// put writes the means of the block at x and y. Of blocks at the image's border only samples within it count.
func (c *component) put(b *block, x, y int) {
	width, height := min(c.width-8*x, 8), min(c.height-8*y, 8)
	if width <= 0 || height <= 0 {
		return
	}
	out := c.means[y*c.down.runs*c.stride+x*c.across.runs:]
	across, down := c.across.run, c.down.run
	switch inside := width == 8 && height == 8; {
	case inside && b.sum == 0:
		v := uint8(min(max((int(b.values[0])+4)>>3+128, 0), 255))
		for j := range c.down.runs {
			for i := range c.across.runs {
				out[j*c.stride+i] = v
			}
		}
		return
	case inside && (b.inRange() || across == 1 && down == 1):
		b.means(out, c.stride, c.across, c.down)
		return
	}
	var pixels [blockSize]uint8
	b.means(pixels[:], 8, &averages[1], &averages[1])
	for top := 0; top < height; top += down {
		for left := 0; left < width; left += across {
			rows, columns := min(down, height-top), min(across, width-left)
			sum, n := 0, rows*columns
			for j := range rows {
				for _, p := range pixels[8*(top+j)+left:][:columns] {
					sum += int(p)
				}
			}
			out[top/down*c.stride+left/across] = uint8((sum + n/2) / n)
		}
	}
}
