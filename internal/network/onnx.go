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
func fields(message []byte, f func(number protowire.Number, value uint64, bytes []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errMalformed
		}
		message = message[n:]
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
			bytes, n = protowire.ConsumeBytes(message)
			if n >= 0 && bytes == nil {
				bytes = []byte{}
			}
		default:
			return errMalformed
		}
		if n < 0 {
			return errMalformed
		}
		message = message[n:]
		if err := f(number, value, bytes); err != nil {
			return err
		}
	}
	return nil
}

// parse reads a model.
func parse(content []byte) (*graph, error) {
	g := &graph{constants: map[string]*tensor{}}
	found := false
	if err := fields(content, func(number protowire.Number, _ uint64, bytes []byte) error {
		if number != 7 || bytes == nil {
			return nil
		}
		found = true
		return g.read(bytes)
	}); err != nil {
		return nil, err
	}
	if !found || len(g.nodes) == 0 {
		return nil, errMalformed
	}
	return g, nil
}

func (g *graph) read(message []byte) error {
	return fields(message, func(number protowire.Number, _ uint64, bytes []byte) error {
		if bytes == nil {
			return nil
		}
		switch number {
		case 1:
			n, err := g.readNode(bytes)
			if err != nil {
				return err
			}
			if g.nodes = append(g.nodes, n); len(g.nodes) > maxNodes {
				return fmt.Errorf("more than %d operators", maxNodes)
			}
		case 5:
			t, err := g.readTensor(bytes)
			if err != nil {
				return err
			}
			if g.constants[t.name] != nil {
				return fmt.Errorf("two constants are called %q", t.name)
			}
			g.constants[t.name] = t
			return g.count(1)
		case 11, 12:
			in, err := g.readInput(bytes)
			if err != nil {
				return err
			}
			if number == 11 {
				g.inputs = append(g.inputs, in)
			} else {
				g.outputs = append(g.outputs, in.name)
			}
			return g.count(1)
		}
		return nil
	})
}

func (g *graph) readNode(message []byte) (*node, error) {
	n := &node{attributes: map[string]*attribute{}}
	domain := ""
	err := fields(message, func(number protowire.Number, _ uint64, bytes []byte) error {
		if bytes == nil {
			return nil
		}
		switch number {
		case 1:
			n.inputs = append(n.inputs, string(bytes))
			return g.count(1)
		case 2:
			n.outputs = append(n.outputs, string(bytes))
			return g.count(1)
		case 3:
			n.name = string(bytes)
		case 4:
			n.op = string(bytes)
		case 5:
			name, a, err := g.readAttribute(bytes)
			if err != nil {
				return err
			}
			n.attributes[name] = a
			return g.count(1)
		case 7:
			domain = string(bytes)
		}
		return nil
	})
	if domain != "" && domain != "ai.onnx" {
		n.op = domain + "." + n.op
	}
	return n, err
}

func (g *graph) readAttribute(message []byte) (name string, a *attribute, err error) {
	a = &attribute{}
	err = fields(message, func(number protowire.Number, value uint64, bytes []byte) error {
		switch number {
		case 1:
			name = string(bytes)
		case 2:
			a.floats = append(a.floats, math.Float32frombits(uint32(value)))
		case 3:
			a.ints = append(a.ints, whole(value))
		case 4:
			a.text = string(bytes)
		case 5:
			var err error
			a.tensor, err = g.readTensor(bytes)
			return err
		case 7:
			return numbers32(value, bytes, &a.floats)
		case 8:
			return g.integers(value, bytes, &a.ints)
		}
		return nil
	})
	return name, a, err
}

func (g *graph) readTensor(message []byte) (*tensor, error) {
	t := &tensor{}
	err := fields(message, func(number protowire.Number, value uint64, bytes []byte) error {
		switch number {
		case 1:
			return g.integers(value, bytes, &t.dims)
		case 2:
			t.kind = whole(value)
		case 4:
			return numbers32(value, bytes, &t.floats)
		case 5, 7:
			return g.integers(value, bytes, &t.ints)
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
		return nil
	})
	return t, err
}

// readInput reads the name and the shape of a ValueInfoProto.
func (g *graph) readInput(message []byte) (in input, err error) {
	within := func(message []byte, wanted protowire.Number, f func(bytes []byte) error) error {
		return fields(message, func(number protowire.Number, _ uint64, bytes []byte) error {
			if number != wanted || bytes == nil {
				return nil
			}
			return f(bytes)
		})
	}
	dim := func(message []byte) error {
		size := -1
		err := fields(message, func(number protowire.Number, value uint64, _ []byte) error {
			if v := whole(value); number == 1 && v > 0 {
				size = v
			}
			return nil
		})
		in.dims = append(in.dims, size)
		return errors.Join(err, g.count(1))
	}
	err = fields(message, func(number protowire.Number, _ uint64, bytes []byte) error {
		switch {
		case number == 1:
			in.name = string(bytes)
		case number == 2 && bytes != nil:
			return within(bytes, 1, func(tensor []byte) error {
				return within(tensor, 2, func(shape []byte) error { return within(shape, 1, dim) })
			})
		}
		return nil
	})
	return in, err
}

// whole returns a signed number, brought to those that are looked at.
func whole(value uint64) int { return int(min(max(int64(value), -maxInt), maxInt)) }

// count counts n more of what takes much memory.
func (g *graph) count(n int) error {
	if g.small += n; g.small > maxSmall {
		return fmt.Errorf("more than %d names and whole numbers", maxSmall)
	}
	return nil
}

// integers appends one number, or those that are packed.
func (g *graph) integers(value uint64, packed []byte, to *[]int) error {
	if packed == nil {
		*to = append(*to, whole(value))
		return g.count(1)
	}
	if err := g.count(len(packed)); err != nil {
		return err
	}
	for len(packed) > 0 {
		v, n := protowire.ConsumeVarint(packed)
		if n < 0 {
			return errMalformed
		}
		packed = packed[n:]
		*to = append(*to, whole(v))
	}
	return nil
}

// numbers32 appends one number, or those that are packed.
func numbers32(value uint64, packed []byte, to *[]float32) error {
	if packed == nil {
		*to = append(*to, math.Float32frombits(uint32(value)))
		return nil
	}
	for ; len(packed) >= 4; packed = packed[4:] {
		v, _ := protowire.ConsumeFixed32(packed)
		*to = append(*to, math.Float32frombits(v))
	}
	return nil
}
