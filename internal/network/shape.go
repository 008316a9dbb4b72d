package network

import (
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/lists"
)

// ints returns constant integers that are an input of a node or else an attribute.
func (n *node) ints(in []*value, at int, name string) []int {
	v := argument(in, at)
	if v == nil {
		return n.attributes[name].ints
	}
	failIf(v.ints == nil, "its %s are not constant", name)
	return v.ints
}

// axisIndex converts an axis, which may be negative to count from the last, to an index below count.
func axisIndex(axis, count int) int {
	at := axis
	if at < 0 {
		at += count
	}
	failIf(at < 0 || at >= count, "index or axis %d of %d", axis, count)
	return at
}

// axes returns the sorted axes of a node, from an attribute or its second input.
func (n *node) axes(in []*value, count int) []int {
	axes := slices.Clone(n.ints(in, 1, "axes"))
	for i, axis := range axes {
		axes[i] = axisIndex(axis, count)
	}
	slices.Sort(axes)
	failIf(len(slices.Compact(slices.Clone(axes))) != len(axes), "invalid axes %v", axes)
	return axes
}

func (b *builder) reshaped(v *value, shape []int) *value {
	failIf(size(shape) != size(v.shape), "cannot reshape to %v from shape %v", shape, v.shape)
	if slices.Equal(shape, v.shape) {
		return v
	}
	return &value{shape: shape, buf: b.layout(v, false).buf, floats: v.floats, ints: v.ints}
}

func (b *builder) identity(_ *node, in []*value) *value { return in[0] }

func (b *builder) flatten(n *node, in []*value) *value {
	v := in[0]
	axis := n.int("axis", 1)
	if axis != len(v.shape) {
		axis = axisIndex(axis, len(v.shape))
	}
	return b.reshaped(v, []int{size(v.shape[:axis]), size(v.shape[axis:])})
}

// reshape compiles Reshape to a constant shape, in which 0 means unchanged and −1 the remaining size.
func (b *builder) reshape(n *node, in []*value) *value {
	v, to := in[0], argument(in, 1)
	failIf(to == nil || to.ints == nil || len(to.ints) > maxDims, "its shape is not constant")
	shape, free := slices.Clone(to.ints), slices.Index(to.ints, -1)
	for i, d := range shape {
		if d == 0 && i < len(v.shape) && n.int("allowzero", 0) == 0 {
			shape[i] = v.shape[i]
		}
	}
	if free >= 0 {
		shape[free] = 1
		if rest := size(shape); rest > 0 {
			shape[free] = size(v.shape) / rest
		}
	}
	return b.reshaped(v, shape)
}

func (b *builder) squeeze(n *node, in []*value) *value {
	v := in[0]
	axes := n.axes(in, len(v.shape))
	var shape []int
	for i, d := range v.shape {
		if d != 1 || len(axes) > 0 && !slices.Contains(axes, i) {
			shape = append(shape, d)
		}
	}
	return b.reshaped(v, shape)
}

func (b *builder) unsqueeze(n *node, in []*value) *value {
	v := in[0]
	axes := n.axes(in, min(len(v.shape)+len(n.ints(in, 1, "axes")), maxDims))
	shape := slices.Clone(v.shape)
	for _, axis := range axes {
		failIf(axis > len(shape), "axis %d of %d", axis, len(shape)+1)
		shape = slices.Insert(shape, axis, 1)
	}
	return b.reshaped(v, shape)
}

func (b *builder) transpose(n *node, in []*value) *value {
	v := computed(in)
	perm := n.attributes["perm"].ints
	if perm == nil {
		perm = order(len(v.shape), false)
		slices.Reverse(perm)
	}
	failIf(!slices.Equal(slices.Sorted(slices.Values(perm)), order(len(v.shape), false)),
		"perm %v of %d axes", perm, len(v.shape))
	inOrder := len(perm) != 4 || contiguous(permute(v.shape, perm), permute(v.strides(), perm)) // avoids a copy if possible
	return b.permuted(v, perm, !inOrder)
}

// concat compiles Concat of values, or of constant integers.
func (b *builder) concat(n *node, in []*value) *value {
	first := in[0]
	axis := axisIndex(n.int("axis", 0), len(first.shape))
	if first.ints != nil {
		var all []int
		for _, v := range in {
			failIf(v == nil || v.ints == nil || len(v.shape) != 1 || len(all) > maxDims, "mixed number types")
			all = append(all, v.ints...)
		}
		return &value{shape: []int{len(all)}, ints: all}
	}
	shape := slices.Clone(first.shape)
	shape[axis] = 0
	parts, buffers := make([]*value, len(in)), make([]*buffer, len(in))
	for i := range in {
		v := computed(in[i:])
		other := slices.Clone(v.shape)
		if axis < len(other) {
			other[axis] = shape[axis]
		}
		failIf(!slices.Equal(other, shape), "shapes %v and %v do not match", first.shape, v.shape)
		if shape[axis] += v.shape[axis]; shape[axis] > maxNumbers {
			b.tooLarge()
		}
		parts[i] = b.layout(v, first.last)
		buffers[i] = parts[i].buf
	}
	out := b.newValue(shape, first.last)
	// The result interleaves contiguous runs of the parts, of behind numbers per index of the axis.
	behind := out.strides()[axis]
	b.addStep(func(arena []float32) {
		y := out.buf.slice(arena)
		for at := 0; len(y) > 0; at++ {
			for _, v := range parts {
				run := v.shape[axis] * behind
				copy(y[:run], v.buf.slice(arena)[at*run:])
				y = y[run:]
			}
		}
	}, append(buffers, out.buf)...)
	return out
}

// pad compiles Pad with a constant value.
func (b *builder) pad(n *node, in []*value) *value {
	v := computed(in)
	axes := len(v.shape)
	pads := n.ints(in, 1, "pads")
	number := single(in, 2, n.float("value", 0), "value is")
	mode := n.attributes["mode"].text
	failIf(mode != "" && mode != "constant" || argument(in, 3) != nil, "only constant padding of all axes is supported")
	failIf(len(pads) != 2*axes || axes == 0 || slices.Min(pads) < 0 || slices.Max(pads) > 1<<12,
		"pads %v of %d axes", pads, axes)
	shape := slices.Clone(v.shape)
	for i := range shape {
		shape[i] += pads[i] + pads[axes+i]
	}
	out := b.newValue(shape, v.last)
	// Each line of the value is copied to its offset in the result.
	memory := order(axes, v.last)
	strides := permute(out.strides(), memory)
	dims, begin := permute(v.shape, memory), 0
	for i, axis := range memory {
		begin += pads[axis] * strides[i]
	}
	from := v.buf
	b.addStep(func(arena []float32) {
		x, y := from.slice(arena), out.buf.slice(arena)
		for i := range y {
			y[i] = number
		}
		walk([][]int{strides}, dims, func(at int, offsets []int) {
			copy(y[begin+offsets[0]:], x[at:at+dims[axes-1]])
		})
	}, from, out.buf)
	return out
}

// cast compiles Cast of constants, and of values to their own type.
func (b *builder) cast(n *node, in []*value) *value {
	v := in[0]
	to := n.int("to", 0)
	failIf(to != typeFloat && (to != typeInt32 && to != typeInt64 || v.ints == nil),
		"conversion to type %d not supported", to)
	if to != typeFloat || v.ints == nil {
		return v
	}
	return &value{shape: v.shape, floats: lists.Map(v.ints, func(x int) float32 { return float32(x) })}
}

func (b *builder) constantOf(n *node, _ []*value) *value {
	if t := n.attributes["value"].tensor; t != nil {
		return t.value()
	}
	for _, name := range []string{"value_float", "value_int"} {
		if a := n.attributes[name]; len(a.floats)+len(a.ints) == 1 {
			return &value{floats: a.floats, ints: a.ints}
		}
	}
	floats, ints := n.attributes["value_floats"].floats, n.attributes["value_ints"].ints
	failIf(len(floats)+len(ints) == 0, "no numbers")
	return &value{shape: []int{max(len(floats), len(ints))}, floats: floats, ints: ints}
}

func (b *builder) shapeOf(n *node, in []*value) *value {
	failIf(n.attributes["start"].ints != nil || n.attributes["end"].ints != nil, "parts of shapes not supported")
	return &value{shape: []int{len(in[0].shape)}, ints: slices.Clone(in[0].shape)}
}

func (b *builder) gather(n *node, in []*value) *value {
	v, at := in[0], argument(in, 1)
	if at != nil && at.buf != nil {
		return b.embedding(n, v, at)
	}
	failIf(at == nil || v.ints == nil || at.ints == nil || len(v.shape) != 1 || n.int("axis", 0) != 0,
		"expected a list of constant integers")
	return &value{shape: at.shape, ints: lists.Map(at.ints, func(j int) int { return v.ints[axisIndex(j, len(v.ints))] })}
}

// embedding compiles Gather of the rows of a constant table.
func (b *builder) embedding(n *node, table, at *value) *value {
	failIf(len(table.shape) != 2 || table.floats == nil || n.int("axis", 0) != 0,
		"expected a constant table and its rows")
	b.countNumbers(len(table.floats))
	at = b.layout(at, false)
	rows, columns := table.shape[0], table.shape[1]
	out := b.newValue(append(slices.Clone(at.shape), columns), false)
	b.addStep(func(arena []float32) {
		y := out.buf.slice(arena)
		for _, id := range at.buf.slice(arena) {
			for j := range columns {
				y[j] = float32(math.NaN()) // Run reports it
			}
			if id >= 0 && id < float32(rows) {
				copy(y, table.floats[int(id)*columns:][:columns])
			}
			y = y[columns:]
		}
	}, at.buf, out.buf)
	return out
}
