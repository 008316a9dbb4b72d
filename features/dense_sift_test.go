package features

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// noise returns an image of width×height random greys, slightly smoothed along x.
func noise(width, height int, seed uint64) *image.Gray {
	random := rng.New(seed)
	img := image.NewGray(image.Rect(0, 0, width, height))
	last := 128
	for i := range img.Pix {
		last = (last + random.IntN(256)) / 2
		img.Pix[i] = uint8(last)
	}
	return img
}

// grey returns an image of width×height pixels with the greys v, from 0 to 1.
func grey(width, height int, v func(x, y int) float64) *image.Gray16 {
	img := image.NewGray16(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.SetGray16(x, y, color.Gray16{Y: uint16(math.Round(0xffff * v(x, y)))})
		}
	}
	return img
}

func denseSIFT(t testing.TB, d DenseSIFT, img image.Image) *Descriptors {
	t.Helper()
	out, err := d.Extract(img)
	if err != nil {
		t.Fatal(err)
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

// slowSIFT computes the descriptor of the patch around (cx, cy) from its definition, pixel by pixel.
func slowSIFT(img image.Image, cx, cy float64, bin int, root bool) (out [siftDim]float64) {
	size := img.Bounds().Size()
	value := func(x, y int) float64 {
		return float64(color.Gray16Model.Convert(img.At(x, y)).(color.Gray16).Y) / 0xffff
	}
	mirror := func(i, n int) int {
		if i < 0 {
			i = -i
		}
		return min(i, 2*(n-1)-i)
	}
	sigma := 0.67 * float64(bin) / 4
	radius := int(math.Ceil(4 * sigma))
	blurred := func(x, y int) float64 {
		var sum, weights float64
		for v := -radius; v <= radius; v++ {
			for u := -radius; u <= radius; u++ {
				w := math.Exp(-float64(u*u+v*v) / (2 * sigma * sigma))
				sum += w * value(mirror(x+u, size.X), mirror(y+v, size.Y))
				weights += w
			}
		}
		return sum / weights
	}
	for y := 1; y < size.Y-1; y++ {
		for x := 1; x < size.X-1; x++ {
			u, v := (float64(x)-cx)/float64(bin), (float64(y)-cy)/float64(bin)
			if math.Abs(u) >= 2.5 || math.Abs(v) >= 2.5 {
				continue
			}
			parts := orientationsOf(blurred(x+1, y)-blurred(x-1, y), blurred(x, y-1)-blurred(x, y+1))
			window := math.Exp(-(u*u + v*v) / 8)
			for r := range 4 {
				for c := range 4 {
					w := window * max(0, 1-math.Abs(u+1.5-float64(c))) * max(0, 1-math.Abs(v+1.5-float64(r)))
					for o, part := range parts {
						out[(r*4+c)*8+o] += w * part
					}
				}
			}
		}
	}
	length := func() float64 {
		sum := 0.0
		for _, v := range out {
			sum += v * v
		}
		return max(math.Sqrt(sum), math.SmallestNonzeroFloat64)
	}
	clip := 0.2 * length()
	sum := 0.0
	for i, v := range out {
		out[i] = min(v, clip)
		sum += out[i]
	}
	second := length()
	for i, v := range out {
		if root {
			out[i] = min(512*math.Sqrt(v/sum), 255)
		} else {
			out[i] = min(512*v/second, 255)
		}
	}
	return out
}

func TestDenseSIFTAgainstDefinition(t *testing.T) {
	for _, test := range []struct {
		img  image.Image
		d    DenseSIFT
		n    int
		bins []int
	}{
		{noise(33, 41, 1), DenseSIFT{}, 3 * 4, []int{4}},
		{waves(30, 43, 1), DenseSIFT{Step: 5, Root: true}, 6 * 3, []int{4}},
		{noise(27, 24, 2), DenseSIFT{Step: 3, Bins: []int{3, 6, 1}}, 6*5 + 2*1 + 8*7, []int{3, 6, 1}},
		{noise(22, 21, 3), DenseSIFT{Step: 1, Bins: []int{5}, Root: true}, 3 * 2, []int{5}},
		{noise(16, 16, 4), DenseSIFT{Step: 100}, 1, []int{4}},
		{noise(4, 4, 5), DenseSIFT{Step: 1, Bins: []int{1}}, 1, []int{1}},
	} {
		name := fmt.Sprintf("%v of %v", test.d, test.img.Bounds().Size())
		got := denseSIFT(t, test.d, test.img)
		if got.Len() != test.n {
			t.Errorf("%s: %d patches, want %d", name, got.Len(), test.n)
		}
		var scales []int
		for i := range got.Len() {
			bin := int(got.Scale[i])
			scales = append(scales, bin)
			want := slowSIFT(test.img, float64(got.X[i]), float64(got.Y[i]), bin, test.d.Root)
			for j, v := range got.Vector(i) {
				// The angles are rounded to 1/1500 of an orientation.
				if math.Abs(float64(v)-want[j]) > 0.8 {
					t.Fatalf("%s: patch at (%v, %v), value %d: %d, want %v", name, got.X[i], got.Y[i], j, v, want[j])
				}
			}
		}
		if scales = slices.Compact(scales); !slices.Equal(scales, test.bins) {
			t.Errorf("%s: scales %v", name, scales)
		}
	}
}

// The file holds x, y, the bin and the descriptor of key points of angle 0 and size 2/3·bin by OpenCV 5.0. Its sigma
// was √(0.5² + (0.67/4·bin)²), because OpenCV assumes that images are blurred by 0.5.
func TestDenseSIFTAgainstOpenCV(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "sift_opencv.csv"))
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	img := image.NewGray(image.Rect(0, 0, 88, 72))
	for i := range img.Pix {
		x, y := i%88, i/88
		img.Pix[i] = uint8(x*x/8 + x*y/4 + 5*y)
	}
	got := denseSIFT(t, DenseSIFT{Step: 4, Bins: []int{4, 6}}, img)
	for _, record := range records {
		var v []float64
		for _, field := range record {
			f, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, f)
		}
		i := 0
		for i < got.Len() && (float64(got.X[i]) != v[0] || float64(got.Y[i]) != v[1] || float64(got.Scale[i]) != v[2]) {
			i++
		}
		if i == got.Len() {
			t.Errorf("no patch at (%v, %v) of the bin %v", v[0], v[1], v[2])
			continue
		}
		var ab, aa, bb float64
		for j, a := range got.Vector(i) {
			a, b := float64(a), v[3+j]
			ab, aa, bb = ab+a*b, aa+a*a, bb+b*b
		}
		if cosine := ab / math.Sqrt(aa*bb); !(cosine > 0.999) {
			t.Errorf("patch at (%v, %v) of the bin %v: the cosine with OpenCV's is %v", v[0], v[1], v[2], cosine)
		}
	}
}

func TestDenseSIFTOfEdges(t *testing.T) {
	for _, test := range []struct {
		name        string
		light       func(x, y int) bool
		orientation int
	}{
		{"right", func(x, y int) bool { return x > 8 }, 0},
		{"upper right", func(x, y int) bool { return x > y }, 1},
		{"upper", func(x, y int) bool { return y < 8 }, 2},
		{"upper left", func(x, y int) bool { return x+y < 16 }, 3},
		{"left", func(x, y int) bool { return x < 8 }, 4},
		{"lower left", func(x, y int) bool { return x < y }, 5},
		{"lower", func(x, y int) bool { return y > 8 }, 6},
		{"lower right", func(x, y int) bool { return x+y > 16 }, 7},
	} {
		out := denseSIFT(t, DenseSIFT{}, grey(17, 17, func(x, y int) float64 {
			if test.light(x, y) {
				return 0.9
			}
			return 0.1
		}))
		if out.Len() != 1 || out.X[0] != 8 || out.Y[0] != 8 || out.Scale[0] != 4 {
			t.Fatalf("patches at %v, %v of bins %v", out.X, out.Y, out.Scale)
		}
		var sums [orientations]int
		for i, v := range out.Vector(0) {
			sums[i%orientations] += int(v)
		}
		for o, v := range sums {
			if (o == test.orientation) != (v > 500) || o != test.orientation && v > 150 {
				t.Errorf("light on the %s side: got %v, want all in %d", test.name, sums, test.orientation)
				break
			}
		}
	}
}

// turned rotates the image by 90° counter-clockwise.
func turned(img *image.Gray) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewGray(image.Rect(0, 0, h, w))
	for y := range h {
		for x := range w {
			out.SetGray(y, w-1-x, img.GrayAt(x, y))
		}
	}
	return out
}

func TestDenseSIFTOfTurnedImage(t *testing.T) {
	for _, test := range []struct{ width, height, bin, columns, rows int }{
		// Symmetric grids: the centre of an even bin is the pixel after its middle.
		{33, 41, 4, 3, 4},
		{28, 36, 3, 3, 4},
	} {
		img := noise(test.width, test.height, 7)
		d := DenseSIFT{Bins: []int{test.bin}}
		a, b := denseSIFT(t, d, img), denseSIFT(t, d, turned(img))
		if a.Len() != test.columns*test.rows || b.Len() != a.Len() {
			t.Fatalf("%d and %d patches", a.Len(), b.Len())
		}
		for row := range test.rows {
			for column := range test.columns {
				va := a.Vector(row*test.columns + column)
				vb := b.Vector((test.columns-1-column)*test.rows + row)
				for i, v := range va {
					r, c, o := i/32, i/8%4, i%8
					if got := vb[((3-c)*4+r)*8+(o+2)%8]; int(got)-int(v) > 1 || int(v)-int(got) > 1 {
						t.Fatalf("bin %d: patch %d, %d: value %d is %d and turned %d", test.bin, column, row, i, v, got)
					}
				}
			}
		}
	}
}

func TestDenseSIFTOfMovedImage(t *testing.T) {
	img := noise(120, 100, 9)
	part := func(x, y int) image.Image { return img.SubImage(image.Rect(x, y, x+80, y+72)) }
	const step, columns, rows = 8, 9, 8
	d := DenseSIFT{Step: step}
	a, b := denseSIFT(t, d, part(3, 5)), denseSIFT(t, d, part(3+step, 5+step))
	if a.Len() != columns*rows || b.Len() != columns*rows {
		t.Fatalf("%d and %d patches", a.Len(), b.Len())
	}
	// Patches at the sides depend on the border of the image.
	for row := 1; row < rows-2; row++ {
		for column := 1; column < columns-2; column++ {
			i, j := (row+1)*columns+column+1, row*columns+column
			if !slices.Equal(a.Vector(i), b.Vector(j)) {
				t.Fatalf("patch %d, %d: %v, moved %v", column, row, a.Vector(i), b.Vector(j))
			}
			if a.X[i] != b.X[j]+step || a.Y[i] != b.Y[j]+step {
				t.Fatalf("patch %d, %d: (%v, %v), moved (%v, %v)", column, row, a.X[i], a.Y[i], b.X[j], b.Y[j])
			}
		}
	}
}

func TestDenseSIFTTakesAllKindsOfImages(t *testing.T) {
	img := noise(40, 40, 11)
	want := denseSIFT(t, DenseSIFT{}, img)
	colour := image.NewRGBA(image.Rect(-5, 3, 35, 43))
	for y := range 40 {
		for x := range 40 {
			colour.Set(x-5, y+3, img.GrayAt(x, y))
		}
	}
	wide := image.NewGray16(image.Rect(0, 0, 60, 60))
	for y := range 60 {
		for x := range 60 {
			wide.Set(x, y, img.GrayAt((x+30)%40, (y+33)%40))
		}
	}
	for name, other := range map[string]image.Image{
		"16 bits":       imagefile.Gray(img),
		"colour":        colour,
		"a part":        wide.SubImage(image.Rect(10, 7, 50, 47)),
		"NRGBA, opaque": nrgba(colour),
	} {
		if got := denseSIFT(t, DenseSIFT{}, other); !slices.Equal(got.Vectors, want.Vectors) {
			t.Errorf("%s: another result than of 8-bit greys", name)
		}
	}
}

func nrgba(img image.Image) image.Image {
	out := image.NewNRGBA(img.Bounds())
	for y := out.Rect.Min.Y; y < out.Rect.Max.Y; y++ {
		for x := out.Rect.Min.X; x < out.Rect.Max.X; x++ {
			out.Set(x, y, img.At(x, y))
		}
	}
	return out
}

func TestDenseSIFTWithoutPatches(t *testing.T) {
	for _, size := range []image.Point{{}, {3, 3}, {1, 1}, {15, 200}, {200, 15}} {
		img := image.NewGray(image.Rectangle{Max: size})
		if got := denseSIFT(t, DenseSIFT{}, img); got.Len() != 0 {
			t.Errorf("%v: %d patches", size, got.Len())
		}
	}
	if got := denseSIFT(t, DenseSIFT{Bins: []int{1e9, 4}}, noise(16, 17, 1)); got.Len() != 1 || got.Scale[0] != 4 {
		t.Errorf("patches of %v", got.Scale)
	}
}

func TestDenseSIFTOfBlankImage(t *testing.T) {
	for _, v := range []float64{0, 0.37, 1} {
		for _, d := range []DenseSIFT{{}, {Root: true}, {Contrast: 0.1}} {
			got := denseSIFT(t, d, grey(50, 40, func(int, int) float64 { return v }))
			if got.Len() != 5*4 || slices.Max(got.Vectors) != 0 {
				t.Errorf("grey %v, %+v: %d patches, greatest value %d", v, d, got.Len(), slices.Max(got.Vectors))
			}
		}
	}
}

func TestDenseSIFTContrast(t *testing.T) {
	// The grey rises by 0.01 a pixel to the right, and by 0.002 further down.
	img := grey(60, 100, func(x, y int) float64 {
		if y < 50 {
			return 0.1 + 0.01*float64(x)
		}
		return 0.1 + 0.002*float64(x)
	})
	all := denseSIFT(t, DenseSIFT{}, img)
	for _, test := range []struct {
		contrast     float64
		upper, lower bool
	}{
		{0.0019, true, true}, {0.0021, true, false}, {0.0099, true, false}, {0.0101, false, false},
	} {
		got := denseSIFT(t, DenseSIFT{Contrast: test.contrast}, img)
		for i := range got.Len() {
			if got.X[i] < 16 || got.X[i] > 44 || got.Y[i] < 16 || got.Y[i] > 36 && got.Y[i] < 64 || got.Y[i] > 84 {
				continue // it sees a side of the image or the step
			}
			kept := test.upper
			if got.Y[i] > 50 {
				kept = test.lower
			}
			if want := all.Vector(i); kept && !slices.Equal(got.Vector(i), want) || !kept && slices.Max(got.Vector(i)) != 0 {
				t.Errorf("contrast %v: patch at (%v, %v): %v", test.contrast, got.X[i], got.Y[i], got.Vector(i))
			}
		}
	}
}

func TestDenseSIFTErrors(t *testing.T) {
	for _, test := range []struct {
		d    DenseSIFT
		want string
	}{
		{DenseSIFT{Step: -1}, "step: expected"},
		{DenseSIFT{Bins: []int{4, 0}}, "bins: expected"},
		{DenseSIFT{Bins: []int{-3}}, "bins: expected"},
		{DenseSIFT{Contrast: -0.1}, "contrast: expected"},
		{DenseSIFT{Contrast: math.NaN()}, "contrast: expected"},
	} {
		if _, err := test.d.Extract(noise(20, 20, 1)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got error %v, want one with %q", test.d, err, test.want)
		}
	}
}

// Several images of different sizes are described at once.
func TestDenseSIFTConcurrently(t *testing.T) {
	var images []image.Image
	var want [][]uint8
	d := DenseSIFT{Step: 6, Bins: []int{4, 6}}
	for i := range 6 {
		images = append(images, noise(20+13*i, 90-11*i, uint64(i)))
		want = append(want, denseSIFT(t, d, images[i]).Vectors)
	}
	var group sync.WaitGroup
	for worker := range 3 {
		group.Go(func() {
			for i := range 60 {
				i = (i*(worker+1) + worker) % len(images)
				if got, err := d.Extract(images[i]); err != nil || !slices.Equal(got.Vectors, want[i]) {
					t.Errorf("image %d: another result than alone (error %v)", i, err)
				}
			}
		})
	}
	group.Wait()
}

func TestDenseSIFTAllocations(t *testing.T) {
	allocations := func(side int) float64 {
		img := noise(side, side, 1)
		return testing.AllocsPerRun(20, func() { denseSIFT(t, DenseSIFT{}, img) })
	}
	// Garbage collections empty the pool sometimes.
	if small, large := allocations(32), allocations(256); large > small+10 {
		t.Errorf("%v allocations for 9 patches, %v for 961", small, large)
	}
}

func FuzzDenseSIFT(f *testing.F) {
	f.Add(uint8(20), uint8(30), 4, 8, uint64(1), 0.01, true)
	f.Add(uint8(3), uint8(3), 4, 8, uint64(1), 0.0, false)
	f.Add(uint8(9), uint8(60), 1, 1, uint64(2), 0.0, false)
	f.Add(uint8(0), uint8(9), math.MaxInt, math.MinInt, uint64(2), 2.0, true)
	f.Fuzz(func(t *testing.T, width, height uint8, bin, step int, seed uint64, contrast float64, root bool) {
		img := noise(int(width)%64, int(height)%64, seed)
		d := DenseSIFT{Step: step, Bins: []int{bin, 3}, Root: root, Contrast: contrast}
		out, err := d.Extract(img)
		if (err != nil) != (bin < 1 || step < 0 || !(contrast >= 0)) {
			t.Fatalf("%+v: error %v", d, err)
		}
		if err != nil {
			return
		}
		for i := range out.Len() {
			sum := 0.0
			for _, v := range out.Vector(i) {
				sum += float64(v) * float64(v)
			}
			if length := math.Sqrt(sum); length > 530 || length < 200 && length > 0 {
				t.Fatalf("%+v: patch %d has the length %v", d, i, length)
			}
			reach := 2 * out.Scale[i]
			if out.X[i] < reach-1 || out.Y[i] < reach-1 || out.X[i]+reach > float32(out.Width) || out.Y[i]+reach > float32(out.Height) {
				t.Fatalf("%+v: patch %d at (%v, %v) of an image of %d×%d", d, i, out.X[i], out.Y[i], out.Width, out.Height)
			}
		}
	})
}

func TestDenseSIFTOfRealImages(t *testing.T) {
	testkit.Slow(t)
	dir := testkit.NeedFolder(t, testkit.DataFolder)
	files, err := filepath.Glob(filepath.Join(dir, "scenes13", "test", "*", "image_000*.jpg"))
	if err != nil || len(files) < 13 {
		t.Fatalf("%d images in %s, error %v", len(files), dir, err)
	}
	for _, file := range files {
		img, err := (&datasets.Set{Names: []string{""}, Files: []string{file}}).Image(0)
		if err != nil {
			t.Fatal(err)
		}
		out := denseSIFT(t, DenseSIFT{}, img)
		size := img.Bounds().Size()
		if want := (size.X/8 - 1) * (size.Y/8 - 1); out.Len() != want {
			t.Errorf("%s: %d patches, want %d", file, out.Len(), want)
		}
		zeros := 0
		for i := range out.Len() {
			if slices.Max(out.Vector(i)) == 0 {
				zeros++
			}
		}
		if zeros > out.Len()/2 {
			t.Errorf("%s: %d of %d patches are flat", file, zeros, out.Len())
		}
	}
}

func BenchmarkDenseSIFT(b *testing.B) {
	img := imagefile.Gray(noise(256, 256, 1))
	for _, d := range []DenseSIFT{{}, {Root: true}, {Step: 4}, {Bins: []int{4, 6, 8}}} {
		b.Run(fmt.Sprintf("step%d-bins%v-root%v", cmp.Or(d.Step, defaultStep), d.Bins, d.Root), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				denseSIFT(b, d, img)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "images/s")
		})
	}
}

// TestDenseSIFTOfLargeImages checks that an image with too many pixels has the descriptors of the reduced image, at
// positions in the original.
func TestDenseSIFTOfLargeImages(t *testing.T) {
	testkit.Slow(t)
	large := noise(240, 160, 3)
	d := denseSIFT(t, DenseSIFT{MaxPixels: 120 * 80}, large)
	want := denseSIFT(t, DenseSIFT{}, reducedGrey(large, image.Pt(120, 80)))
	if d.Width != 240 || d.Height != 160 || d.Len() != want.Len() || string(d.Vectors) != string(want.Vectors) {
		t.Fatalf("%d descriptors of an image of %d×%d, want the %d of its reduction", d.Len(), d.Width, d.Height, want.Len())
	}
	for i := range d.Len() {
		if math.Abs(float64(d.X[i]-(2*want.X[i]+0.5))) > 1e-3 || math.Abs(float64(d.Y[i]-(2*want.Y[i]+0.5))) > 1e-3 || d.Scale[i] != 8 {
			t.Fatalf("descriptor %d at %v, %v with bins of %v; the reduction has it at %v, %v", i, d.X[i], d.Y[i], d.Scale[i], want.X[i], want.Y[i])
		}
	}
	if d := denseSIFT(t, DenseSIFT{}, image.NewGray(image.Rect(0, 0, 3, 1<<20))); d.Len() != 0 || d.Width != 3 {
		t.Errorf("%d descriptors of a line", d.Len())
	}
	if d := denseSIFT(t, DenseSIFT{}, image.NewGray(image.Rect(0, 0, 3000, 2000))); d.Len() == 0 || d.Len() > 1<<20/64 {
		t.Errorf("%d descriptors of six million pixels", d.Len())
	}
	if _, err := (DenseSIFT{MaxPixels: -1}).Extract(large); err == nil {
		t.Error("fewer than no pixels")
	}
}

func TestSIFTVector(t *testing.T) {
	fill := func(n int, v float32) (hist [siftDim]float32) {
		for i := range n {
			hist[i] = v
		}
		return hist
	}
	for _, test := range []struct {
		name         string
		hist         [siftDim]float32
		root         bool
		first, other uint8
	}{
		{"zeros", fill(0, 0), false, 0, 0},
		{"zeros", fill(0, 0), true, 0, 0},
		{"one value", fill(1, 1e-3), false, 255, 0},
		{"one value", fill(1, 1e3), true, 255, 0},
		// 512/√100, and √(1/100) of 512.
		{"100 values", fill(100, 3), false, 51, 0},
		{"100 values", fill(100, 3), true, 51, 0},
	} {
		out := [siftDim]uint8{siftDim - 1: 9}
		hist := test.hist
		siftVector(&out, &hist, test.root)
		if out[0] != test.first || out[siftDim-1] != test.other {
			t.Errorf("%s, root %v: %d and %d, want %d and %d", test.name, test.root, out[0], out[siftDim-1], test.first, test.other)
		}
	}

	// One value of 30 and 100 of 1: the length is √1000, the first is clipped to
	// 0.2·√1000 = √40, and the length after it is √140.
	hist := fill(101, 1)
	hist[0] = 30
	var out [siftDim]uint8
	clipped := hist
	siftVector(&out, &clipped, false)
	if out[0] != 255 || out[1] != 43 { // 512·√(40/140) = 273.7, 512/√140 = 43.3
		t.Errorf("clipped: %d and %d", out[0], out[1])
	}
	// The sum is √40 + 100 = 106.3, and the parts' roots are 0.2439 and 0.0970.
	clipped = hist
	siftVector(&out, &clipped, true)
	if out[0] != 125 || out[1] != 50 {
		t.Errorf("root: %d and %d", out[0], out[1])
	}
}
