package network

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/number"
)

// An ONNX file, version 1.x, is one Protocol Buffers message; see onnx.proto. This file checks that it is well
// formed. The meaning is validated during compilation.

type graph struct {
	inputs    []input
	outputs   []string
	nodes     []*node
	constants map[string]*tensor
	small     int // number of integers, names and fields, which take much more memory than in the file
}

type input struct {
	name string
	dims []int // 0 for a dimension that is not fixed
}

// node is an operator with its inputs, which may be "" if omitted, and its outputs.
type node struct {
	op, name        string
	inputs, outputs []string
	attributes      map[string]attribute
}

// String names the node in messages.
func (n *node) String() string {
	if n.name == "" && len(n.outputs) > 0 {
		return fmt.Sprintf("%s of %q", n.op, n.outputs[0])
	}
	return fmt.Sprintf("%s %q", n.op, n.name)
}

// int and float return the first number of an attribute, or otherwise if there is none.
func (n *node) int(name string, otherwise int) int {
	if a := n.attributes[name]; len(a.ints) > 0 {
		return a.ints[0]
	}
	return otherwise
}

func (n *node) float(name string, otherwise float32) float32 {
	if a := n.attributes[name]; len(a.floats) > 0 {
		return a.floats[0]
	}
	return otherwise
}

// attribute is an attribute of a node. A single value is a list of length 1.
type attribute struct {
	floats []float32
	ints   []int
	text   string
	tensor *tensor
}

// Supported element types of tensors.
const typeFloat, typeInt32, typeInt64, typeHalf, typeDouble = 1, 6, 7, 10, 11

var kinds = map[int]number.Kind{
	typeFloat: number.Float32, typeInt32: number.Int32, typeInt64: number.Int64, typeHalf: number.Float16, typeDouble: number.Float64,
}

// tensor is an array as stored in the file.
type tensor struct {
	name    string
	dims    []int
	kind    int
	raw     []byte
	floats  []float32
	doubles []float64
	ints    []int // integers, or bits of half-precision numbers
	other   bool  // values are in another file
}

// Limits of a model.
const maxNodes, maxSmall, maxDims, maxInt = 20_000, 1 << 22, 8, 1 << 31

var errMalformed = errors.New("not an ONNX model, or a damaged one")

// fields maps field numbers of a message to the contents of the fields, without the length prefix of strings.
type fields map[protowire.Number][][]byte

// message parses a message and counts its fields.
func (g *graph) message(content []byte) fields {
	m := fields{}
	for len(content) > 0 {
		number, kind, n := protowire.ConsumeTag(content)
		content = skipBytes(content, n)
		n = protowire.ConsumeFieldValue(number, kind, content)
		rest := skipBytes(content, n)
		value := content[:n]
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(content)
		}
		m[number] = append(m[number], value)
		g.count(1)
		content = rest
	}
	return m
}

// skipBytes returns content[n:]. A negative n, the error value of protowire, means a malformed message.
func skipBytes(content []byte, n int) []byte {
	if n < 0 {
		guard.Check(errMalformed)
	}
	return content[n:]
}

// count counts n small items and enforces their limit.
func (g *graph) count(n int) {
	if g.small += n; g.small > maxSmall {
		fail("more than %d names and integers", maxSmall)
	}
}

func (m fields) texts(number protowire.Number) (all []string) {
	return lists.Map(m[number], func(b []byte) string { return string(b) })
}

// text returns the last string of a field, or "".
func (m fields) text(number protowire.Number) string {
	all := append([]string{""}, m.texts(number)...)
	return all[len(all)-1]
}

// values calls f for each number of a field, packed or not. next decodes a number.
func (m fields) values(number protowire.Number, next func([]byte) (uint64, int), f func(uint64)) {
	for _, v := range m[number] {
		for len(v) > 0 {
			x, n := next(v)
			v = skipBytes(v, n)
			f(x)
		}
	}
}

// ints returns the integers of a field, clamped to ±maxInt.
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

// ReadFile reads a model, if the memory budget allows its weights.
func ReadFile(ctx context.Context, file string) (_ []byte, err error) {
	defer guard.Catch(&err)
	info := guard.Must(os.Stat(file))
	failIf(!info.Mode().IsRegular(), "not a regular file")
	guard.Check(memory.FromContext(ctx).Check(3*info.Size(), file)) // the decoded weights may be twice as large as the file
	return os.ReadFile(file)
}

func parse(content []byte) *graph {
	g := &graph{constants: map[string]*tensor{}}
	for _, b := range g.message(content)[7] {
		m := g.message(b)
		for _, b := range m[1] {
			g.nodes = append(g.nodes, g.readNode(g.message(b)))
		}
		failIf(len(g.nodes) > maxNodes, "more than %d operators", maxNodes)
		for _, b := range m[5] {
			t := g.readTensor(g.message(b))
			failIf(g.constants[t.name] != nil, "duplicate constant %q", t.name)
			g.constants[t.name] = t
		}
		for _, b := range m[11] {
			g.inputs = append(g.inputs, g.readInput(g.message(b)))
		}
		for _, b := range m[12] {
			g.outputs = append(g.outputs, g.message(b).text(1))
		}
	}
	failIf(len(g.nodes) == 0, "%w", errMalformed)
	return g
}

func (g *graph) readNode(m fields) *node {
	n := &node{inputs: m.texts(1), outputs: m.texts(2), name: m.text(3), op: m.text(4), attributes: map[string]attribute{}}
	if domain := m.text(7); domain != "" && domain != "ai.onnx" {
		n.op = domain + "." + n.op
	}
	for _, b := range m[5] {
		a := g.message(b)
		of := attribute{floats: append(a.floats(2), a.floats(7)...), ints: append(g.ints(a, 3), g.ints(a, 8)...), text: a.text(4)}
		for _, b := range a[5] {
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
	for _, raw := range m[9] {
		t.raw = raw
	}
	m.values(10, protowire.ConsumeFixed64, func(v uint64) { t.doubles = append(t.doubles, math.Float64frombits(v)) })
	t.other = m[13] != nil || slices.ContainsFunc(g.ints(m, 14), func(location int) bool { return location != 0 })
	return t
}

func (g *graph) readInput(m fields) input {
	within := []fields{m}
	for _, number := range []protowire.Number{2, 1, 2, 1} { // type, tensor type, shape, dimensions
		within = lists.Map(slices.Concat(lists.Map(within, func(m fields) [][]byte { return m[number] })...), g.message)
	}
	dims := lists.Map(within, func(dim fields) int { return slices.Max(append(g.ints(dim, 1), 0)) })
	return input{m.text(1), dims}
}

// size returns the product of dims. It fails if one is negative or the product is too large.
func size(dims []int) int {
	n := 1
	for _, d := range dims {
		if d < 0 || len(dims) > maxDims || d > 0 && n > maxNumbers/d {
			fail("invalid or too large shape %v of an array", dims)
		}
		n *= d
	}
	return n
}

// value converts the tensor to a constant. All numbers are in the file, so constants take at most a few times its size.
func (t *tensor) value() *value {
	n, kind := size(t.dims), kinds[t.kind]
	failIf(t.other, "the constant %q is in an external file; save the model as one file", t.name)
	failIf(kind == number.None, "the constant %q has type %d; expected float, float16, double, int32 or int64", t.name, t.kind)
	held, at := len(t.floats)+len(t.ints)+len(t.doubles), func(i int) float64 { return 0 }
	switch {
	case t.raw != nil:
		held, at = len(t.raw)/kind.Size(), kind.In(t.raw, binary.LittleEndian)
		if len(t.raw)%kind.Size() != 0 {
			held = -1
		}
	case t.floats != nil:
		at = func(i int) float64 { return float64(t.floats[i]) }
	case t.doubles != nil:
		at = func(i int) float64 { return t.doubles[i] }
	case kind == number.Float16:
		at = func(i int) float64 { return number.Half(uint16(t.ints[i])) }
	case t.ints != nil:
		at = func(i int) float64 { return float64(t.ints[i]) }
	}
	failIf(held != n, "the constant %q has %d numbers, but shape %v", t.name, held, t.dims)
	v := &value{shape: t.dims}
	if kind.Whole() {
		v.ints = make([]int, n)
		for i := range v.ints {
			v.ints[i] = int(min(max(at(i), -maxInt), maxInt))
		}
		return v
	}
	v.floats = make([]float32, n)
	for i := range v.floats {
		v.floats[i] = float32(at(i))
	}
	return v
}
