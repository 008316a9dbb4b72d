package network

import (
	"slices"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
)

type builder struct {
	constants      map[string]*tensor
	values         map[string]*value
	uses           map[string]int // number of reads of each value
	steps          []step
	buffers        []*buffer
	convolutions   []*convolution
	zeros          int // number of zeros at the start of the arena
	numbers, limit int // numbers stored outside the arena, and their limit
	work           int
}

// value is an array: a constant, or the result of a step.
type value struct {
	shape  []int
	last   bool // a map, 1×channels×height×width, stored with channels last
	buf    *buffer
	floats []float32 // values of a constant
	ints   []int
}

func (v *value) constant() bool { return v.buf == nil }

var operators = map[string]func(b *builder, n *node, in []*value) *value{
	"Conv": (*builder).conv, "Gemm": (*builder).product, "MatMul": (*builder).product,
	"BatchNormalization": (*builder).batchNormalization, "LRN": (*builder).lrn, "Softmax": (*builder).softmax,
	"Clip": (*builder).clip, "Relu": (*builder).clip, "LeakyRelu": (*builder).unary, "Elu": (*builder).unary, "Tanh": (*builder).unary,
	"Sigmoid": (*builder).unary, "HardSigmoid": (*builder).unary, "HardSwish": (*builder).unary,
	"Add": (*builder).binary, "Sub": (*builder).binary, "Mul": (*builder).binary, "Div": (*builder).binary, "PRelu": (*builder).binary,
	"MaxPool": (*builder).pool, "AveragePool": (*builder).pool, "ReduceMean": (*builder).reduceMean,
	"GlobalAveragePool": (*builder).globalPool, "GlobalMaxPool": (*builder).globalPool,
	"Concat": (*builder).concat, "Flatten": (*builder).flatten, "Reshape": (*builder).reshape, "Squeeze": (*builder).squeeze,
	"Unsqueeze": (*builder).unsqueeze, "Transpose": (*builder).transpose, "Pad": (*builder).pad,
	"Dropout": (*builder).identity, "Identity": (*builder).identity, "Cast": (*builder).cast,
	"Constant": (*builder).constantOf, "Shape": (*builder).shapeOf, "Gather": (*builder).gather,
}

// fail aborts the compilation of a model with an error, and failIf does so if something is wrong.
func fail(format string, args ...any)               { guard.Fail(format, args...) }
func failIf(wrong bool, format string, args ...any) { guard.FailIf(wrong, format, args...) }

// lower compiles a node to steps. Operators call fail for unsupported nodes.
func (b *builder) lower(n *node) {
	operator := operators[n.op]
	failIf(operator == nil, "operator not supported%s", hint)
	failIf(len(n.outputs) == 0, "no output")
	for _, name := range n.outputs[1:] {
		failIf(b.uses[name] > 0, "second output %q not supported", name)
	}
	in := make([]*value, len(n.inputs))
	for i, name := range n.inputs {
		if name == "" {
			continue
		}
		if b.values[name] == nil {
			t := b.constants[name]
			failIf(t == nil, "no earlier node has the output %q", name)
			b.values[name] = t.value()
		}
		if in[i] = b.values[name]; in[i].buf != nil {
			in[i].buf.pending--
		}
	}
	failIf(argument(in, 0) == nil && n.op != "Constant", "no input")
	out := operator(b, n, in)
	if out.buf != nil {
		b.work += out.buf.size
	}
	failIf(b.work > maxWork, "too many multiplications per image")
	b.define(n.outputs[0], out)
}

func (b *builder) define(name string, v *value) {
	failIf(b.values[name] != nil || b.constants[name] != nil, "duplicate value %q", name)
	b.values[name] = v
	if v.buf != nil {
		v.buf.pending += b.uses[name]
	}
}

func (b *builder) buffer(size int) *buffer {
	buf := &buffer{size: size, first: len(b.steps), last: len(b.steps)}
	b.buffers = append(b.buffers, buf)
	return buf
}

func (b *builder) addStep(run func(arena []float32), buffers ...*buffer) {
	for _, buf := range buffers {
		buf.last = len(b.steps)
		buf.maker = nil
	}
	b.steps = append(b.steps, run)
}

// newValue returns a new value of the given shape, which the next step must write.
func (b *builder) newValue(shape []int, last bool) *value {
	n := size(shape)
	failIf(n == 0, "it is empty")
	return &value{shape: shape, last: last, buf: b.buffer(n)}
}

// countNumbers counts numbers that the network stores.
func (b *builder) countNumbers(n int) {
	if b.numbers += n; b.numbers > b.limit {
		b.tooLarge()
	}
}

func (b *builder) tooLarge() { fail("the network needs more than %d MB of memory", b.limit>>18) }

// argument returns input at of a node, or nil if it is omitted.
func argument(in []*value, at int) *value {
	if at < len(in) {
		return in[at]
	}
	return nil
}

// single returns the number of an optional constant input, or otherwise if it is omitted. what names it in errors.
func single(in []*value, at int, otherwise float32, what string) float32 {
	v := argument(in, at)
	switch {
	case v == nil:
		return otherwise
	case len(v.floats) != 1:
		fail("its %s not a constant number", what)
	}
	return v.floats[0]
}

// computed returns the first input, which must not be constant.
func computed(in []*value) *value {
	failIf(in[0] == nil || in[0].constant(), "its first input does not depend on the image")
	return in[0]
}

// constantInput returns an input that must be constant and finite. what names it in errors.
func constantInput(in []*value, at int, what string) *value {
	v := argument(in, at)
	failIf(v == nil || v.floats == nil, "its %s are not constant numbers", what)
	for _, x := range v.floats {
		if x-x != 0 {
			fail("one of its %s is %v", what, x)
		}
	}
	return v
}

// perChannel returns a constant input with one number per channel.
func perChannel(in []*value, at, channels int, what string) []float32 {
	v := constantInput(in, at, what)
	failIf(len(v.floats) != channels, "%d %s for %d channels", len(v.floats), what, channels)
	return v.floats
}

// asMap returns the first input, which must be a map, with channels last.
func (b *builder) asMap(in []*value) *value {
	v := computed(in)
	failIf(len(v.shape) != 4 || v.shape[0] != 1 || max(v.shape[2], v.shape[3]) > maxSide,
		"input shape %v; expected maps of one image with at most %d rows and columns", v.shape, maxSide)
	return b.layout(v, true)
}

// layout returns the value with channels last, or in the order of its axes.
func (b *builder) layout(v *value, last bool) *value {
	if len(v.shape) != 4 || v.last == last {
		return v
	}
	return b.permuted(v, []int{0, 1, 2, 3}, last)
}

// strides returns the distance of numbers along each axis.
func (v *value) strides() []int {
	out := make([]int, len(v.shape))
	n := 1
	for _, axis := range slices.Backward(order(len(v.shape), v.last)) {
		out[axis] = n
		n *= v.shape[axis]
	}
	return out
}

// order returns the axes in memory order.
func order(axes int, last bool) []int {
	if last {
		return []int{0, 2, 3, 1}
	}
	return []int{0, 1, 2, 3, 4, 5, 6, 7}[:axes]
}

func permute(x, at []int) []int {
	return lists.Map(at, func(j int) int { return x[j] })
}

// permuted returns v with permuted axes: axis i is axis perm[i] of v.
func (b *builder) permuted(v *value, perm []int, last bool) *value {
	shape := permute(v.shape, perm)
	axes := order(len(shape), last)
	dims, strides := permute(shape, axes), permute(permute(v.strides(), perm), axes)
	if contiguous(dims, strides) {
		return &value{shape: shape, last: last, buf: v.buf}
	}
	out := b.newValue(shape, last)
	from, to, stride := v.buf, out.buf, strides[len(dims)-1]
	b.addStep(func(arena []float32) {
		dst, src := to.slice(arena), from.slice(arena)
		walk([][]int{strides}, dims, func(at int, offsets []int) {
			for i := range dims[len(dims)-1] {
				dst[at+i] = src[offsets[0]+i*stride]
			}
		})
	}, from, to)
	return out
}

// contiguous reports whether an array with these dims and strides is contiguous.
func contiguous(dims, strides []int) bool {
	n := 1
	for i, d := range slices.Backward(dims) {
		if d != 1 && strides[i] != n {
			return false
		}
		n *= d
	}
	return true
}

// walk calls f for each line along the last dimension, with the index of its first number and its offset for each of the
// strides.
func walk(strides [][]int, dims []int, f func(at int, offsets []int)) {
	inner, offsets := len(dims)-1, make([]int, len(strides))
	for line := range size(dims[:inner]) {
		clear(offsets)
		rest := line
		for axis, d := range slices.Backward(dims[:inner]) {
			for s := range strides {
				offsets[s] += rest % d * strides[s][axis]
			}
			rest /= d
		}
		f(line*dims[inner], offsets)
	}
}
