package pictures

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/features"
)

// scene returns a picture of 320×240 pixels with details of several sizes, different for each seed.
func scene(seed uint64) *image.RGBA {
	src := rand.New(rand.NewPCG(seed, 1))
	img := image.NewRGBA(image.Rect(0, 0, 320, 240))
	for i := range img.Pix {
		if img.Pix[i] = 128; i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	for n := range 400 {
		r := 60 / (1 + float64(n)/12)
		x0, y0 := 320*src.Float64(), 240*src.Float64()
		c := [3]float64{255 * src.Float64(), 255 * src.Float64(), 255 * src.Float64()}
		for y := max(int(y0-r), 0); y < min(int(y0+r), 240); y++ {
			for x := max(int(x0-r), 0); x < min(int(x0+r), 320); x++ {
				if math.Hypot(float64(x)-x0, float64(y)-y0) < r {
					for k := range 3 {
						img.Pix[img.PixOffset(x, y)+k] = uint8(c[k])
					}
				}
			}
		}
	}
	return img
}

// compressed returns img after JPEG compression.
func compressed(t *testing.T, img image.Image, quality int) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	out, err := jpeg.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// toned applies f to the values of img, from 0 to 255.
func toned(img *image.RGBA, f func(v float64) float64) *image.RGBA {
	out := image.NewRGBA(img.Rect)
	for i, v := range img.Pix {
		if out.Pix[i] = 255; i%4 != 3 {
			out.Pix[i] = uint8(min(max(f(float64(v)), 0), 255))
		}
	}
	return out
}

// softened returns img after two means over (2r+1)×(2r+1) pixels.
func softened(img *image.RGBA, r int) *image.RGBA {
	for range 2 {
		out := image.NewRGBA(img.Rect)
		w, h := img.Rect.Dx(), img.Rect.Dy()
		for y := range h {
			for x := range w {
				for k := range 4 {
					sum, n := 0, 0
					for v := max(y-r, 0); v <= min(y+r, h-1); v++ {
						for u := max(x-r, 0); u <= min(x+r, w-1); u++ {
							sum += int(img.Pix[img.PixOffset(u, v)+k])
							n++
						}
					}
					out.Pix[out.PixOffset(x, y)+k] = uint8(sum / n)
				}
			}
		}
		img = out
	}
	return img
}

// compare returns the result of Copies, comparing all pairs.
func compare(t *testing.T, all []image.Image, same []int) (copyOf []int, near []bool) {
	t.Helper()
	found := compareTaken(t, all, same, nil)
	return found.CopyOf, found.Near
}

// compareTaken does so with capture times.
func compareTaken(t *testing.T, all []image.Image, same []int, taken []time.Time) *Stacks {
	t.Helper()
	return stacksOf(t, Source{Same: same, Taken: taken}, all)
}

// stacksOf does so for images of a source.
func stacksOf(t *testing.T, from Source, all []image.Image) *Stacks {
	t.Helper()
	from.Equal = func(context.Context, int, int) (bool, error) { return true, nil }
	alone := from.Same == nil
	thumbnails := make([][]byte, len(all))
	for i, img := range all {
		look, thumbnail, err := New(img, img.Bounds().Size())
		if err != nil {
			t.Fatal(err)
		}
		from.Looks = append(from.Looks, look)
		thumbnails[i] = thumbnail
		if alone {
			from.Same = append(from.Same, i)
		}
		var others []int
		for j := range all {
			others = append(others, j)
		}
		from.Near, from.Order = append(from.Near, others), others
	}
	from.Thumbnail = func(_ context.Context, i int) (image.Image, error) {
		return jpeg.Decode(bytes.NewReader(thumbnails[i]))
	}
	found, err := Copies(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestCopies(t *testing.T) {
	a := scene(1)
	crop := func(left, top, right, bottom int) image.Image {
		return a.SubImage(image.Rect(left, top, 320-right, 240-bottom))
	}
	all := []image.Image{
		a,
		scene(2),
		compressed(t, a, 30),
		compressed(t, features.Thumbnail(a, 160), 80),
		compressed(t, crop(16, 12, 16, 12), 85),
		compressed(t, crop(32, 0, 0, 0), 85),
		compressed(t, toned(a, func(v float64) float64 { return 0.7 * v }), 85),
		compressed(t, toned(a, func(v float64) float64 { return 1.2*v + 10 }), 85),
		scene(3),
		compressed(t, scene(2), 50),
		toned(a, func(v float64) float64 { return 255 - v }), // a negative
		image.NewRGBA(image.Rect(0, 0, 320, 240)),
		image.NewRGBA(image.Rect(0, 0, 300, 240)),
	}
	copyOf, near := compare(t, all, nil)
	want := []int{0, 1, 0, 0, 0, 0, 0, 0, 8, 1, 10, 11, 12}
	if !slices.Equal(copyOf, want) {
		t.Errorf("copies of %v, want %v", copyOf, want)
	}
	for i, of := range want {
		if near[i] != (of != i) {
			t.Errorf("picture %d: near is %v", i, near[i])
		}
	}
	// The same picture in other colours is not a copy.
	other := image.NewRGBA(a.Rect)
	for i := 0; i < len(a.Pix); i += 4 {
		other.Pix[i], other.Pix[i+1], other.Pix[i+2], other.Pix[i+3] = a.Pix[i+1], a.Pix[i+2], a.Pix[i], 255
	}
	if copyOf, _ := compare(t, []image.Image{a, other}, nil); copyOf[1] != 1 {
		t.Error("a picture in other colours is a copy")
	}
}

// TestCutCopies checks that copies of many pictures are found after a tenth of each side is cut off.
func TestCutCopies(t *testing.T) {
	var all []image.Image
	for seed := range uint64(12) {
		a := scene(seed)
		all = append(all, a, compressed(t, a.SubImage(image.Rect(32, 24, 288, 216)), 85), compressed(t, a.SubImage(image.Rect(32, 0, 320, 240)), 85))
	}
	copyOf, _ := compare(t, all, nil)
	for i, of := range copyOf {
		if of != i-i%3 {
			t.Errorf("picture %d is a copy of %d, want %d", i, of, i-i%3)
		}
	}
}

// mapped returns an image of w×h pixels that has at (x, y) what img has at of(x, y).
func mapped(img *image.RGBA, w, h int, of func(x, y int) (int, int)) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for p := range w * h {
		x, y := of(p%w, p/w)
		out.Set(p%w, p/w, img.At(x, y))
	}
	return out
}

// TestChangedCopies checks copies that only key points find.
func TestChangedCopies(t *testing.T) {
	var all []image.Image
	const kinds = 6
	for seed := range uint64(3) {
		a := scene(seed)
		grey := image.NewGray(a.Rect)
		draw.Draw(grey, a.Rect, a, image.Point{}, draw.Src)
		all = append(all, a, compressed(t, a.SubImage(image.Rect(64, 48, 256, 192)), 85), compressed(t, screen(a, 300, 500, image.White), 85), compressed(t, grey, 85),
			compressed(t, mapped(a, 320, 240, func(x, y int) (int, int) { return 319 - x, y }), 85),
			compressed(t, mapped(a, 240, 320, func(x, y int) (int, int) { return y, 239 - x }), 85))
	}
	copyOf, _ := compare(t, all, nil)
	for i, of := range copyOf {
		if of != i-i%kinds {
			t.Errorf("picture %d is a copy of %d, want %d", i, of, i-i%kinds)
		}
	}
}

// screen returns a screen of w×h pixels that shows an image in full width, if it is less wide, between bars with lines.
func screen(img *image.RGBA, w, h int, ground image.Image) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(out, out.Rect, ground, image.Point{}, draw.Src)
	for y := 20; y < h; y += h / 12 {
		draw.Draw(out, image.Rect(w/8, y, w/3, y+4), image.NewUniform(color.Gray{127}), image.Point{}, draw.Src)
	}
	shown := features.Thumbnail(img, w)
	if w > img.Rect.Dx() {
		shown = mapped(img, w, w*img.Rect.Dy()/img.Rect.Dx(), func(x, y int) (int, int) { return x * img.Rect.Dx() / w, y * img.Rect.Dx() / w })
	}
	draw.Draw(out, shown.Rect.Add(image.Pt(0, (h-shown.Rect.Dy())/2)), shown, image.Point{}, draw.Src)
	return out
}

// TestScreenshots: a photo is the original of its screenshots, whatever their sizes, but not of the photo from which it
// was cut, nor of one of a camera, nor if it is only a thumbnail. Here each first image would be the original.
func TestScreenshots(t *testing.T) {
	for seed := range uint64(3) {
		a := scene(seed)
		half := features.Thumbnail(a, 160)
		shown := screen(a, 600, 1200, image.Black)
		for name, test := range map[string]struct {
			all     []image.Image
			cameras int
			want    []int
		}{
			"white":     {[]image.Image{compressed(t, screen(a, 600, 1200, image.White), 85), a}, 0, []int{1, 1}},
			"black":     {[]image.Image{shown, a, half}, 0, []int{1, 1, 1}},
			"mirrored":  {[]image.Image{shown, mapped(a, 320, 240, func(x, y int) (int, int) { return 319 - x, y })}, 0, []int{1, 1}},
			"camera":    {[]image.Image{shown, a}, 1, []int{0, 0}},
			"thumbnail": {[]image.Image{screen(a, 600, 1200, image.White), half}, 0, []int{0, 0}},
			"size":      {[]image.Image{a, half}, 0, []int{0, 0}},
			"part":      {[]image.Image{a, a.SubImage(image.Rect(64, 48, 256, 192))}, 0, []int{0, 0}},
			"sides":     {[]image.Image{a, a.SubImage(image.Rect(0, 40, 320, 200))}, 0, []int{0, 0}},
		} {
			found := stacksOf(t, Source{Cameras: test.cameras}, test.all)
			if !slices.Equal(found.CopyOf, test.want) || found.Screenshot[0] != (test.want[0] > 0) {
				t.Errorf("scene %d, %s: copies of %v, want %v; screenshots %v", seed, name, found.CopyOf, test.want, found.Screenshot)
			}
		}
	}
}

// TestBursts: shots of a burst are a stack only if their times are near; other pictures of these seconds are none.
func TestBursts(t *testing.T) {
	a := scene(1)
	next := func(shift int) image.Image { // the camera and a part of the picture move
		return mapped(a, 280, 200, func(x, y int) (int, int) {
			if y < 52 {
				x += shift
			}
			return x + shift, y + shift
		})
	}
	all := []image.Image{next(0), next(8), next(16), scene(2), next(24)}
	at := func(seconds ...int) (times []time.Time) {
		for _, s := range seconds {
			times = append(times, time.Date(2020, 1, 1, 0, 0, s, 0, time.UTC))
		}
		return times
	}
	found := compareTaken(t, all, nil, at(1, 3, 6, 2, 59)) // 6 is too late for the first shot, but not for the second
	if want := []int{0, 0, 0, 3, 4}; !slices.Equal(found.CopyOf, want) || !slices.Equal(found.Burst, []bool{false, true, true, false, false}) {
		t.Errorf("copies of %v, want %v; bursts %v", found.CopyOf, want, found.Burst)
	}
	if found := compareTaken(t, all[:4], nil, make([]time.Time, 4)); !slices.Equal(found.CopyOf, []int{0, 1, 2, 3}) {
		t.Errorf("without times: copies of %v", found.CopyOf)
	}
}

// TestExactCopies checks that exact copies of an original are not near copies, but exact copies of a near copy are.
func TestExactCopies(t *testing.T) {
	a := scene(1)
	copyOf, near := compare(t, []image.Image{scene(2), a, a, compressed(t, a, 40), compressed(t, a, 40), a}, []int{0, 1, 1, 3, 3, 5})
	if !slices.Equal(copyOf, []int{0, 1, 1, 1, 1, 1}) || !slices.Equal(near, []bool{false, false, false, true, true, false}) {
		t.Errorf("copies of %v, near %v", copyOf, near)
	}
	// Small pictures are compared by their bytes only.
	small := features.Thumbnail(a, 40)
	if copyOf, _ := compare(t, []image.Image{small, small}, nil); copyOf[1] != 1 {
		t.Error("a small picture is a near duplicate")
	}
}

func TestRemarks(t *testing.T) {
	var looks []*Look
	want := []string{"", "", "", Blurred, Blank, Blank, "", Blank}
	grey := image.NewRGBA(image.Rect(0, 0, 320, 240))
	for i := range grey.Pix {
		if grey.Pix[i] = uint8(2 + i*i%3); i%4 == 3 { // the noise of a black picture
			grey.Pix[i] = 255
		}
	}
	white := image.NewNRGBA(image.Rect(0, 0, 90, 90)) // transparent
	for _, img := range []image.Image{
		scene(1), scene(2), toned(scene(3), func(v float64) float64 { return 100 + v/4 }), softened(scene(4), 5), white, grey,
		softened(features.Thumbnail(scene(5), 50), 3), image.NewUniform(color.Black),
	} {
		if u, ok := img.(*image.Uniform); ok {
			flat := image.NewRGBA(image.Rect(0, 0, 70, 70))
			for i := range flat.Pix {
				r, _, _, _ := u.RGBA()
				flat.Pix[i] = uint8(r)
			}
			img = flat
		}
		look, _, err := New(img, img.Bounds().Size())
		if err != nil {
			t.Fatal(err)
		}
		looks = append(looks, look)
	}
	if got := Remarks(looks); !slices.Equal(got, want) {
		t.Errorf("remarks %q, want %q", got, want)
		for i, l := range looks {
			t.Logf("picture %d: sharpness %.3f, spread %.1f", i, l.Sharpness, l.Spread)
		}
	}
	if got := Remarks(nil); len(got) != 0 {
		t.Errorf("of none: %q", got)
	}
}

// Only a point far away from points around a centre is an outlier; points between two groups are not.
func TestOutliers(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	const n = 121
	points := make([][2]float64, n)
	for i := range points {
		points[i] = [2]float64{src.NormFloat64() + 8*float64(i%2), src.NormFloat64()}
	}
	points[n-1] = [2]float64{4, 30}
	near, distances := make([][]int, n), make([][]float64, n)
	for i, p := range points {
		order := make([]int, 0, n)
		distance := func(j int) float64 { return math.Hypot(p[0]-points[j][0], p[1]-points[j][1]) }
		for j := range points {
			if j != i {
				order = append(order, j)
			}
		}
		slices.SortFunc(order, func(a, b int) int {
			if distance(a) < distance(b) {
				return -1
			}
			return 1
		})
		for _, j := range order[:20] {
			near[i], distances[i] = append(near[i], j), append(distances[i], distance(j))
		}
	}
	found := Outliers(near, distances)
	count := 0
	for _, p := range found {
		if p > 0 {
			count++
		}
	}
	if found[n-1] < 0.99 || count > 4 {
		t.Errorf("the far point %v, and %d outliers", found[n-1], count)
	}
	for _, few := range [][]float64{Outliers(nil, nil), Outliers(make([][]int, 3), make([][]float64, 3)),
		Outliers([][]int{{1, 2, 3, 4, 5}, {0, 2, 3, 4, 5}, {0, 1, 3, 4, 5}, {0, 1, 2, 4, 5}, {0, 1, 2, 3, 5}, {0, 1, 2, 3, 4}}, slices.Repeat([][]float64{make([]float64, 5)}, 6))} {
		for _, p := range few {
			if p != 0 {
				t.Errorf("of few or equal pictures: %v", few)
			}
		}
	}
}

func TestLookBinary(t *testing.T) {
	look, _, err := New(scene(1), scene(1).Bounds().Size())
	if err != nil {
		t.Fatal(err)
	}
	blob, err := look.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back Look
	rest, err := back.Cut(append(blob, 7))
	if err != nil || !reflect.DeepEqual(back, *look) || !slices.Equal(rest, []byte{7}) {
		t.Errorf("read %+v, rest %v, %v", back.Width, rest, err)
	}
	for _, spoilt := range [][]byte{nil, blob[:20], make([]byte, len(blob)), append(slices.Repeat([]byte{255}, 24), blob[24:]...)} {
		if _, err := back.Cut(spoilt); err == nil {
			t.Errorf("%d bytes are a look", len(spoilt))
		}
	}
}
