package network

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// models returns the models of testdata.
func models(t testing.TB) (out [][]byte) {
	for _, archive := range []string{"operators.zip", "random.zip"} {
		files := recorded(t, archive)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if strings.HasSuffix(name, ".onnx") {
				out = append(out, files[name])
			}
		}
	}
	return out
}

// tryModel compiles any bytes, and runs the network if that is fast. The result must be finite numbers or an error,
// within the stated memory.
func tryModel(t *testing.T, model []byte) {
	const most = 4 << 20
	n, err := Compile(model, Options{Memory: most})
	if err != nil {
		if n != nil || err.Error() == "" {
			t.Errorf("a network beside the error %q", err)
		}
		return
	}
	if n.Shared()+n.Memory() > most {
		t.Errorf("%d bytes and %d are more than %d", n.Shared(), n.Memory(), most)
	}
	held := 0
	for _, c := range n.convolutions {
		held += len(c.table) + len(c.packed) + len(c.biases)
	}
	if held > n.shared {
		t.Errorf("%d numbers are held, and %d said", held, n.shared)
	}
	if n.work > 1<<24 {
		return
	}
	image, out := make([]float32, n.Height*n.Width*n.Channels), make([]float32, n.OutHeight*n.OutWidth*n.OutChannels)
	for i := range image {
		image[i] = float32(i%7) - 3
	}
	if n.Run(out, image) != nil {
		return
	}
	for i, v := range out {
		if v-v != 0 {
			t.Errorf("value %d is %v", i, v)
		}
	}
}

func FuzzNetwork(f *testing.F) {
	for _, m := range models(f) {
		if len(m) < 3000 {
			f.Add(m)
		}
	}
	f.Fuzz(tryModel)
}

// TestDamaged has models with changed, missing and added bytes.
func TestDamaged(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	for _, m := range models(t) {
		for range 40 {
			damaged := slices.Clone(m)
			for range 1 + src.IntN(3) {
				switch at := src.IntN(len(damaged)); src.IntN(4) {
				case 0:
					damaged = damaged[:at+1]
				case 1:
					damaged = slices.Insert(damaged, at, byte(src.Uint32()))
				default:
					damaged[at] ^= 1 << src.IntN(8)
				}
			}
			tryModel(t, damaged)
		}
	}
}

// message encodes the fields of a message, each a number and its bytes or its integer.
func message(fields ...any) (out []byte) {
	for i := 0; i < len(fields); i += 2 {
		number := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			out = protowire.AppendVarint(protowire.AppendTag(out, number, protowire.VarintType), uint64(v))
		case string:
			out = protowire.AppendString(protowire.AppendTag(out, number, protowire.BytesType), v)
		case []byte:
			out = protowire.AppendBytes(protowire.AppendTag(out, number, protowire.BytesType), v)
		}
	}
	return out
}

// model returns a model with an input of 1×3×4×4, the nodes, and the output y.
func model(inner ...any) []byte {
	dims := []byte{}
	for _, d := range []int{1, 3, 4, 4} {
		dims = append(dims, message(1, message(1, d))...)
	}
	in := message(1, "x", 2, message(1, message(1, 1, 2, dims)))
	return message(7, message(append([]any{11, in, 12, message(1, "y")}, inner...)...))
}

func attributeOf(name string, ints ...int) []byte {
	fields := []any{1, name}
	for _, v := range ints {
		fields = append(fields, 8, v)
	}
	return message(fields...)
}

func tensorOf(name string, raw int, dims ...int) []byte {
	fields := []any{8, name, 2, typeFloat, 9, make([]byte, raw)}
	for _, d := range dims {
		fields = append(fields, 1, d)
	}
	return message(fields...)
}

// TestRefused checks that errors name the operator and the reason.
func TestRefused(t *testing.T) {
	node := func(op string, fields ...any) []byte {
		return message(append([]any{4, op, 3, "one", 2, "y", 1, "x"}, fields...)...)
	}
	pooled := attributeOf("kernel_shape", 2, 2)
	for _, c := range []struct {
		model []byte
		want  string
	}{
		{nil, "not an ONNX model, or a damaged one"},
		{[]byte("GIF89a"), "not an ONNX model, or a damaged one"},
		{message(7, []byte{0xff}), "not an ONNX model, or a damaged one"},
		{model(1, node("Einsum")), `Einsum "one": operator not supported`},
		{model(1, message(4, "Relu", 2, "y", 1, "x", 7, "com.acme")), `com.acme.Relu of "y": operator not supported`},
		{model(1, node("Conv")), `Conv "one": its weights are not constant numbers`},
		{model(1, node("Conv", 1, "w"), 5, tensorOf("w", 4, 1, 3, 1, 1)), "has 1 numbers, but shape [1 3 1 1]"},
		{model(1, node("Conv", 1, "w"), 5, tensorOf("w", 16, 1, 4, 1, 1)), "groups do not match 3 channels"},
		{model(1, node("Conv", 1, "w"), 5, tensorOf("w", 12, 1<<40, 1<<40)), "invalid or too large shape"},
		{model(1, node("Conv", 1, "w"), 5, message(8, "w", 2, typeFloat, 14, 1)), "is in an external file; save the model as one file"},
		{model(1, node("Conv", 1, "w"), 5, message(8, "w", 2, 2, 9, "abc", 1, 3)), "has type 2; expected float, float16, double, int32 or int64"},
		{model(1, node("Conv", 1, "w", 5, attributeOf("pads", 1, -1, 0, 0)), 5, tensorOf("w", 12, 1, 3, 1, 1)), "pads [1 -1 0 0]"},
		{model(1, node("Conv", 1, "w"), 5, tensorOf("w", 3*5*5*4, 1, 3, 5, 5)), "windows larger than the map"},
		{model(1, node("MaxPool")), "no kernel_shape"},
		{model(1, node("MaxPool", 5, pooled, 5, attributeOf("pads", 3, 3, 3, 3))), "a window is entirely in the padding"},
		{model(1, node("MaxPool", 5, pooled, 2, "at"), 1, message(4, "Relu", 1, "at", 2, "z"), 12, message(1, "z")), ""},
		{model(1, node("Relu", 1, "z")), `no earlier node has the output "z"`},
		{model(1, node("Add", 1, "y")), `no earlier node has the output "y"`},
		{model(1, node("Relu"), 1, node("Relu")), `duplicate value "y"`},
		{model(1, node("Pad", 5, attributeOf("pads", 0, 4000, 4000, 4000, 0, 0, 0, 0))), "invalid or too large shape"},
		{model(1, node("Add", 1, "none"), 5, tensorOf("none", 0, 0, 1, 1, 1)), "it is empty"},
		{model(1, node("Reshape", 1, "s", 5, message(1, "axes", 8, make([]byte, 1<<23)))), "more than 4194304 names and integers"},
		{model(1, node("Reshape", 1, "s"), 5, message(8, "s", 2, typeInt64, 7, 5, 1, 1)), "cannot reshape to [5] from shape [1 3 4 4]"},
		{model(1, message(4, "Relu", 2, "z", 1, "x")), "no node computes an output of the network"},
		{message(7, message(1, node("Relu"), 12, message(1, "y"))), "one input"},
	} {
		n, err := Compile(c.model, Options{})
		switch {
		case c.want == "":
			if err != nil {
				t.Errorf("a model that is right: %v", err)
			}
		case err == nil || n != nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	large := model(1, node("Pad", 5, attributeOf("pads", 0, 0, 400, 400, 0, 0, 400, 400)))
	if _, err := Compile(large, Options{Memory: 1 << 20}); err == nil || !strings.Contains(err.Error(), "the network needs more than 1 MB of memory") {
		t.Errorf("got %v", err)
	}
	right := model(1, node("Relu"))
	if _, err := Compile(right, Options{Layer: "two"}); err == nil || !strings.Contains(err.Error(), `unknown layer "two"; the last layers are ["y"]`) {
		t.Errorf("got %v", err)
	}
	if _, err := Compile(right, Options{Height: 5, Width: 4}); err == nil || !strings.Contains(err.Error(), "the network needs images of 4×4, got 5×4") {
		t.Errorf("got %v", err)
	}
	n, err := Compile(right, Options{Layer: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Run(make([]float32, 48), make([]float32, 47)); err == nil {
		t.Error("an image of a wrong size is accepted")
	}
	image := make([]float32, 48)
	image[5] = float32(1)
	image[5] /= image[6]
	if err := n.Run(make([]float32, 48), image); err == nil || !strings.Contains(err.Error(), "+Inf") {
		t.Errorf("a number that is not finite: %v", err)
	}
}
