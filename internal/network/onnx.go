package network

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

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

// fields are those of a message by their number.
type fields map[protowire.Number][]field

// field is a number, or bytes where these are not nil.
type field struct {
	number uint64
	bytes  []byte
}

// message reads a message. Each field takes several times its bytes of memory, and is counted.
func (g *graph) message(content []byte) fields {
	m := fields{}
	for len(content) > 0 {
		number, kind, n := protowire.ConsumeTag(content)
		content = after(content, n)
		var f field
		switch kind {
		case protowire.VarintType:
			f.number, n = protowire.ConsumeVarint(content)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(content)
			f.number = uint64(v)
		case protowire.Fixed64Type:
			f.number, n = protowire.ConsumeFixed64(content)
		case protowire.BytesType:
			if f.bytes, n = protowire.ConsumeBytes(content); f.bytes == nil {
				f.bytes = []byte{} // which is not nil
			}
		default:
			n = -1
		}
		content = after(content, n)
		g.count(1)
		m[number] = append(m[number], f)
	}
	return m
}

// after returns what follows n bytes of a message, which are malformed where n is below 0.
func after(content []byte, n int) []byte {
	if n < 0 {
		panic(failure{errMalformed})
	}
	return content[n:]
}

// count counts n more of what takes many times more memory than bytes of the file.
func (g *graph) count(n int) {
	if g.small += n; g.small > maxSmall {
		fail("more than %d names and whole numbers", maxSmall)
	}
}

// bytes returns the fields of bytes with a number.
func (m fields) bytes(number protowire.Number) (all [][]byte) {
	for _, f := range m[number] {
		if f.bytes != nil {
			all = append(all, f.bytes)
		}
	}
	return all
}

// texts returns them as texts.
func (m fields) texts(number protowire.Number) (all []string) {
	for _, b := range m.bytes(number) {
		all = append(all, string(b))
	}
	return all
}

// text returns the last of them.
func (m fields) text(number protowire.Number) string {
	all := m.texts(number)
	return strings.Join(all[max(len(all)-1, 0):], "")
}

// values calls f for each number of a field, packed or not. next reads a packed one.
func (m fields) values(number protowire.Number, next func([]byte) (uint64, int), f func(uint64)) {
	for _, v := range m[number] {
		if v.bytes == nil {
			f(v.number)
		}
		for packed := v.bytes; len(packed) > 0; {
			x, n := next(packed)
			packed = after(packed, n)
			f(x)
		}
	}
}

// ints returns whole numbers, brought to those that are looked at.
func (g *graph) ints(m fields, number protowire.Number) (all []int) {
	m.values(number, protowire.ConsumeVarint, func(v uint64) {
		g.count(1)
		all = append(all, int(min(max(int64(v), -maxInt), maxInt)))
	})
	return all
}

func (m fields) floats(number protowire.Number) (all []float32) {
	next := func(b []byte) (uint64, int) {
		v, n := protowire.ConsumeFixed32(b)
		return uint64(v), n
	}
	m.values(number, next, func(v uint64) { all = append(all, math.Float32frombits(uint32(v))) })
	return all
}

// parse reads a model.
func parse(content []byte) *graph {
	g := &graph{constants: map[string]*tensor{}}
	for _, b := range g.message(content).bytes(7) {
		g.read(g.message(b))
	}
	if len(g.nodes) == 0 {
		panic(failure{errMalformed})
	}
	return g
}

func (g *graph) read(m fields) {
	for _, b := range m.bytes(1) {
		g.nodes = append(g.nodes, g.readNode(g.message(b)))
	}
	if len(g.nodes) > maxNodes {
		fail("more than %d operators", maxNodes)
	}
	for _, b := range m.bytes(5) {
		t := g.readTensor(g.message(b))
		if g.constants[t.name] != nil {
			fail("two constants are called %q", t.name)
		}
		g.constants[t.name] = t
	}
	for _, b := range m.bytes(11) {
		g.inputs = append(g.inputs, g.readInput(g.message(b)))
	}
	for _, b := range m.bytes(12) {
		g.outputs = append(g.outputs, g.message(b).text(1))
	}
}

func (g *graph) readNode(m fields) *node {
	n := &node{inputs: m.texts(1), outputs: m.texts(2), name: m.text(3), op: m.text(4), attributes: map[string]*attribute{}}
	if domain := m.text(7); domain != "" && domain != "ai.onnx" {
		n.op = domain + "." + n.op
	}
	for _, b := range m.bytes(5) {
		a := g.message(b)
		of := &attribute{floats: append(a.floats(2), a.floats(7)...), ints: append(g.ints(a, 3), g.ints(a, 8)...), text: a.text(4)}
		for _, b := range a.bytes(5) {
			of.tensor = g.readTensor(g.message(b))
		}
		n.attributes[a.text(1)] = of
	}
	return n
}

func (g *graph) readTensor(m fields) *tensor {
	t := &tensor{dims: g.ints(m, 1), name: m.text(8), floats: m.floats(4), ints: append(g.ints(m, 5), g.ints(m, 7)...)}
	for _, kind := range g.ints(m, 2) {
		t.kind = kind
	}
	for _, raw := range m.bytes(9) {
		t.raw = raw
	}
	m.values(10, protowire.ConsumeFixed64, func(v uint64) { t.doubles = append(t.doubles, math.Float64frombits(v)) })
	t.other = m[13] != nil || slices.ContainsFunc(m[14], func(f field) bool { return f.number != 0 })
	return t
}

// readInput reads the name and the shape of a ValueInfoProto.
func (g *graph) readInput(m fields) input {
	in := input{name: m.text(1)}
	within := []fields{m}
	for _, number := range []protowire.Number{2, 1, 2, 1} { // type, tensor type, shape, dimensions
		var next []fields
		for _, m := range within {
			for _, b := range m.bytes(number) {
				next = append(next, g.message(b))
			}
		}
		within = next
	}
	for _, dim := range within {
		in.dims = append(in.dims, -1)
		for _, v := range g.ints(dim, 1) {
			if v > 0 {
				in.dims[len(in.dims)-1] = v
			}
		}
	}
	return in
}
