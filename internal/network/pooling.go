package network

import (
	"math"
	"slices"
)

// pool is MaxPool and AveragePool.
func (b *builder) pool(n *node, in []*value) *value {
	x := b.asMap(in)
	kernel := n.kernel()
	axes := n.windows(x.shape[2], x.shape[3], kernel)
	mean, padding, channels := n.op == "AveragePool", n.int("count_include_pad", 0) != 0, x.shape[1]
	var spans [2][]span
	for i, a := range axes {
		spans[i] = a.spans()
	}
	out := b.made([]int{1, channels, axes[0].out, axes[1].out}, true)
	b.work += out.buf.size * min(kernel[0], axes[0].in) * min(kernel[1], axes[1].in)
	from, width := x.buf, x.shape[3]
	b.step(func(arena []float32) {
		x, y := from.in(arena), out.buf.in(arena)
		for _, rows := range spans[0] {
			for _, columns := range spans[1] {
				to := y[:channels]
				y = y[channels:]
				first := true
				for r := rows.first; r <= rows.last; r += axes[0].dilation {
					for c := columns.first; c <= columns.last; c += axes[1].dilation {
						run := x[(r*width+c)*channels:][:len(to)]
						switch {
						case first:
							copy(to, run)
							first = false
						case mean:
							for i, v := range run {
								to[i] += v
							}
						default:
							for i, v := range run {
								to[i] = max(to[i], v)
							}
						}
					}
				}
				if mean {
					count := rows.taps * columns.taps
					if padding {
						count = rows.padded * columns.padded
					}
					for i := range to {
						to[i] /= float32(count)
					}
				}
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
	x := b.asMap(in)
	return b.pooled(x, x.shape[1], []int{1, x.shape[1], 1, 1}, true, n.op == "GlobalAveragePool")
}

// reduceMean is ReduceMean over the places of maps.
func (b *builder) reduceMean(n *node, in []*value) *value {
	x := computed(in)
	axes := n.axes(in, len(x.shape))
	channels, places := 1, []int{2, 3}
	if !x.last {
		channels, places = 3, []int{1, 2}
	}
	if len(x.shape) != 4 || x.shape[0] != 1 || !slices.Equal(axes, places) {
		fail("of the shape %v along the axes %v; want all places of a map", x.shape, axes)
	}
	shape, last := []int{1, 1, 1, 1}, x.last
	if shape[channels] = x.shape[channels]; n.int("keepdims", 1) == 0 {
		shape, last = []int{1, x.shape[channels]}, false
	}
	return b.pooled(x, x.shape[channels], shape, last, true)
}

// pooled adds the step of a pooling of all places.
func (b *builder) pooled(x *value, channels int, shape []int, last, mean bool) *value {
	out := b.made(shape, last)
	from := x.buf
	b.step(func(arena []float32) {
		x, y := from.in(arena), out.buf.in(arena)
		places := len(x) / channels
		var sums [16]float64 // of so many channels at a time
		for at := 0; at < channels; at += len(sums) {
			some := sums[:min(len(sums), channels-at)]
			for j := range some {
				if some[j] = 0; !mean {
					some[j] = math.Inf(-1)
				}
			}
			for p := range places {
				for j, v := range x[p*channels+at:][:len(some)] {
					if mean {
						some[j] += float64(v)
					} else {
						some[j] = max(some[j], float64(v))
					}
				}
			}
			for j, sum := range some {
				if mean {
					sum /= float64(places)
				}
				y[at+j] = float32(sum)
			}
		}
	}, from, out.buf)
	return out
}
