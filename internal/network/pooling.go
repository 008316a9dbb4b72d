package network

import (
	"math"
	"slices"
)

// pool is MaxPool and AveragePool.
func (b *builder) pool(n *node, in []*value) *value {
	x := b.asMap(in)
	return b.pooled(x, n.windows(x.shape[2], x.shape[3], n.kernel()), n.op == "AveragePool", n.int("count_include_pad", 0) != 0)
}

// pooled adds the step of a pooling of a map, a mean or a maximum. With padding a mean counts that too.
func (b *builder) pooled(x *value, axes [2]axis, mean, padding bool) *value {
	channels, width := x.shape[1], x.shape[3]
	rows, columns := axes[0].spans(), axes[1].spans()
	out := b.made([]int{1, channels, axes[0].out, axes[1].out}, true)
	b.work += out.buf.size * min(axes[0].taps, axes[0].in) * min(axes[1].taps, axes[1].in)
	from := x.buf
	b.step(func(arena []float32) {
		x, y := from.in(arena), out.buf.in(arena)
		sums := make([]float64, channels)
		for _, row := range rows {
			for _, column := range columns {
				for i := range sums {
					if sums[i] = 0; !mean {
						sums[i] = math.Inf(-1)
					}
				}
				for r := row.first; r <= row.last; r += axes[0].dilation {
					for c := column.first; c <= column.last; c += axes[1].dilation {
						run := x[(r*width+c)*channels:][:channels]
						for i, v := range run {
							if mean {
								sums[i] += float64(v)
							} else {
								sums[i] = max(sums[i], float64(v))
							}
						}
					}
				}
				count := 1
				switch {
				case mean && padding:
					count = row.padded * column.padded
				case mean:
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

// span is what a window covers along rows or columns: from place first to last, so many
// taps, and with padding so many.
type span struct{ first, last, taps, padded int }

// spans returns what each window covers, which is to be more than padding.
func (a axis) spans() []span {
	out := make([]span, a.out)
	for w := range out {
		s := span{first: -1}
		for t := range a.taps {
			place, ok := a.place(w, t)
			if place < a.in+a.after {
				s.padded++
			}
			if !ok {
				continue
			}
			if s.last = place; s.first < 0 {
				s.first = place
			}
			s.taps++
		}
		if s.taps == 0 {
			fail("a window lies wholly in the padding")
		}
		out[w] = s
	}
	return out
}

// globalPool is GlobalAveragePool and GlobalMaxPool.
func (b *builder) globalPool(n *node, in []*value) *value {
	return b.pooledWhole(b.asMap(in), n.op == "GlobalAveragePool")
}

// pooledWhole pools all places of a map.
func (b *builder) pooledWhole(x *value, mean bool) *value {
	var axes [2]axis
	for i, in := range x.shape[2:] {
		axes[i] = axis{in: in, out: 1, taps: in, stride: 1, dilation: 1}
	}
	return b.pooled(x, axes, mean, false)
}

// reduceMean is ReduceMean over the places of maps.
func (b *builder) reduceMean(n *node, in []*value) *value {
	x := computed(in)
	axes, places, s := n.axes(in, len(x.shape)), []int{2, 3}, x.shape
	if !x.last {
		places = []int{1, 2}
	}
	if len(s) != 4 || s[0] != 1 || !slices.Equal(axes, places) {
		fail("of the shape %v along the axes %v; want all places of a map", s, axes)
	}
	if !x.last { // the last axis holds the channels
		x = &value{shape: []int{1, s[3], s[1], s[2]}, last: true, buf: x.buf}
	}
	out := b.pooledWhole(x, true)
	channels := out.shape[1]
	switch {
	case n.int("keepdims", 1) == 0:
		return &value{shape: []int{1, channels}, buf: out.buf}
	case places[0] == 1:
		return &value{shape: []int{1, 1, 1, channels}, buf: out.buf}
	}
	return out
}
