package lite0

import (
	_ "embed"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/network"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// patterns are what ONNX Runtime makes of the patterns, see testdata/record.py.
//
//go:embed testdata/patterns.f32
var patterns []byte

// pattern returns a value of a pattern's image.
func pattern(i, x, y, c int) uint8 {
	if i == 0 {
		return uint8(x*(c+2) + 3*y)
	}
	return uint8(x/16*37 + y/16*91 + c*53)
}

func wanted(t *testing.T, i int) []float32 {
	out := make([]float32, 2*1280)
	if _, err := binary.Decode(patterns, binary.LittleEndian, out); err != nil {
		t.Fatal(err)
	}
	return out[i*1280 : (i+1)*1280]
}

// TestNetwork compares the network with the recorded values, within 2e-5 of the largest.
func TestNetwork(t *testing.T) {
	n, err := network.Compile(model, network.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n.Height != 224 || n.Width != 224 || n.Channels != 3 || n.OutHeight*n.OutWidth != 1 || n.OutChannels != 1280 {
		t.Fatalf("%+v", n)
	}
	if n.Shared() > 40<<20 || n.Memory() > 10<<20 {
		t.Errorf("it takes %d bytes, and %d for each image", n.Shared(), n.Memory())
	}
	got, in := make([]float32, 1280), make([]float32, 224*224*3)
	for i := range 2 {
		for at := range in {
			in[at] = (float32(pattern(i, at/3%224, at/3/224, at%3)) - 127) / 128
		}
		if err := n.Run(got, in); err != nil {
			t.Fatal(err)
		}
		var largest, off float64
		for j, want := range wanted(t, i) {
			largest, off = max(largest, float64(want)), max(off, math.Abs(float64(got[j]-want)))
		}
		if off > 2e-5*largest || largest < 1 {
			t.Errorf("pattern %d is off by %g, the largest value is %g", i, off, largest)
		}
	}
	maps, err := network.Compile(model, network.Options{Layer: "map"})
	if err != nil || maps.OutHeight != 7 || maps.OutWidth != 7 || maps.OutChannels != 1280 {
		t.Errorf("the layer map: %v", err)
	}
}

// TestFeatures checks that the rows of image files are these values, in the order of the channels, for the middle
// square of an image.
func TestFeatures(t *testing.T) {
	dir, set := t.TempDir(), &datasets.Set{Name: "patterns", Labels: []int{-1, -1}}
	for i, name := range []string{"a.png", "b.png"} {
		img := image.NewNRGBA(image.Rect(0, 0, 224+60*i, 224))
		for x := range img.Rect.Dx() {
			for y := range 224 {
				u := x - 30*i
				img.Set(x, y, color.NRGBA{pattern(i, u&255, y, 0), pattern(i, u&255, y, 1), pattern(i, u&255, y, 2), 255})
			}
		}
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, img); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		set.Names, set.Files = append(set.Names, name), append(set.Files, f.Name())
	}
	out, err := features.Extract(t.Context(), set, features.Network{}, features.Options{Normalise: features.NormNone})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		for j, want := range wanted(t, i) {
			if got := out.X.At(i, j); math.Abs(got-float64(want)) > 1e-4 {
				t.Fatalf("value %d of pattern %d is %v, want %v", j, i, got, want)
			}
		}
	}
}

// TestPhotographs checks that the nearest neighbour of each photograph is of the same kind, for five kinds.
func TestPhotographs(t *testing.T) {
	dir := filepath.Join(testkit.NeedFolder(t, "PARTWISE_DATA"), "corel5")
	all, err := datasets.Open(t.Context(), dir, datasets.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := &datasets.Set{Name: all.Name, Classes: all.Classes}
	for i := 0; i < all.Len(); i += 10 {
		set.Names, set.Files, set.Labels = append(set.Names, all.Names[i]), append(set.Files, all.Files[i]), append(set.Labels, all.Labels[i])
	}
	out, err := features.Extract(t.Context(), set, features.Network{}, features.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, m := out.X.Dims()
	for i := range n {
		best, kind := -1.0, 0
		for j := range n {
			dot := 0.0
			for c := range m {
				dot += out.X.At(i, c) * out.X.At(j, c)
			}
			if j != i && dot > best {
				best, kind = dot, set.Labels[j]
			}
		}
		if kind != set.Labels[i] {
			t.Errorf("%s is nearest to one of %s", set.Names[i], set.Classes[kind])
		}
	}
}
