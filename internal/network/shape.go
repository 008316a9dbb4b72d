package network

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// axes returns the axes that a node names, as an attribute or as its second input, from
// the first on.
func (n *node) axes(in []*value, count int) ([]int, error) {
	var axes []int
	if v := argument(in, 1); v != nil {
		if v.ints == nil {
			return nil, errors.New("its axes are no constants")
		}
		axes = slices.Clone(v.ints)
	} else if a := n.attributes["axes"]; a != nil {
		axes = slices.Clone(a.ints)
	}
	for i, axis := range axes {
		if axis < 0 {
			axes[i] += count
		}
		if axes[i] < 0 || axes[i] >= count {
			return nil, fmt.Errorf("axis %d of %d", axis, count)
		}
	}
	slices.Sort(axes)
	if len(slices.Compact(slices.Clone(axes))) != len(axes) {
		return nil, fmt.Errorf("the axes %v", axes)
	}
	return axes, nil
}

// reshaped returns the value with another shape of as many numbers.
func (b *builder) reshaped(v *value, shape []int) (*value, error) {
	n, err := size(shape)
	if err != nil {
		return nil, err
	}
	if before, _ := size(v.shape); n != before {
		return nil, fmt.Errorf("the shape %v of the shape %v", shape, v.shape)
	}
	if v.constant() {
		return &value{shape: shape, floats: v.floats, ints: v.ints}, nil
	}
	if slices.Equal(shape, v.shape) {
		return v, nil
	}
	if v, err = b.layout(v, false); err != nil {
		return nil, err
	}
	return &value{shape: shape, buf: v.buf}, nil
}

// some returns the first input, a constant or not.
func some(in []*value) (*value, error) {
	if v := argument(in, 0); v != nil {
		return v, nil
	}
	return nil, errors.New("no input")
}

// identity is Identity and Dropout.
func (b *builder) identity(_ *node, in []*value) (*value, error) {
	v, err := some(in)
	if err != nil {
		return nil, err
	}
	return b.reshaped(v, v.shape)
}

// flatten is Flatten.
func (b *builder) flatten(n *node, in []*value) (*value, error) {
	v, err := some(in)
	if err != nil {
		return nil, err
	}
	axis := n.int("axis", 1)
	if axis < 0 {
		axis += len(v.shape)
	}
	if axis < 0 || axis > len(v.shape) {
		return nil, fmt.Errorf("axis %d of %d", axis, len(v.shape))
	}
	rows, err := size(v.shape[:axis])
	if err != nil {
		return nil, err
	}
	columns, err := size(v.shape[axis:])
	if err != nil {
		return nil, err
	}
	return b.reshaped(v, []int{rows, columns})
}

// reshape is Reshape to a constant shape, in which 0 stands for the axis as it is and −1
// for what is left.
func (b *builder) reshape(n *node, in []*value) (*value, error) {
	v, err := some(in)
	if err != nil {
		return nil, err
	}
	to := argument(in, 1)
	if to == nil || to.ints == nil || len(to.ints) > maxDims {
		return nil, errors.New("its shape is no constant")
	}
	shape := slices.Clone(to.ints)
	free := -1
	for i, d := range shape {
		if d == 0 && i < len(v.shape) && n.int("allowzero", 0) == 0 {
			shape[i] = v.shape[i]
		}
		if d == -1 && free < 0 {
			free, shape[i] = i, 1
		}
	}
	rest, err := size(shape)
	if err != nil {
		return nil, err
	}
	if all, err := size(v.shape); err == nil && free >= 0 && rest > 0 {
		shape[free] = all / rest
	}
	return b.reshaped(v, shape)
}

// squeeze is Squeeze.
func (b *builder) squeeze(n *node, in []*value) (*value, error) {
	v, err := some(in)
	if err != nil {
		return nil, err
	}
	axes, err := n.axes(in, len(v.shape))
	if err != nil {
		return nil, err
	}
	var shape []int
	for i, d := range v.shape {
		if d != 1 || len(axes) > 0 && !slices.Contains(axes, i) {
			shape = append(shape, d)
		}
	}
	return b.reshaped(v, shape)
}

// unsqueeze is Unsqueeze.
func (b *builder) unsqueeze(n *node, in []*value) (*value, error) {
	v, err := some(in)
	if err != nil {
		return nil, err
	}
	named := 0
	if a := n.attributes["axes"]; a != nil {
		named = len(a.ints)
	}
	if c := argument(in, 1); c != nil {
		named = len(c.ints)
	}
	axes, err := n.axes(in, min(len(v.shape)+named, maxDims))
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(v.shape)
	for _, axis := range axes {
		if axis > len(shape) {
			return nil, fmt.Errorf("axis %d of %d", axis, len(shape)+1)
		}
		shape = slices.Insert(shape, axis, 1)
	}
	return b.reshaped(v, shape)
}

// transpose is Transpose.
func (b *builder) transpose(n *node, in []*value) (*value, error) {
	v, err := computed(in)
	if err != nil {
		return nil, err
	}
	var perm []int
	if a := n.attributes["perm"]; a != nil {
		perm = a.ints
	} else {
		perm = order(len(v.shape), false)
		slices.Reverse(perm)
	}
	if !slices.Equal(slices.Sorted(slices.Values(perm)), order(len(v.shape), false)) {
		return nil, fmt.Errorf("perm %v of %d axes", perm, len(v.shape))
	}
	// As it lies, if it can.
	if shape := pick(v.shape, perm); len(perm) != 4 || contiguous(shape, pick(v.strides(), perm)) {
		return b.permuted(v, perm, false)
	}
	return b.permuted(v, perm, true)
}

// concat is Concat of values, or of constant whole numbers.
func (b *builder) concat(n *node, in []*value) (*value, error) {
	first, err := some(in)
	if err != nil {
		return nil, err
	}
	axis := n.int("axis", 0)
	if axis < 0 {
		axis += len(first.shape)
	}
	if axis < 0 || axis >= len(first.shape) {
		return nil, fmt.Errorf("axis %d of %d", axis, len(first.shape))
	}
	if first.ints != nil {
		var all []int
		for _, v := range in {
			if v == nil || v.ints == nil || len(v.shape) != 1 || len(all) > maxDims {
				return nil, errors.New("of numbers of several kinds")
			}
			all = append(all, v.ints...)
		}
		return &value{shape: []int{len(all)}, ints: all}, nil
	}
	shape := slices.Clone(first.shape)
	shape[axis] = 0
	parts := make([]*value, len(in))
	for i := range in {
		v, err := computed(in[i:])
		if err != nil {
			return nil, errors.New("one of its inputs does not depend on the image")
		}
		if len(v.shape) != len(shape) {
			return nil, fmt.Errorf("of the shapes %v and %v", first.shape, v.shape)
		}
		for j, d := range v.shape {
			if j != axis && d != shape[j] {
				return nil, fmt.Errorf("of the shapes %v and %v", first.shape, v.shape)
			}
		}
		if shape[axis] += v.shape[axis]; shape[axis] > maxNumbers {
			return nil, b.tooLarge()
		}
		if parts[i], err = b.layout(v, first.last); err != nil {
			return nil, err
		}
	}
	out, err := b.made(shape, first.last)
	if err != nil {
		return nil, err
	}
	// Of each part a run of so many numbers, side by side.
	behind := 1
	axes := order(len(shape), first.last)
	for _, a := range axes[slices.Index(axes, axis)+1:] {
		behind *= shape[a]
	}
	buffers := []*buffer{out.buf}
	for _, v := range parts {
		buffers = append(buffers, v.buf)
	}
	b.step(func(arena []float32) {
		y := out.buf.of(arena)
		for at := 0; len(y) > 0; at++ {
			for _, v := range parts {
				run := v.shape[axis] * behind
				copy(y[:run], v.buf.of(arena)[at*run:])
				y = y[run:]
			}
		}
	}, buffers...)
	return out, nil
}

// pad is Pad with a constant number.
func (b *builder) pad(n *node, in []*value) (*value, error) {
	v, err := computed(in)
	if err != nil {
		return nil, err
	}
	axes := len(v.shape)
	var pads []int
	if a := n.attributes["pads"]; a != nil {
		pads = a.ints
	}
	if c := argument(in, 1); c != nil {
		pads = c.ints
	}
	number := n.float("value", 0)
	if c := argument(in, 2); c != nil {
		if len(c.floats) != 1 {
			return nil, errors.New("its value is no constant number")
		}
		number = c.floats[0]
	}
	if mode := n.attributes["mode"]; mode != nil && mode.text != "constant" || argument(in, 3) != nil {
		return nil, errors.New("only padding of all axes with a constant is there")
	}
	if len(pads) != 2*axes || axes == 0 || slices.Min(pads) < 0 || slices.Max(pads) > 1<<12 {
		return nil, fmt.Errorf("pads %v of %d axes", pads, axes)
	}
	shape := slices.Clone(v.shape)
	for i := range shape {
		shape[i] += pads[i] + pads[axes+i]
	}
	out, err := b.made(shape, v.last)
	if err != nil {
		return nil, err
	}
	// Lines of the value go to places of what comes of it.
	memory := order(axes, v.last)
	strides := pick(out.strides(), memory)
	dims, begin := pick(v.shape, memory), 0
	for i, axis := range memory {
		begin += pads[axis] * strides[i]
	}
	from := v.buf
	b.step(func(arena []float32) {
		x, y := from.of(arena), out.buf.of(arena)
		for i := range y {
			y[i] = number
		}
		walk([][]int{strides}, dims, func(at int, offsets []int) {
			copy(y[begin+offsets[0]:], x[at:at+dims[axes-1]])
		})
	}, from, out.buf)
	return out, nil
}

// cast is Cast of constants, and of values to what they are.
func (b *builder) cast(n *node, in []*value) (*value, error) {
	v, err := some(in)
	if err != nil {
		return nil, err
	}
	to := n.int("to", 0)
	whole := to == typeInt32 || to == typeInt64
	switch {
	case to == typeFloat && v.ints != nil:
		floats := make([]float32, len(v.ints))
		for i, x := range v.ints {
			floats[i] = float32(x)
		}
		return &value{shape: v.shape, floats: floats}, nil
	case to == typeFloat, whole && v.ints != nil:
		return b.reshaped(v, v.shape)
	}
	return nil, fmt.Errorf("to the type %d", to)
}

// constantOf is Constant.
func (b *builder) constantOf(n *node, _ []*value) (*value, error) {
	of := func(name string) *attribute {
		if a := n.attributes[name]; a != nil {
			return a
		}
		return &attribute{}
	}
	if t := of("value").tensor; t != nil {
		return b.held(t)
	}
	for _, name := range []string{"value_float", "value_floats", "value_int", "value_ints"} {
		a := of(name)
		count := max(len(a.floats), len(a.ints))
		switch {
		case count == 0:
		case count == 1 && !strings.HasSuffix(name, "s"):
			return &value{floats: a.floats, ints: a.ints}, nil
		default:
			return &value{shape: []int{count}, floats: a.floats, ints: a.ints}, nil
		}
	}
	return nil, errors.New("it has no numbers")
}

// shapeOf is Shape.
func (b *builder) shapeOf(n *node, in []*value) (*value, error) {
	v, err := some(in)
	if err != nil || n.attributes["start"] != nil || n.attributes["end"] != nil {
		return nil, errors.New("of a part of a shape")
	}
	return &value{shape: []int{len(v.shape)}, ints: slices.Clone(v.shape)}, nil
}

// gather is Gather of constant whole numbers.
func (b *builder) gather(n *node, in []*value) (*value, error) {
	v, at := argument(in, 0), argument(in, 1)
	if v == nil || at == nil || v.ints == nil || at.ints == nil || len(v.shape) != 1 || n.int("axis", 0) != 0 {
		return nil, errors.New("of what is no list of constant whole numbers")
	}
	out := make([]int, len(at.ints))
	for i, j := range at.ints {
		if j < 0 {
			j += len(v.ints)
		}
		if j < 0 || j >= len(v.ints) {
			return nil, fmt.Errorf("number %d of %d", j, len(v.ints))
		}
		out[i] = v.ints[j]
	}
	return &value{shape: at.shape, ints: out}, nil
}
