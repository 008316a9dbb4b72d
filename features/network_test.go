package features

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/seed4492f2cd/partwise/internal/memory"
)

// onnxMessage encodes the fields of a message, each a number and its bytes or its integer.
func onnxMessage(fields ...any) (out []byte) {
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

// smallNetwork writes a model for images of side×side. After some nodes, the output "all" is the image, and "pooled"
// its pooled form.
func smallNetwork(t *testing.T, side int, pool string, nodes ...[]byte) string {
	t.Helper()
	var dims []byte
	for _, d := range []int{1, 3, side, side} {
		dims = append(dims, onnxMessage(1, onnxMessage(1, d))...)
	}
	graph := onnxMessage(11, onnxMessage(1, "x", 2, onnxMessage(1, onnxMessage(1, 1, 2, dims))), 12, onnxMessage(1, "pooled"))
	for _, n := range append(nodes,
		onnxMessage(4, "Identity", 1, "x", 2, "all"),
		onnxMessage(4, pool, 1, "all", 2, "pooled")) {
		graph = append(graph, onnxMessage(1, n)...)
	}
	file := filepath.Join(t.TempDir(), "small.onnx")
	if err := os.WriteFile(file, onnxMessage(7, graph), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// coloured returns a mostly green image with red margins left and right of the middle square.
func coloured(width, height int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.NRGBA{51, 255, 102, 255}
			if x < (width-height)/2 || x >= (width+height)/2 {
				c = color.NRGBA{255, 0, 0, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// TestNetwork checks the means of a layer over its places, for the middle square, after subtracting the mean and
// dividing by the scale.
func TestNetwork(t *testing.T) {
	file := smallNetwork(t, 6, "GlobalAveragePool")
	set := fileSet(t, coloured(40, 20), grey(12, 12, func(x, y int) float64 { return float64(x%2) / 2 }))
	for _, c := range []struct {
		by   Network
		crop Crop
		want [6]float64
	}{
		{Network{Mean: []float64{0}, Scale: []float64{1}}, nil, [6]float64{51, 255, 102, 63.75, 63.75, 63.75}},
		{Network{Mean: []float64{0}, Scale: []float64{1}, Layer: "all"}, Square{}, [6]float64{51, 255, 102, 63.75, 63.75, 63.75}},
		{Network{Mean: []float64{1, 5, 2}, Scale: []float64{50, 25, 10}, Size: 6}, nil, [6]float64{1, 10, 10, 62.75 / 50, 58.75 / 25, 61.75 / 10}},
		{Network{Mean: []float64{2, 5, 1}, Scale: []float64{10, 25, 50}, Order: "bgr"}, nil, [6]float64{10, 10, 1, 61.75 / 10, 58.75 / 25, 62.75 / 50}},
		{Network{Mean: []float64{0}, Scale: []float64{1}}, Whole{}, [6]float64{153, 127.5, 51, 63.75, 63.75, 63.75}},
	} {
		c.by.File = file
		out := extract(t, c.by, set, Options{Crop: c.crop, Normalise: NormNone})
		for j, want := range c.want {
			// The grey image has 16 bits.
			if got := out.X.At(j/3, j%3); math.Abs(got-want) > 2e-3 {
				t.Errorf("%+v, crop %v: sample %d, value %d is %v, want %v", c.by, c.crop, j/3, j%3, got, want)
			}
		}
	}
	// Images in vectors work too.
	vectors := vectorSet(mat.NewDense(2, 36, numbersTo(72)), 6, 6)
	out := extract(t, Network{File: file, Mean: []float64{0}, Scale: []float64{1}}, vectors, Options{Normalise: NormNone})
	for i := range 2 {
		if a, b, c := out.X.At(i, 0), out.X.At(i, 1), out.X.At(i, 2); a != b || b != c {
			t.Errorf("the channels of grey are %v, %v and %v", a, b, c)
		}
	}
}

// TestNetworkPlaces checks the values and the positions of the places.
func TestNetworkPlaces(t *testing.T) {
	set := fileSet(t, grey(9, 6, func(x, y int) float64 { return float64(x+y) / 20 }))
	by := Network{File: smallNetwork(t, 6, "GlobalAveragePool"), Layer: "all", Places: true, Mean: []float64{0}, Scale: []float64{255}}
	out := extract(t, by, set, Options{Normalise: NormNone})
	if out.Places != (Cells{6, 6}) || out.Crop != (Square{}) || out.Height != 0 {
		t.Fatalf("places %v of %v", out.Places, out.Crop)
	}
	for p := range 36 {
		for c := range 3 {
			if got, want := out.X.At(0, 3*p+c), float64(1+p%6+p/6)/20; math.Abs(got-want) > 1e-4 {
				t.Fatalf("channel %d at place %d is %v, want %v", c, p, got, want)
			}
		}
	}
	if out := extract(t, by, set, Options{Crop: Box{1, 1, 4, 4}}); out.Crop != (Box{1, 1, 4, 4}) {
		t.Errorf("the crop is %v", out.Crop)
	}
	by.Places = false
	if out := extract(t, by, set, Options{}); out.Places != (Cells{}) || out.Crop != nil {
		t.Errorf("means lie at %v of %v", out.Places, out.Crop)
	}
}

// TestNetworkErrors checks that errors give the reason and the network's name.
func TestNetworkErrors(t *testing.T) {
	file := smallNetwork(t, 6, "GlobalAveragePool")
	infinite := smallNetwork(t, 6, "GlobalAveragePool", onnxMessage(4, "Sub", 1, "x", 1, "x", 2, "zero"), onnxMessage(4, "Div", 1, "x", 1, "zero", 2, "infinite"))
	damaged := filepath.Join(t.TempDir(), "damaged.onnx")
	if err := os.WriteFile(damaged, []byte("no model"), 0o666); err != nil {
		t.Fatal(err)
	}
	zero, one := []float64{0}, []float64{1}
	set := fileSet(t, coloured(8, 8))
	for _, c := range []struct {
		by   Network
		want string
	}{
		{Network{}, "network lite0: the built-in network is missing: import features/"},
		{Network{File: file}, "mean and scale are missing"},
		{Network{File: file, Mean: zero}, "mean and scale are missing"},
		{Network{File: file, Mean: []float64{1, 2}, Scale: one}, "expected one number or 3"},
		{Network{File: file, Mean: zero, Scale: zero}, "scale: expected a number above 0"},
		{Network{File: file, Mean: zero, Scale: one, Order: "gbr"}, "expected rgb or bgr"},
		{Network{File: file, Mean: zero, Scale: one, Size: 7}, "the network needs images of 6×6, got 7×7"},
		{Network{File: file, Mean: zero, Scale: one, Layer: "top"}, `unknown layer "top"; the last layers are`},
		{Network{File: filepath.Dir(file), Mean: zero, Scale: one}, "not a regular file"},
		{Network{File: file + "x", Mean: zero, Scale: one}, "no such file"},
		{Network{File: damaged, Mean: zero, Scale: one}, "damaged.onnx: not an ONNX model, or a damaged one"},
		{Network{File: infinite, Mean: zero, Scale: one, Layer: "infinite"}, "00.png: output 1 of the network is +Inf"},
	} {
		_, err := Extract(t.Context(), set, c.by, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.by, err, c.want)
		}
	}
	models[lite0] = []byte("x")
	defer delete(models, lite0)
	if _, err := Extract(t.Context(), set, Network{Mean: zero}, Options{}); err == nil || !strings.Contains(err.Error(), "network lite0: not an ONNX model, or a damaged one") {
		t.Errorf("got %v", err)
	}
	// A model whose maps have no places.
	large := smallNetwork(t, 4096, "GlobalAveragePool")
	ctx := memory.NewContext(t.Context(), memory.New(memory.Least))
	if _, err := Extract(ctx, set, Network{File: large, Mean: zero, Scale: one}, Options{}); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("got %v", err)
	}
}

// TestNetworkCache checks that the cache key contains the content of the network, not its name.
func TestNetworkCache(t *testing.T) {
	file, other := smallNetwork(t, 6, "GlobalAveragePool"), smallNetwork(t, 6, "GlobalMaxPool")
	store, img := &memoryCache{}, grey(6, 6, func(x, _ int) float64 { return float64(x) / 5 })
	set := fileSet(t, img)
	by := Network{File: file, Mean: []float64{0}, Scale: []float64{255}}
	check := func(want float64) {
		t.Helper()
		if got := extract(t, by, set, Options{Cache: store, Normalise: NormNone}).X.At(0, 0); math.Abs(got-want) > 1e-5 {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	check(0.5)
	check(0.5)
	if len(store.entries) != 1 {
		t.Errorf("%d rows are kept", len(store.entries))
	}
	if err := os.Rename(other, file); err != nil {
		t.Fatal(err)
	}
	check(1)
}

// TestNetworkWorkers checks that the number of concurrent images changes no byte.
func TestNetworkWorkers(t *testing.T) {
	by := Network{File: smallNetwork(t, 6, "GlobalAveragePool"), Mean: []float64{100}, Scale: []float64{50}}
	var images []image.Image
	for i := range 8 {
		images = append(images, coloured(8+i, 7))
	}
	set := fileSet(t, images...)
	var want string
	for _, workers := range []int{1, 2, 8} {
		got := fmt.Sprint(extract(t, by, set, Options{Workers: workers}).X)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d workers give other rows", workers)
		}
	}
}

// numbersTo returns the numbers from 1 to n.
func numbersTo(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i + 1)
	}
	return out
}
