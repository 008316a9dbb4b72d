//go:build opencv

package network

import (
	"math"
	"slices"
	"testing"
)

// TestRuntime: ONNX Runtime runs a model whose operator Compile does not support, and agrees with Compile on one that
// it supports.
func TestRuntime(t *testing.T) {
	if err := openRuntime(); err != nil {
		t.Skip("ONNX Runtime is not installed")
	}
	image := make([]float32, 48)
	for i := range image {
		image[i] = float32(i)/20 - 1
	}
	header := message(1, 8, 8, message(2, 13))
	for op, want := range map[string]func(x float64) float64{"Erf": math.Erf, "Tanh": math.Tanh} {
		file := append(header, model(1, message(4, op, 2, "y", 1, "x"))...)
		compile := Compile
		if op == "Tanh" {
			compile = compileByRuntime
		}
		n, err := compile(file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float32, n.OutHeight*n.OutWidth*n.OutChannels)
		for range 2 {
			if err := n.Run(out, image); err != nil {
				t.Fatal(err)
			}
		}
		for i, x := range image {
			if w := want(float64(x)); math.Abs(float64(out[i])-w) > 1e-6 {
				t.Errorf("%s: value %d is %v, want %v", op, i, out[i], w)
			}
		}
	}
	if _, err := Compile(append(header, model(1, message(4, "Erf", 2, "y", 1, "x"))...), Options{Layer: "z"}); err == nil {
		t.Error("an unknown layer is accepted")
	}
}

// TestRuntimeText: ONNX Runtime gets token ids of either type, with a mask of the padding.
func TestRuntimeText(t *testing.T) {
	if err := openRuntime(); err != nil {
		t.Skip("ONNX Runtime is not installed")
	}
	for _, kind := range []int{typeInt64, typeInt32} {
		graph := []any{1, message(4, "Add", 1, "input_ids", 1, "attention_mask", 2, "sum"), 1, message(4, "Cast", 1, "sum", 2, "text_embeds", 5, message(1, "to", 3, typeFloat, 20, 2))}
		for _, name := range []string{"attention_mask", "input_ids"} {
			graph = append(graph, 11, message(1, name, 2, message(1, message(1, kind, 2, message(1, message(1, 1), 1, message(2, "length"))))))
		}
		other := message(1, message(1, kind))
		graph = append(graph, 12, message(1, "text_embeds", 2, message(1, message(1, typeFloat))), 12, message(1, "sum", 2, other))
		n, err := Compile(append(message(1, 8, 8, message(2, 13)), message(7, message(graph...))...), Options{Text: true})
		if err != nil {
			t.Fatal(err)
		}
		out, ids := make([]float32, textLength), make([]float32, textLength)
		copy(ids, []float32{9, 0, 4})
		if err := n.Run(out, ids); err != nil || !slices.Equal(out[:5], []float32{10, 1, 5, 0, 0}) {
			t.Errorf("type %d: %v, %v", kind, out, err)
		}
	}
}
