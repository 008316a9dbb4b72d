package network

import (
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/simd"
)

// convolution is the compiled form of a convolution node.
type convolution struct {
	in, out       *buffer
	rows, columns axis
	inC, outC     int // channels
	groups        int
	weights, bias []float32 // outC × inC/groups × rows.taps × columns.taps, and outC
	bounds        [2]float32

	depthwise bool      // each group has one input and one output channel
	tile      int       // windows per tile
	panel     int       // output channels per panel
	table     []int32   // arena offsets of the runs of all windows
	packed    []float32 // weights by group and panel
	biases    []float32 // biases by group and panel
}

var unbounded = [2]float32{float32(math.Inf(-1)), float32(math.Inf(1))}

// patchNumbers is the number of inputs of a block of windows, which stay cached while all weights are applied.
const patchNumbers = 1 << 16

func (b *builder) conv(n *node, in []*value) *value {
	x := b.asMap(in)
	w := constantInput(in, 1, "weights")
	groups := n.int("group", 1)
	inC, s := x.shape[1], w.shape
	failIf(len(s) != 4 || groups < 1 || groups > inC || inC%groups != 0 || s[1] != inC/groups || s[0] < groups || s[0]%groups != 0,
		"weights of shape %v in %d groups do not match %d channels", s, groups, inC)
	failIf(min(s[2], s[3]) < 1 || max(s[2], s[3]) > 1<<12, "windows of %d×%d not supported", s[2], s[3])
	kernel := n.pair("kernel_shape", 0)
	failIf(kernel != [2]int{} && kernel != [2]int{s[2], s[3]}, "kernel_shape differs from the shape of the weights")
	bias := make([]float32, s[0])
	if argument(in, 2) != nil {
		bias = perChannel(in, 2, s[0], "biases")
	}
	delete(n.attributes, "ceil_mode")
	axes := n.windows(x.shape[2], x.shape[3], [2]int{s[2], s[3]})
	c := &convolution{in: x.buf, rows: axes[0], columns: axes[1], inC: inC, outC: s[0], groups: groups, weights: w.floats, bias: bias}
	return b.convolve(c, []int{1, s[0], axes[0].out, axes[1].out}, true)
}

// convolve adds the step of a convolution and returns its result.
func (b *builder) convolve(c *convolution, shape []int, last bool) *value {
	out := b.newValue(shape, last)
	c.out, c.bounds = out.buf, unbounded
	taps, places := c.rows.taps*c.columns.taps, c.rows.out*c.columns.out
	if taps > maxNumbers/places {
		b.tooLarge()
	}
	b.work += len(c.weights) * places
	reaches := func(a axis) bool {
		return a.before > 0 || (a.out-1)*a.stride-a.before+(a.taps-1)*a.dilation >= a.in
	}
	if reaches(c.rows) || reaches(c.columns) {
		b.zeros = max(b.zeros, c.inC)
	}
	c.depthwise = c.groups == c.inC && c.outC == c.inC
	if c.tile, c.panel = simd.WindowTile(); c.depthwise {
		c.tile = 1
	}
	// The last panel of a group is padded to a register of up to 16 numbers.
	b.countNumbers(len(c.weights) + 16*(taps*c.inC+c.outC) + (places+c.tile)*taps)
	b.convolutions = append(b.convolutions, c)
	b.addStep(c.run, c.in, c.out)
	c.out.maker = c
	return out
}

// depth returns the number of input channels per group.
func (c *convolution) depth() int { return c.inC / c.groups }

// finish packs weights and computes the table, after all buffers have their offsets.
func (c *convolution) finish() {
	taps, depth := c.rows.taps*c.columns.taps, c.depth()
	places := c.rows.out * c.columns.out
	c.table = make([]int32, (places+c.tile-1)/c.tile*c.tile*taps)
	for i := range len(c.table) / taps {
		// The last tile is padded with copies of the last window.
		window := min(i, places-1)
		for t := range taps {
			y, inside := c.rows.inputPosition(window/c.columns.out, t/c.columns.taps)
			x, also := c.columns.inputPosition(window%c.columns.out, t%c.columns.taps)
			at := 0
			if inside && also {
				at = c.in.at + (y*c.columns.in+x)*c.inC
			}
			c.table[i/c.tile*c.tile*taps+t*c.tile+i%c.tile] = int32(at)
		}
	}
	weight := func(out, d, tap int) float32 { return c.weights[(out*depth+d)*taps+tap] }
	if c.depthwise {
		c.packed = make([]float32, taps*c.outC)
		for t := range taps {
			for out := range c.outC {
				c.packed[t*c.outC+out] = weight(out, 0, t)
			}
		}
		c.biases, c.weights = c.bias, nil
		return
	}
	perGroup := c.outC / c.groups
	for g := range c.groups {
		for from := 0; from < perGroup; from += c.panel {
			columns := min(c.panel, perGroup-from)
			width := simd.WholeColumns[float32](columns)
			at, first := len(c.packed), g*perGroup+from
			c.packed = append(c.packed, make([]float32, taps*depth*width)...)
			c.biases = append(append(c.biases, c.bias[first:first+columns]...), make([]float32, width-columns)...)
			for j := range columns {
				for d := range depth {
					for t := range taps {
						c.packed[at+(t*depth+d)*width+j] = weight(first+j, d, t)
					}
				}
			}
		}
	}
	c.weights = nil
}

func (c *convolution) run(arena []float32) {
	taps, out := c.rows.taps*c.columns.taps, c.out.slice(arena)
	if c.depthwise {
		simd.Depthwise(out, arena, c.table, taps, c.packed, c.biases, &c.bounds)
		return
	}
	places, depth, perGroup := c.rows.out*c.columns.out, c.depth(), c.outC/c.groups
	block := (max(32, patchNumbers/(taps*depth)) + c.tile - 1) / c.tile * c.tile // windows per block, a multiple of tile
	for g := range c.groups {
		// The runs of a group start after the runs of earlier groups.
		x := arena[g*depth:]
		for first := 0; first < places; first += block {
			windows, table, to := min(block, places-first), c.table[first*taps:], out[first*c.outC+g*perGroup:]
			weights, biases := c.packed[g*len(c.packed)/c.groups:], c.biases[g*len(c.biases)/c.groups:]
			for from := 0; from < perGroup; from += c.panel {
				columns := min(c.panel, perGroup-from)
				width := simd.WholeColumns[float32](columns)
				simd.Windows(to[from:], c.outC, columns, x, table, windows, taps, depth, weights, biases, &c.bounds)
				weights, biases = weights[taps*depth*width:], biases[width:]
			}
		}
	}
}

// product compiles Gemm and MatMul with constant weights, alpha·x·w + beta·c, to a convolution with one tap.
func (b *builder) product(n *node, in []*value) *value {
	alpha, beta, transposed := n.float("alpha", 1), n.float("beta", 1), n.int("transB", 0) != 0
	failIf(n.int("transA", 0) != 0, "transA not supported")
	x := b.layout(computed(in), false)
	w := constantInput(in, 1, "weights")
	failIf(len(w.shape) != 2 || len(x.shape) < 2, "factors of shapes %v and %v do not match", x.shape, w.shape)
	depth, outC, toNext, toRow := w.shape[0], w.shape[1], 1, w.shape[1]
	if transposed {
		depth, outC, toNext, toRow = outC, depth, outC, 1
	}
	failIf(depth != x.shape[len(x.shape)-1] || depth == 0, "factors of shapes %v and %v do not match", x.shape, w.shape)
	// convolve counts the packed copy of these.
	weights, bias := make([]float32, depth*outC), make([]float32, outC)
	for i := range weights {
		weights[i] = alpha * w.floats[i/depth*toNext+i%depth*toRow]
	}
	if argument(in, 2) != nil {
		c := constantInput(in, 2, "biases")
		failIf(len(c.floats) != 1 && (len(c.floats) != outC || c.shape[len(c.shape)-1] != outC),
			"biases of shape %v for %d numbers", c.shape, outC)
		for j := range bias {
			bias[j] = beta * c.floats[min(j, len(c.floats)-1)]
		}
	}
	one := axis{in: 1, out: 1, taps: 1, stride: 1, dilation: 1}
	across := one
	across.in, across.out = x.buf.size/depth, x.buf.size/depth
	shape := append(slices.Clone(x.shape[:len(x.shape)-1]), outC)
	return b.convolve(&convolution{in: x.buf, rows: one, columns: across, inC: depth, outC: outC, groups: 1, weights: weights, bias: bias}, shape, false)
}
