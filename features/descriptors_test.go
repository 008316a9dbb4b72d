package features

import (
	"errors"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// memoryCache is a cache in memory.
type memoryCache struct {
	mu      sync.Mutex
	entries map[cache.Key][]byte
}

func (c *memoryCache) Get(key [32]byte) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	blob, ok := c.entries[key]
	return slices.Clone(blob), ok
}

func (c *memoryCache) SizeOf(key [32]byte) (int64, bool) {
	blob, ok := c.Get(key)
	return int64(len(blob)), ok
}

func (c *memoryCache) Put(key [32]byte, blob []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[cache.Key][]byte{}
	}
	c.entries[key] = blob
}

// counted is dense SIFT that counts the images that it describes.
type counted struct {
	DenseSIFT
	calls *int
	mu    *sync.Mutex
}

func (c counted) Extract(img image.Image) (*Descriptors, error) {
	c.mu.Lock()
	*c.calls++
	c.mu.Unlock()
	return c.DenseSIFT.Extract(img)
}

// TestDescribe checks that descriptors with and without a cache equal the extractor's, and that a cached image is
// described once. An image without descriptors is an error or left out.
func TestDescribe(t *testing.T) {
	images := []image.Image{waves(40, 50, 0), waves(8, 50, 1), waves(64, 32, 2), nil}
	set := fileSet(t, images...)
	by := counted{calls: new(int), mu: new(sync.Mutex)}
	kept := &memoryCache{}
	for run, want := range []int{2, 0} {
		*by.calls = 0
		d, err := Describe(t.Context(), set, by, Options{SkipBad: true, Cache: kept})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Rows, []int{0, 2}) || len(d.Skipped) != 2 || !errors.Is(d.Skipped[0], ErrNoDescriptors) || !strings.Contains(d.Skipped[1].Error(), "03.png") {
			t.Errorf("rows %v, left out %v", d.Rows, d.Skipped)
		}
		if err := d.Each(t.Context(), d.Rows, nil, func(at int, found *Descriptors) error {
			i := d.Rows[at]
			want, err := DenseSIFT{}.Extract(images[i])
			if err != nil {
				return err
			}
			if !slices.Equal(found.Vectors, want.Vectors) || !slices.Equal(found.X, want.X) || found.Len() != d.Len(i) {
				t.Errorf("run %d: sample %d has other descriptors", run, i)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		// An image without descriptors is also described once and cached.
		if *by.calls > want+1 || run == 1 && *by.calls != 0 {
			t.Errorf("run %d: %d images were described", run, *by.calls)
		}
	}
	if _, err := Describe(t.Context(), set, DenseSIFT{}, Options{}); !errors.Is(err, ErrNoDescriptors) || !strings.Contains(err.Error(), "01.png") {
		t.Errorf("an image without descriptors: %v", err)
	}
	for want, try := range map[string]func() error{
		"features: crop is not compatible with sift, which": func() error {
			_, err := Describe(t.Context(), set, DenseSIFT{}, Options{Crop: Square{}})
			return err
		},
		"step: expected": func() error {
			_, err := Describe(t.Context(), set, DenseSIFT{Step: -1}, Options{})
			return err
		},
		"has no images, but sift needs images": func() error {
			_, err := Describe(t.Context(), vectorSet(mat.NewDense(1, 2, nil), 0, 0), DenseSIFT{}, Options{})
			return err
		},
		"no samples": func() error {
			_, err := Describe(t.Context(), set.Subset(nil), DenseSIFT{}, Options{})
			return err
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}

// TestEachPanics checks that a panic in a goroutine is the error of its image.
func TestEachPanics(t *testing.T) {
	set := fileSet(t, waves(40, 40, 0), waves(40, 40, 1), waves(40, 40, 2))
	d, err := Describe(t.Context(), set, DenseSIFT{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Each(t.Context(), []int{2, 1, 0}, nil, func(at int, _ *Descriptors) error {
		if at == 1 {
			panic("fault")
		}
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), "01.png: ") || !strings.Contains(err.Error(), "fault") {
		t.Errorf("got %v", err)
	}
}

func TestDescriptorsBinary(t *testing.T) {
	for _, want := range []*Descriptors{
		{Dim: 128, Width: 3, Height: 3, Vectors: []uint8{}, X: []float32{}, Y: []float32{}, Scale: []float32{}},
		{Dim: 2, Width: 40, Height: 30, Vectors: []uint8{1, 255, 3, 4}, X: []float32{1.5, 7}, Y: []float32{-0.5, 1e9}, Scale: []float32{4, 6}},
		denseSIFT(t, DenseSIFT{}, noise(50, 40, 1)),
	} {
		b, err := want.AppendBinary([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		b = b[len("before"):]
		got := &Descriptors{}
		if err := got.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for cut := range len(b) {
			if got.UnmarshalBinary(b[:cut]) == nil {
				t.Fatalf("%d of %d bytes pass for descriptors", cut, len(b))
			}
		}
	}
}

func FuzzDescriptorsBinary(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 9, 0, 0, 0, 9, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var d Descriptors
		var err error
		testkit.AllocatesAtMost(t, 1<<20+2*uint64(len(b)), func() { err = d.UnmarshalBinary(b) })
		if err != nil {
			return
		}
		if again, err := d.AppendBinary(nil); err == nil && string(again) != string(b) {
			t.Fatal("descriptors read and written are not the same bytes")
		}
	})
}

// finding replaces OpenCV by find during a test.
func finding(t *testing.T, find func(k KeypointSIFT, img *image.Gray) ([]keypoint, error)) {
	before := findKeypoints
	findKeypoints = find
	t.Cleanup(func() { findKeypoints = before })
}

// keypointSIFT is denseSIFT for key points.
func keypointSIFT(t testing.TB, k KeypointSIFT, img image.Image) *Descriptors {
	t.Helper()
	out, err := k.Extract(img)
	if err != nil {
		t.Fatalf("%+v: %v", k, err)
	}
	if size := img.Bounds().Size(); out.Width != size.X || out.Height != size.Y || out.Dim != 128 {
		t.Fatalf("%d values for an image of %d×%d", out.Dim, out.Width, out.Height)
	}
	n := out.Len()
	if len(out.Y) != n || len(out.Scale) != n || len(out.Vectors) != n*out.Dim {
		t.Fatalf("%d, %d and %d places for %d bytes", n, len(out.Y), len(out.Scale), len(out.Vectors))
	}
	return out
}

func TestKeypointSIFTWithoutOpenCV(t *testing.T) {
	finding(t, nil)
	for _, k := range []KeypointSIFT{{}, {Root: true}, {Contrast: -1}} {
		_, err := k.Extract(noise(40, 40, 1))
		for _, err := range []error{err, k.Check()} {
			if !errors.Is(err, ErrNoOpenCV) || !strings.Contains(err.Error(), "make opencv") {
				t.Errorf("%+v: error %v", k, err)
			}
		}
	}
}

func TestKeypointSIFTErrors(t *testing.T) {
	failure := errors.New("too dark")
	finding(t, func(KeypointSIFT, *image.Gray) ([]keypoint, error) { return nil, failure })
	img := noise(20, 30, 1)
	for _, test := range []struct {
		k    KeypointSIFT
		want string
	}{
		{KeypointSIFT{MaxPoints: -1}, "most: expected"},
		{KeypointSIFT{MaxPixels: -1}, "pixels: expected"},
		{KeypointSIFT{Contrast: -0.1}, "contrast: expected"},
		{KeypointSIFT{Contrast: math.NaN()}, "contrast: expected"},
		{KeypointSIFT{Contrast: 1.5}, "contrast: expected"},
		{KeypointSIFT{Edge: 0.5}, "edge: expected"},
		{KeypointSIFT{Edge: math.Inf(1)}, "edge: expected"},
		{KeypointSIFT{Sigma: -1}, "sigma: expected"},
		{KeypointSIFT{Sigma: 1e9}, "sigma: expected"},
	} {
		_, err := test.k.Extract(img)
		for _, err := range []error{err, test.k.Check()} {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v: got error %v, want one with %q", test.k, err, test.want)
			}
		}
	}
	if _, err := (KeypointSIFT{}).Extract(img); !errors.Is(err, failure) || !strings.Contains(err.Error(), "20×30") {
		t.Errorf("got error %v, want one of the image of 20×30", err)
	}
	if err := (KeypointSIFT{MaxPoints: 1, Contrast: 1, Edge: 1, Sigma: 0.1, MaxPixels: 1}).Check(); err != nil {
		t.Error(err)
	}
}

func TestKeypointSIFTOrder(t *testing.T) {
	// In the expected order: each point is better than the next in one property only.
	points := []keypoint{
		{x: 9, y: 9, diameter: 9, angle: 9, contrast: 3},
		{x: 9, y: 1, diameter: 9, angle: 9, contrast: 2},
		{x: 1, y: 2, diameter: 9, angle: 9, contrast: 2},
		{x: 2, y: 2, diameter: 1, angle: 9, contrast: 2},
		{x: 2, y: 2, diameter: 2, angle: 1, contrast: 2},
		{x: 2, y: 2, diameter: 2, angle: 2, contrast: 2},
		{x: 1, y: 1, diameter: 1, angle: 1, contrast: 1},
	}
	for i := range points {
		points[i].vector[0] = uint8(i)
	}
	turns := 0
	finding(t, func(KeypointSIFT, *image.Gray) ([]keypoint, error) {
		turns++
		return append(slices.Clone(points[turns%len(points):]), points[:turns%len(points)]...), nil
	})
	for most := range len(points) + 2 {
		got := keypointSIFT(t, KeypointSIFT{MaxPoints: most}, noise(20, 20, 1))
		want := len(points)
		if most > 0 {
			want = min(want, most)
		}
		if got.Len() != want {
			t.Errorf("%d key points with at most %d", got.Len(), most)
		}
		for i := range got.Len() {
			if int(got.Vector(i)[0]) != i || float64(got.X[i]) != points[i].x || float64(got.Y[i]) != points[i].y || float64(got.Scale[i]) != 1.5*points[i].diameter {
				t.Errorf("key point %d is %d at (%v, %v), a bin of %v", i, got.Vector(i)[0], got.X[i], got.Y[i], got.Scale[i])
			}
		}
	}
}

// A large image is reduced, and positions are in pixels of the original.
func TestKeypointSIFTReduces(t *testing.T) {
	for _, test := range []struct {
		size     image.Point
		pixels   int
		searched image.Point
	}{
		{image.Pt(1024, 1024), 0, image.Pt(1024, 1024)},
		{image.Pt(2048, 1024), 0, image.Pt(1448, 724)},
		{image.Pt(60, 40), 600, image.Pt(30, 20)},
		{image.Pt(60, 40), 2400, image.Pt(60, 40)},
		{image.Pt(60, 41), 2400, image.Pt(59, 40)},
		{image.Pt(7, 20000), 70000, image.Point{}},
		{image.Pt(60, 40), 6 * 4, image.Point{}},
		{image.Pt(60, 40), 1, image.Point{}},
	} {
		var searched image.Point
		finding(t, func(_ KeypointSIFT, img *image.Gray) ([]keypoint, error) {
			searched = img.Rect.Size()
			last := searched.Sub(image.Pt(1, 1))
			return []keypoint{{x: -0.5, y: -0.5, diameter: 2, contrast: 2}, {x: float64(last.X) + 0.5, y: float64(last.Y) + 0.5, diameter: 4}}, nil
		})
		got := keypointSIFT(t, KeypointSIFT{MaxPixels: test.pixels}, noise(test.size.X, test.size.Y, 1))
		if searched != test.searched {
			t.Errorf("%v: %v searched, want %v", test.size, searched, test.searched)
		}
		if searched == (image.Point{}) {
			if got.Len() != 0 {
				t.Errorf("%v: got %d key points of an image that is too small, want 0", test.size, got.Len())
			}
			continue
		}
		near := func(got float32, want float64) bool { return math.Abs(float64(got)-want) < 1e-3*max(want, 1) }
		larger := math.Sqrt(float64(test.size.X*test.size.Y) / float64(searched.X*searched.Y))
		if !near(got.X[0], -0.5) || !near(got.Y[0], -0.5) || !near(got.X[1], float64(test.size.X)-0.5) || !near(got.Y[1], float64(test.size.Y)-0.5) ||
			!near(got.Scale[0], 3*larger) || !near(got.Scale[1], 6*larger) {
			t.Errorf("%v: corners at %v, %v with bins of %v", test.size, got.X, got.Y, got.Scale)
		}
	}
}

func TestReducedGrey(t *testing.T) {
	img := noise(40, 30, 1)
	part := img.SubImage(image.Rect(3, 5, 37, 26))
	colour := image.NewNRGBA(part.Bounds())
	for y := 5; y < 26; y++ {
		for x := 3; x < 37; x++ {
			colour.Set(x, y, img.At(x, y))
		}
	}
	for name, same := range map[string]image.Image{"a part": part, "16 bits": imagefile.Gray(part), "colour": colour} {
		got := reducedGrey(same, image.Pt(34, 21))
		for y := range 21 {
			for x := range 34 {
				if got.GrayAt(x, y) != img.GrayAt(x+3, y+5) {
					t.Fatalf("%s: (%d, %d) is %v, want %v", name, x, y, got.GrayAt(x, y), img.GrayAt(x+3, y+5))
				}
			}
		}
	}
	// Means of 4×3 pixels.
	got := reducedGrey(img, image.Pt(10, 10))
	for y := range 10 {
		for x := range 10 {
			sum := 0.0
			for v := range 3 {
				for u := range 4 {
					sum += float64(img.GrayAt(4*x+u, 3*y+v).Y)
				}
			}
			if want := sum / 12; math.Abs(float64(got.GrayAt(x, y).Y)-want) > 0.501 {
				t.Errorf("(%d, %d) is %v, want %v", x, y, got.GrayAt(x, y).Y, want)
			}
		}
	}
	// Pixels that two cells share: 3 of 5.
	line := image.NewGray(image.Rect(0, 0, 5, 1))
	for x, v := range []uint8{30, 60, 90, 120, 150} {
		line.SetGray(x, 0, color.Gray{Y: v})
	}
	if got := reducedGrey(line, image.Pt(3, 1)).Pix; !slices.Equal(got, []uint8{42, 90, 138}) {
		t.Errorf("%v", got)
	}
}

func TestRootVector(t *testing.T) {
	var v [siftDim]uint8
	rootVector(&v)
	if slices.Max(v[:]) != 0 {
		t.Errorf("the root of zeros is %v", v)
	}
	v[3], v[60], v[100] = 200, 50, 250
	rootVector(&v)
	// 512·√(0.4), cut off, 512·√(0.1) and 512·√(0.5).
	if v[3] != 255 || v[60] != 162 || v[100] != 255 || v[0] != 0 {
		t.Errorf("the roots are %v", v)
	}
	for i := range v {
		v[i] = uint8(2 * i)
	}
	sum := 127 * 128.0
	rootVector(&v)
	for i, got := range v {
		if want := 512 * math.Sqrt(float64(2*i)/sum); math.Abs(float64(got)-want) > 0.501 {
			t.Errorf("the root of %d is %d, want %v", 2*i, got, want)
		}
	}
}
