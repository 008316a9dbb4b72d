package vectorfile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
)

// writeIDX returns an IDX file of the given type, dimensions and numbers.
func writeIDX(kind byte, dims []uint32, data any) []byte {
	var out bytes.Buffer
	out.Write([]byte{0, 0, kind, byte(len(dims))})
	binary.Write(&out, binary.BigEndian, dims)
	binary.Write(&out, binary.BigEndian, data)
	return out.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// pixels returns the numbers from first on.
func pixels(first, n int) []uint8 {
	out := make([]uint8, n)
	for i := range out {
		out[i] = uint8(first + i)
	}
	return out
}

func TestIDX(t *testing.T) {
	images := writeIDX(8, []uint32{3, 2, 2}, pixels(0, 12))
	labels := writeIDX(8, []uint32{3}, []uint8{7, 0, 7})
	for _, test := range []struct{ images, labels string }{
		{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
		{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"},
		{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte"},
		{"train-images-idx3-ubyte", "train-labels-idx1-ubyte.gz"},
		{"t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"},
	} {
		dir := t.TempDir()
		for file, data := range map[string][]byte{test.images: images, test.labels: labels} {
			if strings.HasSuffix(file, ".gz") {
				data = gzipped(t, data)
			}
			writeFile(t, filepath.Join(dir, file), data)
		}
		got, err := IDX(filepath.Join(dir, test.images), Options{})
		if err != nil {
			t.Errorf("%s: %v", test.images, err)
			continue
		}
		want := &Content{
			Name: got.Name, Names: []string{test.images + " row 1", test.images + " row 2", test.images + " row 3"},
			Classes: []string{"0", "7"}, Labels: []int{1, 0, 1},
			Vectors: NewBytes(3, 4, pixels(0, 12)), Height: 2, Width: 2, Beside: []string{filepath.Join(dir, test.labels)},
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Bytes{})); diff != "" {
			t.Errorf("%s: %s", test.images, diff)
		}
	}
}

func TestIDXNumbers(t *testing.T) {
	for kind, data := range map[byte]any{
		0x09: []int8{-1, 2}, 0x0B: []int16{-1, 2}, 0x0C: []int32{-1, 2},
		0x0D: []float32{-1, 2}, 0x0E: []float64{-1, 2},
	} {
		path := filepath.Join(t.TempDir(), "x")
		writeFile(t, path, writeIDX(kind, []uint32{2, 1}, data))
		s, err := IDX(path, Options{})
		if err != nil {
			t.Errorf("type %#x: %v", kind, err)
			continue
		}
		if want := mat.NewDense(2, 1, []float64{-1, 2}); !mat.Equal(s.Vectors, want) {
			t.Errorf("type %#x: got %v", kind, mat.Formatted(s.Vectors))
		}
		if !cmp.Equal(s.Labels, []int{-1, -1}) || s.Height != 0 {
			t.Errorf("type %#x: labels %v, images of height %d", kind, s.Labels, s.Height)
		}
	}
}

func TestIDXRefuses(t *testing.T) {
	good := writeIDX(8, []uint32{2, 1, 2}, pixels(0, 4))
	for _, test := range []struct {
		name           string
		images, labels []byte
		want           string
	}{
		{"nothing", nil, nil, "not an IDX file"},
		{"text", []byte("hello"), nil, "not an IDX file"},
		{"unknown type", []byte{0, 0, 7, 1, 0, 0, 0, 1, 0}, nil, "not an IDX file"},
		{"no dimensions", []byte{0, 0, 8, 0}, nil, "not an IDX file"},
		{"cut in the dimensions", good[:10], nil, "the file ends within its header:"},
		{"cut in the values", good[:len(good)-1], nil, "dimensions [2 1 2]: the header declares 4 bytes, but the file has 3:"},
		{"more values", append(bytes.Clone(good), 0), nil, "dimensions [2 1 2]: extra bytes after"},
		{"huge", writeIDX(8, []uint32{1 << 31, 1 << 31, 2}, []uint8{}), nil, "are too large"},
		{"none", writeIDX(8, []uint32{0, 2, 2}, []uint8{}), nil, "no samples"},
		{"four dimensions", writeIDX(8, []uint32{1, 1, 1, 1}, []uint8{1}), nil, "4 dimensions; expected 2 or 3"},
		{"labels alone", writeIDX(8, []uint32{3}, []uint8{1, 2, 3}), nil, "a list of 3 labels: use the image file; the labels beside it are read too"},
		{"too few labels", good, writeIDX(8, []uint32{1}, []uint8{1}), "[1] labels for the 2 images"},
		{"images as labels", good, good, "labels for the 2 images"},
		{"cut labels", good, writeIDX(8, []uint32{2}, []uint8{1}), "labels-idx1: dimensions [2]: the header declares 2 bytes"},
		{"label value", good, writeIDX(0x0E, []uint32{2}, []float64{1, 1.5}), "label 1.5 of row 2"},
		{"NaN", writeIDX(0x0E, []uint32{1, 2}, []float64{1, math.NaN()}), nil, "row 1, column 2: NaN"},
		{"cut gzip", gzipped(t, good)[:20], nil, "images-idx3"},
	} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "images-idx3"), test.images)
		if test.labels != nil {
			writeFile(t, filepath.Join(dir, "labels-idx1"), test.labels)
		}
		_, err := IDX(filepath.Join(dir, "images-idx3"), Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: got error %v, want one with %q and the file", test.name, err, test.want)
		}
	}
}

func TestIDXClaims(t *testing.T) {
	data := writeIDX(8, []uint32{1 << 20, 1 << 19}, []uint8{1, 2, 3})
	used := memory(func() {
		if _, err := caught(readIDX, memoryInput(data, 0)); err == nil {
			t.Error("no error for a file without its values")
		}
	})
	if used > 4<<20 {
		t.Errorf("%d bytes of memory for a file of %d", used, len(data))
	}
}
