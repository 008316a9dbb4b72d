package network

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A file of the Open Neural Network Exchange, version 1.x, is one message of Protocol
// Buffers, see onnx.proto. What is read of it is checked to be well formed here; that it
// makes sense, where it is used.

// graph is what a file holds.
type graph struct {
	inputs    []input
	outputs   []string
	nodes     []*node
	constants map[string]*tensor
	// small counts what takes many times more memory than bytes of the file: whole numbers
	// and names.
	small int
}

// input is a value that is given.
type input struct {
	name string
	dims []int // -1 where the file leaves one open
}

// node is an operator with its inputs, some of which may be "", and its outputs.
type node struct {
	op, name        string
	inputs, outputs []string
	attributes      map[string]*attribute
}

// String names the node in messages.
func (n *node) String() string {
	if n.name == "" && len(n.outputs) > 0 {
		return fmt.Sprintf("%s of %q", n.op, n.outputs[0])
	}
	return fmt.Sprintf("%s %q", n.op, n.name)
}

// attribute returns what the node has of the name, or nothing.
func (n *node) attribute(name string) attribute {
	if a := n.attributes[name]; a != nil {
		return *a
	}
	return attribute{}
}

// attribute is a setting of a node. A single value is also a list of one.
type attribute struct {
	floats []float32
	ints   []int
	text   string
	tensor *tensor
}

// The types of a tensor's numbers that are read.
const (
	typeFloat  = 1
	typeInt32  = 6
	typeInt64  = 7
	typeHalf   = 10
	typeDouble = 11
)

// tensor is an array as it lies in the file.
type tensor struct {
	name    string
	dims    []int
	kind    int
	raw     []byte
	floats  []float32
	doubles []float64
	ints    []int // also the bits of halves
	other   bool  // its numbers lie in another file
}

// What a file may hold.
const (
	maxNodes = 20_000
	maxSmall = 1 << 22
	maxDims  = 8
	maxInt   = 1 << 31
)

var errMalformed = errors.New("the bytes are no ONNX model, or a damaged one")

// fields calls f for each field of a message: value holds a number, or bytes the content.
func fields(message []byte, f func(number protowire.Number, value uint64, bytes []byte)) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		message = after(message, n)
		var value uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(message)
			value = uint64(v)
		case protowire.Fixed64Type:
			value, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			if bytes, n = protowire.ConsumeBytes(message); bytes == nil {
				bytes = []byte{} // which is not nil
			}
		default:
			n = -1
		}
		message = after(message, n)
		f(number, value, bytes)
	}
}

// after returns what follows n bytes of a message, which are malformed where n is below 0.
func after(message []byte, n int) []byte {
	if n < 0 {
		panic(failure{errMalformed})
	}
	return message[n:]
}

// parse reads a model.
func parse(content []byte) *graph {
	g := &graph{constants: map[string]*tensor{}}
	fields(content, func(number protowire.Number, _ uint64, bytes []byte) {
		if number == 7 && bytes != nil {
			g.read(bytes)
		}
	})
	if len(g.nodes) == 0 {
		panic(failure{errMalformed})
	}
	return g
}

func (g *graph) read(message []byte) {
	fields(message, func(number protowire.Number, _ uint64, bytes []byte) {
		switch {
		case bytes == nil:
		case number == 1:
			if g.nodes = append(g.nodes, g.readNode(bytes)); len(g.nodes) > maxNodes {
				fail("more than %d operators", maxNodes)
			}
		case number == 5:
			g.count(1)
			t := g.readTensor(bytes)
			if g.constants[t.name] != nil {
				fail("two constants are called %q", t.name)
			}
			g.constants[t.name] = t
		case number == 11:
			g.count(1)
			g.inputs = append(g.inputs, g.readInput(bytes))
		case number == 12:
			g.count(1)
			g.outputs = append(g.outputs, g.readInput(bytes).name)
		}
	})
}

func (g *graph) readNode(message []byte) *node {
	n := &node{attributes: map[string]*attribute{}}
	domain := ""
	fields(message, func(number protowire.Number, _ uint64, bytes []byte) {
		switch {
		case bytes == nil:
		case number == 1:
			g.count(1)
			n.inputs = append(n.inputs, string(bytes))
		case number == 2:
			g.count(1)
			n.outputs = append(n.outputs, string(bytes))
		case number == 3:
			n.name = string(bytes)
		case number == 4:
			n.op = string(bytes)
		case number == 5:
			g.count(1)
			name, a := g.readAttribute(bytes)
			n.attributes[name] = a
		case number == 7:
			domain = string(bytes)
		}
	})
	if domain != "" && domain != "ai.onnx" {
		n.op = domain + "." + n.op
	}
	return n
}

func (g *graph) readAttribute(message []byte) (name string, a *attribute) {
	a = &attribute{}
	fields(message, func(number protowire.Number, value uint64, bytes []byte) {
		switch number {
		case 1:
			name = string(bytes)
		case 2:
			a.floats = append(a.floats, math.Float32frombits(uint32(value)))
		case 3:
			a.ints = append(a.ints, bounded(value))
		case 4:
			a.text = string(bytes)
		case 5:
			a.tensor = g.readTensor(bytes)
		case 7:
			a.floats = appendFloats(a.floats, value, bytes)
		case 8:
			a.ints = g.appendInts(a.ints, value, bytes)
		}
	})
	return name, a
}

func (g *graph) readTensor(message []byte) *tensor {
	t := &tensor{}
	fields(message, func(number protowire.Number, value uint64, bytes []byte) {
		switch number {
		case 1:
			t.dims = g.appendInts(t.dims, value, bytes)
		case 2:
			t.kind = bounded(value)
		case 4:
			t.floats = appendFloats(t.floats, value, bytes)
		case 5, 7:
			t.ints = g.appendInts(t.ints, value, bytes)
		case 8:
			t.name = string(bytes)
		case 9:
			t.raw = bytes
		case 10:
			if bytes == nil {
				t.doubles = append(t.doubles, math.Float64frombits(value))
			}
			for ; len(bytes) >= 8; bytes = bytes[8:] {
				v, _ := protowire.ConsumeFixed64(bytes)
				t.doubles = append(t.doubles, math.Float64frombits(v))
			}
		case 13:
			t.other = true
		case 14:
			t.other = t.other || value != 0
		}
	})
	return t
}

// readInput reads the name and the shape of a ValueInfoProto.
func (g *graph) readInput(message []byte) (in input) {
	within := func(message []byte, wanted protowire.Number, f func(bytes []byte)) {
		fields(message, func(number protowire.Number, _ uint64, bytes []byte) {
			if number == wanted && bytes != nil {
				f(bytes)
			}
		})
	}
	within(message, 1, func(name []byte) { in.name = string(name) })
	within(message, 2, func(kind []byte) {
		within(kind, 1, func(tensor []byte) {
			within(tensor, 2, func(shape []byte) {
				within(shape, 1, func(dim []byte) {
					g.count(1)
					in.dims = append(in.dims, -1)
					fields(dim, func(number protowire.Number, value uint64, _ []byte) {
						if v := bounded(value); number == 1 && v > 0 {
							in.dims[len(in.dims)-1] = v
						}
					})
				})
			})
		})
	})
	return in
}

// bounded returns a signed number, brought to those that are looked at.
func bounded(value uint64) int { return int(min(max(int64(value), -maxInt), maxInt)) }

// count counts n more of what takes much memory.
func (g *graph) count(n int) {
	if g.small += n; g.small > maxSmall {
		fail("more than %d names and whole numbers", maxSmall)
	}
}

// appendInts appends one number, or those that are packed.
func (g *graph) appendInts(to []int, value uint64, packed []byte) []int {
	if packed == nil {
		g.count(1)
		return append(to, bounded(value))
	}
	g.count(len(packed))
	for len(packed) > 0 {
		v, n := protowire.ConsumeVarint(packed)
		packed = after(packed, n)
		to = append(to, bounded(v))
	}
	return to
}

// appendFloats appends one number, or those that are packed.
func appendFloats(to []float32, value uint64, packed []byte) []float32 {
	if packed == nil {
		return append(to, math.Float32frombits(uint32(value)))
	}
	for ; len(packed) >= 4; packed = packed[4:] {
		v, _ := protowire.ConsumeFixed32(packed)
		to = append(to, math.Float32frombits(v))
	}
	return to
}
