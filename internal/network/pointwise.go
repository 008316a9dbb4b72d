package network

import (
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// pointwise adds a step that applies f to the numbers of a value, in place if they have no other use.
func (b *builder) pointwise(v *value, f func(x []float32)) *value {
	from, to := v.buf, v.buf
	if v.buf.pending > 0 {
		to = b.buffer(v.buf.size)
	}
	b.addStep(func(arena []float32) {
		x := to.slice(arena)
		if from != to {
			copy(x, from.slice(arena))
		}
		f(x)
	}, from, to)
	return &value{shape: v.shape, last: v.last, buf: to}
}

// clip compiles Clip and Relu, which are fused into a preceding convolution.
func (b *builder) clip(n *node, in []*value) *value {
	v := computed(in)
	// Bounds are attributes before opset 11, and inputs since.
	bounds := [2]float32{n.float("min", unbounded[0]), n.float("max", unbounded[1])}
	for i := range bounds {
		bounds[i] = single(in, 1+i, bounds[i], "bound is")
	}
	if n.op == "Relu" {
		bounds = [2]float32{0, unbounded[1]}
	}
	failIf(!(bounds[0] <= bounds[1]), "invalid bounds %v", bounds)
	clamp := func(x []float32) {
		for i, v := range x {
			x[i] = min(max(v, bounds[0]), bounds[1])
		}
	}
	if c := v.buf.maker; c != nil && v.buf.pending == 0 {
		clamp(c.bounds[:])
		return v
	}
	return b.pointwise(v, clamp)
}

// functions are the unary operators, with the attributes alpha and beta.
var functions = map[string]func(x, alpha, beta float32) float32{
	"LeakyRelu": func(x, alpha, _ float32) float32 { return leaky(x, alpha) },
	"Elu": func(x, alpha, _ float32) float32 {
		if x < 0 {
			return float32(float64(alpha) * elementary.Expm1(float64(x)))
		}
		return x
	},
	"Sigmoid":     func(x, _, _ float32) float32 { return float32(1 / (1 + elementary.Exp(-float64(x)))) },
	"Tanh":        func(x, _, _ float32) float32 { return float32(elementary.Tanh(float64(x))) },
	"HardSigmoid": func(x, alpha, beta float32) float32 { return min(max(alpha*x+beta, 0), 1) },
	"HardSwish":   func(x, _, _ float32) float32 { return x * min(max(x/6+0.5, 0), 1) },
}

func (b *builder) unary(n *node, in []*value) *value {
	f := functions[n.op]
	alpha, beta := n.float("alpha", map[string]float32{"LeakyRelu": 0.01, "Elu": 1, "HardSigmoid": 0.2}[n.op]), n.float("beta", 0.5)
	return b.pointwise(computed(in), func(x []float32) {
		for i, v := range x {
			x[i] = f(v, alpha, beta)
		}
	})
}

// softmax compiles Softmax over the channels of a single position.
func (b *builder) softmax(n *node, in []*value) *value {
	v := computed(in)
	axes, axis := len(v.shape), n.int("axis", -1)
	failIf(axes < 2 || v.shape[1] != v.buf.size || axis != 1 && (axis != -1 || axes != 2),
		"shape %v, axis %d; expected the channel axis", v.shape, axis)
	return b.pointwise(v, func(x []float32) {
		var sum float64
		top := slices.Max(x)
		for i, v := range x {
			x[i] = float32(elementary.Exp(float64(v - top)))
			sum += float64(x[i])
		}
		for i := range x {
			x[i] = float32(float64(x[i]) / sum)
		}
	})
}

// batchNormalization compiles BatchNormalization, which is fused into a preceding convolution.
func (b *builder) batchNormalization(n *node, in []*value) *value {
	v := computed(in)
	failIf(len(v.shape) < 2 || n.int("training_mode", 0) != 0, "expected a normalisation of channels by constants")
	channels := v.shape[1]
	var of [4][]float32
	for i, what := range []string{"scales", "shifts", "means", "variances"} {
		of[i] = perChannel(in, i+1, channels, what)
	}
	scale, shift := make([]float32, channels), make([]float32, channels)
	epsilon := float64(n.float("epsilon", 1e-5))
	for c := range channels {
		s := float64(of[0][c]) / math.Sqrt(float64(of[3][c])+epsilon)
		scale[c], shift[c] = float32(s), float32(float64(of[1][c])-float64(of[2][c])*s)
		failIf(math.IsNaN(s) || math.IsInf(s, 0), "channel %d has the variance %v", c+1, of[3][c])
	}
	if c := v.buf.maker; c != nil && v.buf.pending == 0 && c.bounds == unbounded && c.outC == channels && (v.last || len(v.shape) == 2) {
		c.weights, c.bias = slices.Clone(c.weights), slices.Clone(c.bias)
		each := len(c.weights) / channels
		for out := range channels {
			for i := range each {
				c.weights[out*each+i] *= scale[out]
			}
			c.bias[out] = c.bias[out]*scale[out] + shift[out]
		}
		return v
	}
	if len(v.shape) == 4 {
		v = b.layout(v, true)
	} else if len(v.shape) != 2 {
		fail("shape %v not supported", v.shape)
	}
	return b.pointwise(v, func(x []float32) {
		for ; len(x) > 0; x = x[channels:] {
			for c, v := range x[:channels] {
				x[c] = v*scale[c] + shift[c]
			}
		}
	})
}

// lrn compiles LRN, local response normalisation over adjacent channels.
func (b *builder) lrn(n *node, in []*value) *value {
	v := b.asMap(in)
	size, channels := n.int("size", 0), v.shape[1]
	alpha, beta, bias := float64(n.float("alpha", 1e-4)), float64(n.float("beta", 0.75)), float64(n.float("bias", 1))
	failIf(size < 1 || size > 1<<12, "size of %d channels not supported", size)
	b.work += v.buf.size * min(size, channels)
	from := v.buf
	out := b.newValue(v.shape, true)
	b.addStep(func(arena []float32) {
		x, y := from.slice(arena), out.buf.slice(arena)
		for ; len(x) > 0; x, y = x[channels:], y[channels:] {
			for c := range channels {
				var sum float64
				for _, v := range x[max(c-(size-1)/2, 0):min(c+size/2+1, channels)] {
					sum += float64(v) * float64(v)
				}
				y[c] = float32(float64(x[c]) * elementary.Pow(bias+alpha/float64(size)*sum, -beta))
			}
		}
	}, from, out.buf)
	return out
}

var arithmetic = map[string]func(x, y float32) float32{
	"Add":   func(x, y float32) float32 { return x + y },
	"Sub":   func(x, y float32) float32 { return x - y },
	"Mul":   func(x, y float32) float32 { return x * y },
	"Div":   func(x, y float32) float32 { return x / y },
	"PRelu": leaky,
}

func leaky(x, slope float32) float32 {
	if x < 0 {
		return slope * x
	}
	return x
}

// binary compiles a binary operator with broadcasting.
func (b *builder) binary(n *node, in []*value) *value {
	failIf(len(in) != 2 || in[0] == nil || in[1] == nil, "expected two inputs")
	shape := broadcastShape(in[0].shape, in[1].shape)
	// All maps get the layout of the first one.
	last, found := false, false
	operands := slices.Clone(in)
	for i, v := range operands {
		switch {
		case v.constant() && v.floats == nil:
			fail("integer maps not supported")
		case v.constant():
			operands[i] = constantInput(in, i, "numbers")
		case len(v.shape) == 4 && !found:
			last, found = v.last, true
		case len(v.shape) == 4:
			operands[i] = b.layout(v, last)
		}
	}
	failIf(in[0].constant() && in[1].constant() || found && len(shape) > 4,
		"shapes %v and %v do not match", in[0].shape, in[1].shape)
	axes, whole := order(len(shape), last), shape
	if len(shape) == 0 { // two single numbers
		axes, whole = []int{0}, []int{1}
	}
	dims := permute(whole, axes)
	var strides [2][]int
	for i, v := range operands {
		along := make([]int, len(whole))
		for a, stride := range v.strides() {
			if v.shape[a] != 1 {
				along[len(whole)-len(v.shape)+a] = stride
			}
		}
		strides[i] = permute(along, axes)
	}
	// The result overwrites the first operand if that has no other use.
	v, w := operands[0], operands[1]
	out := &value{shape: shape, last: last, buf: v.buf}
	if v.constant() || v.buf.pending > 0 || v.buf == w.buf || !slices.Equal(v.shape, shape) {
		out = b.newValue(shape, last)
	}
	inner := len(dims) - 1
	f, length, s, t := arithmetic[n.op], dims[inner], strides[0][inner], strides[1][inner]
	buffers := []*buffer{out.buf}
	for _, v := range operands {
		if b.countNumbers(len(v.floats)); v.buf != nil {
			buffers = append(buffers, v.buf)
		}
	}
	b.addStep(func(arena []float32) {
		x, y, z := v.numbers(arena), w.numbers(arena), out.buf.slice(arena)
		walk(strides[:], dims, func(at int, offsets []int) {
			x, y := x[offsets[0]:], y[offsets[1]:]
			for i := range z[at : at+length] {
				z[at+i] = f(x[i*s], y[i*t])
			}
		})
	}, buffers...)
	return out
}

func (v *value) numbers(arena []float32) []float32 {
	if v.buf == nil {
		return v.floats
	}
	return v.buf.slice(arena)
}

// broadcastShape returns the broadcast shape: axes, counted from the last, are equal or one of them is 1.
func broadcastShape(x, y []int) []int {
	if len(x) < len(y) {
		x, y = y, x
	}
	out := slices.Clone(x)
	for i, d := range y {
		switch to := &out[len(x)-len(y)+i]; {
		case *to == 1:
			*to = d
		case d != 1 && d != *to:
			fail("shapes %v and %v do not match", x, y)
		}
	}
	size(out)
	return out
}
