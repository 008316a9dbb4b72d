//go:build opencv

package network

import (
	"math"
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
