package network

import (
	"cmp"
	"math"
	"slices"
)

func (b *builder) pool(n *node, in []*value) *value {
	x := b.asMap(in)
	failIf(n.attributes["kernel_shape"].ints == nil, "no kernel_shape")
	axes := n.windows(x.shape[2], x.shape[3], n.pair("kernel_shape", 1))
	return b.pooled(x, axes, n.op == "AveragePool", n.int("count_include_pad", 0) != 0)
}

// pooled adds the step of a mean or maximum pooling. With padding, a mean counts padding.
func (b *builder) pooled(x *value, axes [2]axis, mean, padding bool) *value {
	channels, width := x.shape[1], x.shape[3]
	rows, columns := axes[0].spans(), axes[1].spans()
	out := b.newValue([]int{1, channels, axes[0].out, axes[1].out}, true)
	b.work += out.buf.size * min(axes[0].taps, axes[0].in) * min(axes[1].taps, axes[1].in)
	from := x.buf
	b.addStep(func(arena []float32) {
		x, y := from.slice(arena), out.buf.slice(arena)
		sums, start, add := make([]float64, channels), 0.0, func(x, y float64) float64 { return x + y }
		if !mean {
			start, add = math.Inf(-1), math.Max
		}
		for _, row := range rows {
			for _, column := range columns {
				for i := range sums {
					sums[i] = start
				}
				for r := row.first; r <= row.last; r += axes[0].dilation {
					for c := column.first; c <= column.last; c += axes[1].dilation {
						for i, v := range x[(r*width+c)*channels:][:channels] {
							sums[i] = add(sums[i], float64(v))
						}
					}
				}
				count := 1
				if mean && padding {
					count = row.padded * column.padded
				} else if mean {
					count = row.taps * column.taps
				}
				for i, sum := range sums {
					y[i] = float32(sum / float64(count))
				}
				y = y[channels:]
			}
		}
	}, from, out.buf)
	return out
}

// span is the range of a window along rows or columns: first and last position, number of taps without and with padding.
type span struct{ first, last, taps, padded int }

// spans returns the span of each window. It fails if a window covers only padding.
func (a axis) spans() []span {
	out := make([]span, a.out)
	for w := range out {
		start := w*a.stride - a.before
		first, last := (max(-start, 0)+a.dilation-1)/a.dilation, min(a.taps-1, (a.in-1-start)/a.dilation)
		failIf(start >= a.in || first > last, "a window is entirely in the padding")
		padded := min(a.taps, (a.in+a.after-1-start)/a.dilation+1)
		out[w] = span{start + first*a.dilation, start + last*a.dilation, last - first + 1, padded}
	}
	return out
}

func (b *builder) globalPool(n *node, in []*value) *value {
	return b.pooledWhole(b.asMap(in), n.op == "GlobalAveragePool")
}

// pooledWhole pools a whole map.
func (b *builder) pooledWhole(x *value, mean bool) *value {
	var axes [2]axis
	for i, in := range x.shape[2:] {
		axes[i] = axis{in: in, out: 1, taps: in, stride: 1, dilation: 1}
	}
	return b.pooled(x, axes, mean, false)
}

// reduceMean compiles ReduceMean over all positions of a map.
func (b *builder) reduceMean(n *node, in []*value) *value {
	x := computed(in)
	axes, s := n.axes(in, len(x.shape)), x.shape
	inOrder := len(s) == 4 && s[0] == 1 && !x.last && slices.Equal(axes, []int{1, 2})
	switch {
	case inOrder: // the last axis holds the channels
		x = &value{shape: []int{1, s[3], s[1], s[2]}, last: true, buf: x.buf}
	case len(s) != 4 || s[0] != 1 || !x.last || !slices.Equal(axes, []int{2, 3}):
		fail("shape %v, axes %v; expected all spatial axes", s, axes)
	}
	out := b.pooledWhole(x, true)
	if channels := out.shape[1]; n.int("keepdims", 1) == 0 {
		return &value{shape: []int{1, channels}, buf: out.buf}
	} else if inOrder {
		return &value{shape: []int{1, 1, 1, channels}, buf: out.buf}
	}
	return out
}

// axis is the geometry of windows along rows or columns.
type axis struct {
	in, out                int
	taps, stride, dilation int
	before                 int // padding
	after                  int
}

// inputPosition returns the position of a tap of a window. ok is false if it is in the padding.
func (a axis) inputPosition(window, tap int) (place int, ok bool) {
	place = window*a.stride - a.before + tap*a.dilation
	return place, place >= 0 && place < a.in
}

// maxWindow is the largest attribute of a window.
const maxWindow = 1 << 12

// numbers returns an attribute of count numbers from least to maxWindow, or nil if it is missing.
func (n *node) numbers(name string, count, least int) []int {
	of := n.attributes[name].ints
	failIf(len(of) > 0 && (len(of) != count || slices.Min(of) < least || slices.Max(of) > maxWindow),
		"%s %v: expected %d numbers from %d to %d", name, of, count, least, maxWindow)
	return of
}

// pair returns an attribute of two numbers ≥ 1, or otherwise twice if it is missing.
func (n *node) pair(name string, otherwise int) [2]int {
	if of := n.numbers(name, 2, 1); len(of) > 0 {
		return [2]int(of)
	}
	return [2]int{otherwise, otherwise}
}

// windows returns the geometry of a convolution or pooling on a map.
func (n *node) windows(height, width int, kernel [2]int) (axes [2]axis) {
	strides, dilations := n.pair("strides", 1), n.pair("dilations", 1)
	var pads [4]int
	copy(pads[:], n.numbers("pads", 4, 0))
	auto := cmp.Or(n.attributes["auto_pad"].text, "NOTSET")
	for i, in := range []int{height, width} {
		a := axis{in: in, taps: kernel[i], stride: strides[i], dilation: dilations[i]}
		covered := (a.taps-1)*a.dilation + 1
		switch auto {
		case "NOTSET":
			a.before, a.after = pads[i], pads[i+2]
		case "VALID":
		case "SAME_UPPER", "SAME_LOWER":
			a.out = (in + a.stride - 1) / a.stride
			pad := max((a.out-1)*a.stride+covered-in, 0)
			if a.before = pad / 2; auto == "SAME_LOWER" {
				a.before = pad - pad/2
			}
			a.after = pad - a.before
		default:
			fail("auto_pad %q not supported", auto)
		}
		free := in + a.before + a.after - covered
		failIf(free < 0, "windows larger than the map")
		a.out = free/a.stride + 1
		if n.int("ceil_mode", 0) != 0 && auto == "NOTSET" {
			a.out = (free+a.stride-1)/a.stride + 1
			if (a.out-1)*a.stride >= in+a.before { // the last window would start after the map
				a.out--
			}
		}
		axes[i] = a
	}
	return axes
}
