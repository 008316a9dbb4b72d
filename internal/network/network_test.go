package network

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recorded returns the files of an archive of testdata by their names, see
// testdata/record.py.
func recorded(t testing.TB, name string) map[string][]byte {
	archive, err := zip.OpenReader("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	out := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if out[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// numbers reads numbers as they lie in memory.
func numbers(t testing.TB, content []byte) []float32 {
	out := make([]float32, len(content)/4)
	if _, err := binary.Decode(content, binary.LittleEndian, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// checkRecorded compares networks with outputs of ONNX Runtime.
func checkRecorded(t *testing.T, archive string, least int) {
	files, found := recorded(t, archive), 0
	for _, file := range slices.Sorted(maps.Keys(files)) {
		name, isModel := strings.CutSuffix(file, ".onnx")
		if !isModel {
			continue
		}
		found++
		t.Run(name, func(t *testing.T) {
			var opt Options
			var channels int
			if _, err := fmt.Sscan(string(files[name+".txt"]), &opt.Height, &opt.Width, &channels, &opt.Layer); err != nil {
				t.Fatal(err)
			}
			n, err := Compile(files[file], opt)
			if err != nil {
				t.Fatal(err)
			}
			checkClose(t, n, numbers(t, files[name+".in"]), numbers(t, files[name+".out"]))
		})
	}
	if found < least {
		t.Errorf("%d networks in %s", found, archive)
	}
}

// checkClose runs a network and compares the output with want, within 2e-5 of the largest value.
func checkClose(t *testing.T, n *Network, image, want []float32) {
	t.Helper()
	if got := n.OutHeight * n.OutWidth * n.OutChannels; got != len(want) {
		t.Fatalf("%d numbers, want %d", got, len(want))
	}
	got := make([]float32, len(want))
	if err := n.Run(got, image); err != nil {
		t.Fatal(err)
	}
	var largest, off float64
	for i := range want {
		largest = max(largest, math.Abs(float64(want[i])))
		off = max(off, math.Abs(float64(got[i]-want[i])))
	}
	if off > 2e-5*largest || largest == 0 {
		t.Errorf("off by %g, the largest number is %g", off, largest)
	}
}

func TestRecorded(t *testing.T) {
	checkRecorded(t, "operators.zip", 80)
	checkRecorded(t, "random.zip", 10)
}

// TestRunTogether: concurrent runs of a network give the same bytes as single ones, and
// buffers do not carry values from one image to the next.
func TestRunTogether(t *testing.T) {
	n, err := Compile(recorded(t, "operators.zip")["residual.onnx"], Options{})
	if err != nil {
		t.Fatal(err)
	}
	const images = 50
	size := n.Height * n.Width * n.Channels
	run := func(i int) []float32 {
		src := rand.New(rand.NewPCG(uint64(i), 0))
		image, out := make([]float32, size), make([]float32, n.OutHeight*n.OutWidth*n.OutChannels)
		for j := range image {
			image[j] = float32(src.NormFloat64())
		}
		if err := n.Run(out, image); err != nil {
			t.Error(err)
		}
		return out
	}
	var want, got [images][]float32
	for i := range images {
		want[i] = run(i)
	}
	var group sync.WaitGroup
	for i := range images {
		group.Go(func() { got[i] = run(i) })
	}
	group.Wait()
	for i := range images {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("image %d has other values", i)
		}
	}
}

// TestText: a text encoder gives its first output for token ids, and refuses ids that it does not have.
func TestText(t *testing.T) {
	table := make([]byte, 0, 24)
	for _, v := range []float32{1, 2, 3, 4, 5, 6} {
		table = binary.LittleEndian.AppendUint32(table, math.Float32bits(v))
	}
	encoder := func(dims ...int) []byte {
		var shape []byte
		for _, d := range dims {
			shape = append(shape, message(1, message(1, d))...)
		}
		return message(7, message(
			11, message(1, "input_ids", 2, message(1, message(1, typeInt64, 2, shape))),
			5, message(8, "table", 2, typeFloat, 9, table, 1, 3, 1, 2),
			1, message(4, "Gather", 1, "table", 1, "input_ids", 2, "rows"), 1, message(4, "Flatten", 1, "rows", 2, "text_embeds"),
			12, message(1, "text_embeds"), 12, message(1, "rows")))
	}
	n, err := Compile(encoder(1, 2), Options{Text: true})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float32, 4)
	if err := n.Run(out, []float32{2, 0}); err != nil || !slices.Equal(out, []float32{5, 6, 1, 2}) {
		t.Errorf("got %v, %v", out, err)
	}
	for _, id := range []float32{3, -1, 1e9} {
		if err := n.Run(out, []float32{0, id}); err == nil || !strings.Contains(err.Error(), "output 3 of the network is NaN") {
			t.Errorf("token %v: %v", id, err)
		}
	}
	if n, err := Compile(encoder(0, 0), Options{Text: true}); err != nil || n.Width != textLength || n.OutChannels != 2*textLength {
		t.Errorf("of any length: %+v, %v", n, err)
	}
	for _, model := range [][]byte{encoder(2, 2), encoder(4), model(1, message(4, "Relu", 2, "y", 1, "x"))} {
		if _, err := Compile(model, Options{Text: true}); err == nil || !strings.Contains(err.Error(), "expected the input input_ids of shape 1×77") {
			t.Errorf("got %v", err)
		}
	}
}
