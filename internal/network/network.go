// Package network runs convolutional networks that are saved as ONNX models, for their
// features: in single precision, an image at a time on one core, in both builds.
//
// It reads the operators of plain convolutional networks (ResNet, MobileNet, EfficientNet,
// SqueezeNet, DenseNet) and refuses others by name. A model is a stranger's: every index,
// shape and size in it is checked, and what it may take of memory and of work is bounded.
//
// A network is compiled for one size of images. Maps lie row by row with their channels last, so that a
// convolution is a product of windows, each a few runs of numbers that lie side by side, with the weights (an
// indirect convolution: Dukhan 2019). Normalisation and bounds after a convolution become part of it, and
// memory of maps is used again by what comes later.
package network

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/freelist"
)

const (
	maxNumbers = 1 << 28 // of a map, and of all that is held at once
	maxWork    = 1 << 40 // multiplications an image, or numbers that are written
	maxSide    = 1 << 14 // rows or columns of a map
)

// Options say what of a model is run. The zero value runs it on images of the model's size, or 224×224, up to
// its last pooling or else its first output.
type Options struct {
	Height, Width int    // of images, 0 for the model's
	Layer         string // names the value, or the operator whose value, is wanted
	Memory        int64  // bounds the bytes of weights, of maps and of what is kept with them, 0 for 1 GB
}

// Network is a model that is ready to run.
type Network struct {
	Height, Width, Channels int // Height, Width and Channels are those of an image
	// OutHeight, OutWidth and OutChannels are those of what Run gives: maps, or one place.
	OutHeight, OutWidth, OutChannels int

	steps        []step
	in, out      *buffer
	size         int // of the arena
	work         int // multiplications
	convolutions []*convolution
	shared       int // numbers that are held once
	arenas       freelist.List[[]float32]
}

type step func(arena []float32)

// buffer is memory of a value: size numbers of the arena from at on, while steps first to last run.
type buffer struct {
	size, at, first, last int
	pending               int          // counts the uses that are still to come, while steps are made
	maker                 *convolution // the convolution that filled it, where nothing changed it since
}

func (b *buffer) in(arena []float32) []float32 { return arena[b.at : b.at+b.size : b.at+b.size] }

// Compile reads a model, checks all of it that is needed, and gets ready to run it.
func Compile(model []byte, opt Options) (*Network, error) {
	n := &Network{}
	if err := caught(func() { n.compile(parse(model), opt) }); err != nil {
		return nil, err
	}
	return n, nil
}

func (n *Network) compile(g *graph, opt Options) {
	b := &builder{constants: g.constants, values: map[string]*value{}, uses: map[string]int{}, limit: maxNumbers}
	if opt.Memory > 0 {
		b.limit = int(min(opt.Memory/4, maxNumbers))
	}
	layer := g.layer(opt.Layer)
	name, in := n.input(g, opt)
	var needed []*node // what the layer depends on, from the last operator to the first
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
		if err := caught(func() { b.lower(node) }); err != nil {
			fail("%v: %w", node, err)
		}
	}
	out := b.values[layer]
	if out.buf == nil {
		fail("the layer %q does not depend on the image", layer)
	}
	n.out = out.buf
	n.out.last = len(b.steps)
	n.OutHeight, n.OutWidth, n.OutChannels = 1, 1, n.out.size
	if s := out.shape; len(s) == 4 && s[0] == 1 {
		n.OutHeight, n.OutWidth, n.OutChannels = s[1], s[2], s[3]
		if out.last {
			n.OutHeight, n.OutWidth, n.OutChannels = s[2], s[3], s[1]
		}
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

// Shared returns how many bytes a network takes, and Memory how many more Run takes, for
// each of those that run at once.
func (n *Network) Shared() int64 { return 4 * int64(n.shared) }
func (n *Network) Memory() int64 { return 4 * int64(n.size) }

// Run writes to dst the values of the layer of an image, both row by row with the channels
// last. Numbers that are not finite are an error. Several goroutines may call it at once.
func (n *Network) Run(dst, image []float32) error {
	if len(image) != n.in.size || len(dst) != n.out.size {
		return fmt.Errorf("output of %d numbers and image of %d; expected %d and %d", len(dst), len(image), n.out.size, n.in.size)
	}
	arena := n.arenas.Get()
	defer n.arenas.Put(arena)
	copy(n.in.in(arena), image)
	for _, run := range n.steps {
		run(arena)
	}
	copy(dst, n.out.in(arena))
	for i, v := range dst {
		if v-v != 0 {
			return fmt.Errorf("output %d of the network is %v", i+1, v)
		}
	}
	return nil
}

func (n *Network) input(g *graph, opt Options) (name string, v *value) {
	given := slices.DeleteFunc(slices.Clone(g.inputs), func(in input) bool { return g.constants[in.name] != nil })
	if len(given) != 1 || len(given[0].dims) != 4 {
		fail("expected one input of four axes")
	}
	in := given[0]
	channels := func(at int) bool { return in.dims[at] >= 1 && in.dims[at] <= 4 }
	at, last := [3]int{1, 2, 3}, true // of channels, rows and columns
	if !channels(1) && channels(3) {
		at, last = [3]int{3, 1, 2}, false
	}
	n.Channels = in.dims[at[0]]
	if in.dims[0] > 1 || !channels(at[0]) {
		fail("input %q has shape %v; expected one image of 1 to 4 channels", in.name, in.dims)
	}
	side := func(own, chosen int) int {
		if own > 0 && chosen > 0 && own != chosen {
			fail("the network needs images of %d×%d, got %d×%d", in.dims[at[1]], in.dims[at[2]], opt.Height, opt.Width)
		}
		out := cmp.Or(chosen, max(own, 0), 224)
		if out < 1 || out > 1<<12 {
			fail("image side %d; expected 1 to %d", out, 1<<12)
		}
		return out
	}
	n.Height, n.Width = side(in.dims[at[1]], opt.Height), side(in.dims[at[2]], opt.Width)
	shape := []int{1, n.Channels, n.Height, n.Width}
	if !last {
		shape = []int{1, n.Height, n.Width, n.Channels}
	}
	return in.name, &value{shape: shape, last: last}
}

// poolings are operators that pool a whole map, and afterPooling those of a classifier, which reads their answer.
var (
	poolings     = []string{"GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "AveragePool"}
	afterPooling = []string{"Softmax", "LogSoftmax", "Gemm", "MatMul", "Add", "Flatten", "Reshape", "Squeeze", "Dropout", "Identity", "Cast"}
)

// layer returns the name of the value that is wanted.
func (g *graph) layer(name string) string {
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
	if len(g.outputs) == 0 || makers[g.outputs[0]] == nil {
		fail("no node computes an output of the network")
	}
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

// layOut gives buffers places, the largest first and apart from others of the same time, and returns the size
// of all.
func (b *builder) layOut() int {
	end := b.zeros
	var placed []*buffer
	order := slices.Clone(b.buffers)
	slices.SortStableFunc(order, func(x, y *buffer) int { return cmp.Compare(y.size, x.size) })
	for _, x := range order {
		x.at = b.zeros
		for _, y := range placed { // in the order of their places
			if y.first > x.last || x.first > y.last {
				continue
			}
			if x.at+x.size <= y.at {
				break
			}
			x.at = max(x.at, y.at+y.size)
		}
		at, _ := slices.BinarySearchFunc(placed, x, func(p, x *buffer) int { return cmp.Compare(p.at, x.at) })
		placed = slices.Insert(placed, at, x)
		end = max(end, x.at+x.size)
		if end > math.MaxInt32 {
			return end
		}
	}
	return end
}
