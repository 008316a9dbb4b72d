package jpegmeans

import "math"

const blockSize = 64

// block holds the dequantised coefficients of 8×8 pixels, by vertical frequency.
type block struct {
	values  [blockSize]int32
	columns uint  // bit set of horizontal frequencies with non-zero coefficients
	sum     int64 // sum of the magnitudes of all coefficients except DC
}

// largest exceeds any coefficient of 8-bit pixels, and sums of 64 of them do not overflow.
const largest = 1 << 15

// set sets a coefficient within ±largest.
func (b *block) set(at uint8, v int64) {
	v = min(max(v, -largest), largest)
	b.values[at&63] = int32(v)
	b.columns |= 1 << (at & 7)
	if at > 0 {
		b.sum += max(v, -v)
	}
}

// inRange reports that no pixel of the block needs clipping. A coefficient changes a pixel by at most a quarter of its
// magnitude, and DC by an eighth (T.81, A.3.3).
func (b *block) inRange() bool {
	dc := int64(b.values[0])
	return dc-2*b.sum >= -8*128 && dc+2*b.sum <= 8*127
}

// fraction is the number of fractional bits of the weights. With largest, sums of products fit into 64 bits.
const fraction = 20

// average is the linear map from the eight coefficients of a row to the means of runs of samples: the inverse transform
// (T.81, A.3.3) averaged over each run. By symmetry the means of runs at equal distance from both ends differ only in the
// sign of odd frequencies.
type average struct {
	run, runs int         // samples per run, and runs per row, 8/run
	columns   uint        // bit set of the frequencies with non-zero weights
	weights   [4][8]int64 // weights of the frequencies for the first half of the runs
}

// averages holds the maps for runs of 1, 2, 4 and 8 samples.
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

// apply writes the means for the coefficients c to out[:a.runs].
func (a *average) apply(out, c *[8]int64) {
	for i := range max(a.runs/2, 1) {
		w := &a.weights[i]
		even, odd := w[0]*c[0]+w[2]*c[2]+w[4]*c[4]+w[6]*c[6], w[1]*c[1]+w[3]*c[3]+w[5]*c[5]+w[7]*c[7]
		out[i], out[a.runs-1-i] = even+odd, even-odd
	}
}

// means writes the rounded means of down.run×across.run samples of the block, with row stride stride.
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

// writeMeans writes the means of the block at x and y. For blocks at the border only samples within the image count.
func (c *component) writeMeans(b *block, x, y int) {
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
