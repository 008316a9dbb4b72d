// Package network computes features with convolutional networks from ONNX models, in single precision, one image at a
// time on one core. A text encoder is a network whose image is a row of token ids.
//
// It supports the operators of plain convolutional networks (ResNet, MobileNet, EfficientNet, SqueezeNet, DenseNet) and
// rejects others by name; the build with OpenCV runs models with others in ONNX Runtime, if that is installed. Models are
// not trusted: every index, shape and size is validated, and memory and work are bounded.
//
// A network is compiled for one image size. Maps are stored by rows with channels last, so that a convolution is a
// product of windows, each a few contiguous runs, with the weights (indirect convolution: Dukhan 2019). Normalisation
// and clipping after a convolution are fused into it, and memory of maps is reused by later maps.
package network

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

const (
	maxNumbers = 1 << 28 // largest number of values of a map, and of all memory
	maxWork    = 1 << 40 // largest number of multiplications and written values per image
	maxSide    = 1 << 14 // largest number of rows or columns of a map
)

// Options are the settings of Compile. The zero value means images of the model's size, or 224×224, and the output of the
// last global pooling, or else the first output of the model.
type Options struct {
	Height, Width int    // size of images; 0 means the model's
	Layer         string // name of the value, or of the operator, whose result is used
	Memory        int64  // limit of memory for weights and maps in bytes; 0 means 1 GB
	Text          bool   // a text encoder with its first output: images are rows of Width token ids, padded by zeros
}

// Network is a compiled model.
type Network struct {
	Height, Width, Channels int // size of an image
	// OutHeight, OutWidth and OutChannels are the size of the result of Run: maps, or a vector at one position.
	OutHeight, OutWidth, OutChannels int

	steps        []step
	in, out      *buffer
	size         int // size of the arena
	work         int // number of multiplications
	convolutions []*convolution
	shared       int // number of values stored outside arenas
	arenas       freelist.List[[]float32]
	other        func(dst, image []float32) error // runs the model in another program, if set
}

type step func(arena []float32)

// buffer is the memory of a value: size numbers of the arena from at on, during steps first to last.
type buffer struct {
	size, at, first, last int
	pending               int          // number of later uses, during compilation
	maker                 *convolution // the convolution that wrote it, if it is unchanged since
}

func (b *buffer) slice(arena []float32) []float32 { return arena[b.at : b.at+b.size : b.at+b.size] }

// Compile parses an ONNX model, validates the part of it that is needed, and compiles it.
func Compile(model []byte, opt Options) (*Network, error) {
	n, g := &Network{}, (*graph)(nil)
	err := guard.Try(func() {
		g = parse(model)
		n.compile(g, opt)
	})
	if err != nil && g != nil && compileOther != nil {
		other, cause := compileOther(model, opt)
		if cause == nil {
			return other, nil
		}
		err = fmt.Errorf("%w; in ONNX Runtime: %w", err, cause)
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

// compileOther, if set, opens a model that this package cannot compile in another program. Without it, errors say hint.
var (
	compileOther func(model []byte, opt Options) (*Network, error)
	hint         = "; the build with OpenCV runs other models in ONNX Runtime"
)

func (n *Network) compile(g *graph, opt Options) {
	b := &builder{constants: g.constants, values: map[string]*value{}, uses: map[string]int{}, limit: maxNumbers}
	if opt.Memory > 0 {
		b.limit = int(min(opt.Memory/4, maxNumbers))
	}
	layer := g.layer(opt)
	name, in := n.input(g, opt)
	var needed []*node // the operators that the layer depends on, last to first
	b.uses[layer] = 1
	for _, node := range slices.Backward(g.nodes) {
		if slices.ContainsFunc(node.outputs, func(name string) bool { return b.uses[name] > 0 }) {
			needed = append(needed, node)
			for _, name := range node.inputs {
				if name != "" {
					b.uses[name]++
				}
			}
		}
	}
	n.in = b.buffer(n.Height * n.Width * n.Channels)
	in.buf = n.in
	b.define(name, in)
	for _, node := range slices.Backward(needed) {
		guard.Within(func() { b.lower(node) }, "%v", node)
	}
	out := b.values[layer]
	failIf(out.buf == nil, "the layer %q does not depend on the image", layer)
	n.out = out.buf
	n.out.last = len(b.steps)
	n.OutHeight, n.OutWidth, n.OutChannels = 1, 1, n.out.size
	if len(out.shape) == 4 && out.shape[0] == 1 {
		s := permute(out.shape, order(4, out.last))
		n.OutHeight, n.OutWidth, n.OutChannels = s[1], s[2], s[3]
	}
	if n.size = b.layOut(); n.size > b.limit-b.numbers {
		b.tooLarge()
	}
	n.convolutions, n.shared, n.steps, n.work = b.convolutions, b.numbers, b.steps, b.work
	for _, c := range b.convolutions {
		c.finish()
	}
	n.arenas.New = func() []float32 { return make([]float32, n.size) }
}

// Shared returns the bytes that a network takes, and Memory the additional bytes of each concurrent Run.
func (n *Network) Shared() int64 { return 4 * int64(n.shared) }
func (n *Network) Memory() int64 { return 4 * int64(n.size) }

// Run writes the layer's values for an image to dst. Both are stored by rows with channels last. Values that are not
// finite are an error. It is safe for concurrent use.
func (n *Network) Run(dst, image []float32) (err error) {
	defer guard.Catch(&err)
	failIf(len(image) != n.in.size || len(dst) != n.out.size,
		"output of %d numbers and image of %d; expected %d and %d", len(dst), len(image), n.out.size, n.in.size)
	if n.other != nil {
		guard.Check(n.other(dst, image))
	} else {
		arena := n.arenas.Get()
		defer n.arenas.Put(arena)
		copy(n.in.slice(arena), image)
		for _, run := range n.steps {
			run(arena)
		}
		copy(dst, n.out.slice(arena))
	}
	for i, v := range dst {
		if v-v != 0 {
			return fmt.Errorf("output %d of the network is %v", i+1, v)
		}
	}
	return nil
}

func (n *Network) input(g *graph, opt Options) (name string, v *value) {
	given := slices.DeleteFunc(slices.Clone(g.inputs), func(in input) bool { return g.constants[in.name] != nil })
	if opt.Text {
		return n.textInput(given)
	}
	failIf(len(given) != 1 || len(given[0].dims) != 4, "expected one input of four axes")
	in := given[0]
	channels := func(at int) bool { return in.dims[at] >= 1 && in.dims[at] <= 4 }
	at, last := [3]int{1, 2, 3}, true // axes of channels, rows and columns
	if !channels(1) && channels(3) {
		at, last = [3]int{3, 1, 2}, false
	}
	n.Channels = in.dims[at[0]]
	failIf(in.dims[0] > 1 || !channels(at[0]),
		"input %q has shape %v; expected one image of 1 to 4 channels", in.name, in.dims)
	side := func(own, chosen int) int {
		failIf(own > 0 && chosen > 0 && own != chosen,
			"the network needs images of %d×%d, got %d×%d", in.dims[at[1]], in.dims[at[2]], opt.Height, opt.Width)
		out := cmp.Or(chosen, max(own, 0), 224)
		failIf(out < 1 || out > 1<<12, "image side %d; expected 1 to %d", out, 1<<12)
		return out
	}
	n.Height, n.Width = side(in.dims[at[1]], opt.Height), side(in.dims[at[2]], opt.Width)
	shape := []int{1, 0, 0, 0}
	shape[at[0]], shape[at[1]], shape[at[2]] = n.Channels, n.Height, n.Width
	return in.name, &value{shape: shape, last: last}
}

// textLength is the number of tokens of CLIP, for text encoders of any length.
const textLength = 77

// textInput returns the token ids of a text encoder.
func (n *Network) textInput(given []input) (name string, v *value) {
	failIf(len(given) != 1 || len(given[0].dims) != 2 || given[0].dims[0] > 1,
		"expected the input input_ids of shape 1×%d, got %v%s", textLength, given, hint)
	n.Height, n.Width, n.Channels = 1, cmp.Or(given[0].dims[1], textLength), 1
	return given[0].name, &value{shape: []int{1, n.Width}}
}

// poolings are operators that can pool a whole map, and afterPooling the operators of a classifier after it.
var (
	poolings     = []string{"GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "AveragePool"}
	afterPooling = []string{"Softmax", "LogSoftmax", "Gemm", "MatMul", "Add", "Flatten", "Reshape", "Squeeze", "Dropout", "Identity", "Cast"}
)

// layer returns the name of the value that the options select.
func (g *graph) layer(opt Options) string {
	name := opt.Layer
	if opt.Text && len(g.outputs) > 0 {
		name = g.outputs[0]
	}
	makers := map[string]*node{}
	for _, n := range g.nodes {
		for _, out := range n.outputs {
			makers[out] = n
		}
	}
	if name != "" {
		if makers[name] != nil {
			return name
		}
		for _, n := range g.nodes {
			if n.name == name && len(n.outputs) > 0 {
				return n.outputs[0]
			}
		}
		var last []string
		for _, n := range g.nodes[max(len(g.nodes)-8, 0):] {
			last = append(last, n.outputs...)
		}
		fail("unknown layer %q; the last layers are %q", name, last)
	}
	failIf(len(g.outputs) == 0 || makers[g.outputs[0]] == nil, "no node computes an output of the network")
	at := g.outputs[0]
	for range g.nodes {
		n := makers[at]
		if n != nil && slices.Contains(poolings, n.op) {
			return at
		}
		if n == nil || !slices.Contains(afterPooling, n.op) || len(n.inputs) == 0 {
			break
		}
		at = n.inputs[0]
	}
	return g.outputs[0]
}

// layOut assigns offsets to buffers, largest first, so that buffers in use at the same time do not overlap. It
// returns the size of the arena.
func (b *builder) layOut() int {
	end := b.zeros
	var placed []*buffer
	order := slices.Clone(b.buffers)
	slices.SortStableFunc(order, func(x, y *buffer) int { return y.size - x.size })
	for _, x := range order {
		x.at = b.zeros
		for _, y := range placed { // by offset
			if y.first > x.last || x.first > y.last {
				continue
			}
			if x.at+x.size <= y.at {
				break
			}
			x.at = max(x.at, y.at+y.size)
		}
		at, _ := slices.BinarySearchFunc(placed, x, func(p, x *buffer) int { return p.at - x.at })
		placed = slices.Insert(placed, at, x)
		if end = max(end, x.at+x.size); end > math.MaxInt32 {
			break
		}
	}
	return end
}
