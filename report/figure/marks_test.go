package figure

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/pipeline/models"
)

// boxed are options with the box for the photo, 0 for MarkBox.
type boxed struct {
	Box           int
	Fade, Numbers bool // not both
}

func mark(t *testing.T, img image.Image, marks []models.Patch, opt boxed) *image.RGBA {
	t.Helper()
	drawn := Thumbnail(img, cmp.Or(opt.Box, MarkBox))
	if opt.Fade || opt.Numbers {
		if err := DrawMarks(t.Context(), drawn, img.Bounds().Size(), marks, opt.Fade); err != nil {
			t.Fatal(err)
		}
	} else {
		must(assignPixels(t.Context(), marks, img.Bounds().Size(), drawn.Rect.Size())).paint(drawn, false)
	}
	return drawn
}

func TestMarkPatchesGolden(t *testing.T) {
	marks := []models.Patch{
		{X: 15.5, Y: 15.5, Side: 16, Part: 0, Share: 1},
		{X: 23.5, Y: 15.5, Side: 16, Part: 1, Share: 1},
		{X: 23.5, Y: 23.5, Side: 16, Part: 2, Share: 0.2},
		{X: 0, Y: 60, Side: 16, Part: 3, Share: 0.6},
		{X: 70, Y: 40, Side: 40, Part: 4, Share: 0.3},
		{X: 70, Y: 40, Side: 8, Part: 5, Share: 1},
		{X: 99, Y: 0, Side: 20, Part: 11, Share: 0.9},
		{X: 200, Y: 40, Side: 16, Part: 6, Share: 1},
	}
	goldenImage(t, "patches-marks.png", mark(t, hills(100, 80), marks, boxed{Box: 200, Numbers: true}))
	goldenImage(t, "patches-faded.png", mark(t, hills(100, 80), marks[4:5], boxed{Box: 50, Fade: true}))
}

// A patch is the pixels whose centres it holds, as in SIFT's grid.
func TestMarkPatchesPlace(t *testing.T) {
	grey := plain(40, 30, color.Gray{90})
	for _, test := range []struct {
		mark models.Patch
		want image.Rectangle // in pixels of the photograph
	}{
		{models.Patch{X: 7.5, Y: 7.5, Side: 16}, image.Rect(0, 0, 16, 16)},
		{models.Patch{X: 15.5, Y: 7.5, Side: 16}, image.Rect(8, 0, 24, 16)},
		{models.Patch{X: 20, Y: 10, Side: 5}, image.Rect(18, 8, 23, 13)},
		{models.Patch{X: 0, Y: 0, Side: 7}, image.Rect(0, 0, 4, 4)},
		{models.Patch{X: 39.5, Y: 29.5, Side: 4}, image.Rect(38, 28, 40, 30)},
		{models.Patch{X: 20, Y: 10, Side: 0.001}, image.Rect(20, 10, 21, 11)},
		{models.Patch{X: 20.3, Y: 10.4, Side: 0.001}, image.Rect(20, 10, 21, 11)},
		{models.Patch{X: 20, Y: 10, Side: 1000}, image.Rect(0, 0, 40, 30)},
		{models.Patch{X: 20, Y: 10, Side: math.MaxFloat32}, image.Rect(0, 0, 40, 30)},
		{models.Patch{X: -8, Y: 10, Side: 15}, image.Rectangle{}},
		{models.Patch{X: 20, Y: 1e30, Side: 16}, image.Rectangle{}},
		{models.Patch{X: -math.MaxFloat32, Y: 3, Side: 16}, image.Rectangle{}},
	} {
		test.mark.Share = 0.5
		for _, times := range []int{1, 3} {
			got := tinted(mark(t, grey, []models.Patch{test.mark}, boxed{Box: 40 * times}))
			want := image.Rectangle{Min: test.want.Min.Mul(times), Max: test.want.Max.Mul(times)}
			if test.mark.Side < 1 && times > 1 {
				continue // a pixel of the drawing, not of the photograph
			}
			if len(got) != want.Dx()*want.Dy() {
				t.Errorf("%+v, %d times as large: %d pixels, want %d", test.mark, times, len(got), want.Dx()*want.Dy())
			}
			for p := range got {
				if !p.In(want) {
					t.Fatalf("%+v, %d times as large: %v is tinted, want %v", test.mark, times, p, want)
				}
			}
		}
	}
}

// The border of two overlapping patches is in the middle, or nearer to the weaker one.
func TestDivide(t *testing.T) {
	size := image.Pt(48, 16)
	left, right := models.Patch{X: 15.5, Y: 7.5, Side: 16, Part: 3, Share: 1}, models.Patch{X: 23.5, Y: 7.5, Side: 16, Part: 2, Share: 1}
	for _, test := range []struct {
		strength     float64
		border, last int
	}{{1, 20, 32}, {0.5, 21, 32}, {0.01, 24, 32}} {
		right.Share = test.strength
		for _, marks := range [][]models.Patch{{left, right}, {right, left}} {
			d := must(assignPixels(t.Context(), marks, size, size))
			for x := range size.X {
				want := -1
				switch {
				case x >= 8 && x < test.border:
					want = 3
				case x >= test.border && x < test.last:
					want = 2
				}
				if got := d.partAt(x, 8); got != want {
					t.Errorf("strength %v: pixel %d has part %d, want %d", test.strength, x, got, want)
				}
			}
		}
	}
	// Ties go to the lower part, in any order.
	same := left
	same.Part = 1
	for _, marks := range [][]models.Patch{{left, same}, {same, left}} {
		if got := must(assignPixels(t.Context(), marks, size, size)).partAt(12, 8); got != 1 {
			t.Errorf("the pixel has part %d, want 1", got)
		}
	}
}

// Many parts: each pixel belongs to the part with the largest sum, computed here mark by mark, for any order of parts.
func TestDivideAgainstSums(t *testing.T) {
	for seed := range uint64(20) {
		photograph, size := image.Pt(60, 45), image.Pt(40, 30)
		marks := scattered(seed, 50, 1+int(seed), photograph.X, photograph.Y)
		d := must(assignPixels(t.Context(), marks, photograph, size))
		for y := range size.Y {
			for x := range size.X {
				sums := map[int]float64{}
				for _, m := range marks {
					inX := 1 - math.Abs((float64(x)+0.5)*1.5-float64(m.X)-0.5)/math.Max(float64(m.Side)/2, 0.75)
					inY := 1 - math.Abs((float64(y)+0.5)*1.5-float64(m.Y)-0.5)/math.Max(float64(m.Side)/2, 0.75)
					if inX > 0 && inY > 0 {
						sums[m.Part] += m.Share * math.Max(inX, 0.01) * math.Max(inY, 0.01)
					}
				}
				best := 0.0
				for _, s := range sums {
					best = math.Max(best, s)
				}
				owner := d.partAt(x, y)
				if owner < 0 && best > 1e-6 || owner >= 0 && sums[owner] < best-1e-5 {
					t.Fatalf("seed %d: (%d, %d) has part %d of %v", seed, x, y, owner, sums)
				}
				if s := d.strength[y*size.X+x]; owner >= 0 && !(s > 0 && s <= 1.0001) {
					t.Fatalf("seed %d: strength %v", seed, s)
				}
			}
		}
		backwards := slices.Clone(marks)
		slices.SortStableFunc(backwards, func(a, b models.Patch) int { return b.Part - a.Part })
		if other := must(assignPixels(t.Context(), backwards, photograph, size)); !slices.Equal(other.owner, d.owner) {
			t.Errorf("seed %d: another order of the parts gives another picture", seed)
		}
	}
}

func TestMarkPatchesOdd(t *testing.T) {
	big := image.NewRGBA(image.Rect(0, 0, 900, 30))
	for what, img := range map[string]image.Image{
		"1×1":      plain(1, 1, red),
		"empty":    image.NewRGBA(image.Rectangle{}),
		"one wide": plain(1, 700, red),
		"large":    big,
		"16 bits":  image.NewGray16(image.Rect(-5, -5, 20, 20)),
	} {
		for _, parts := range []int{1, 60, 1000} {
			b := img.Bounds()
			marks := scattered(uint64(parts), 80, parts, b.Dx(), b.Dy())
			for _, opt := range []boxed{{}, {Box: 1}, {Box: 50, Fade: true}, {Numbers: true}} {
				drawn := mark(t, img, marks, opt)
				if size := drawn.Rect.Size(); max(size.X, size.Y) > max(opt.Box, MarkBox) {
					t.Errorf("%s: size %v", what, size)
				}
				for i := 3; i < len(drawn.Pix); i += 4 {
					if drawn.Pix[i] != 0xff {
						t.Fatalf("%s: a pixel can be seen through", what)
					}
				}
			}
		}
	}
	// Without marks, or with marks outside only, the photograph is grey.
	colourful := plain(30, 20, red)
	without := mark(t, colourful, nil, boxed{Numbers: true})
	if n := len(tinted(without)); n > 0 {
		t.Errorf("%d pixels are tinted without a mark", n)
	}
	outside := mark(t, colourful, []models.Patch{{X: 100, Y: 0, Side: 9, Share: 1}}, boxed{Numbers: true})
	if !bytes.Equal(outside.Pix, without.Pix) {
		t.Error("a mark outside is seen")
	}
	// Stronger marks are more colourful.
	last := 0
	for _, strength := range []float64{1e-9, 0.3, 0.7, 1} {
		c := mark(t, plain(30, 30, color.Gray{128}), []models.Patch{{X: 15, Y: 15, Side: 20, Share: strength}}, boxed{Box: 30}).RGBAAt(15, 15)
		if fullness := int(c.B) - int(c.R); fullness <= last {
			t.Errorf("strength %v: fullness %d, want more than %d", strength, fullness, last)
		} else {
			last = fullness
		}
	}
}

// Every part with a large share of the photograph is numbered, if there is space.
func TestMarkPatchesNumbers(t *testing.T) {
	marks := []models.Patch{
		{X: 40, Y: 40, Side: 40, Part: 0, Share: 1},
		{X: 120, Y: 120, Side: 40, Part: 7, Share: 1},
		{X: 150, Y: 40, Side: 5, Part: 8, Share: 1},
	}
	img := plain(200, 200, color.Gray{100})
	with := mark(t, img, marks, boxed{Box: 200, Numbers: true})
	without := mark(t, img, marks, boxed{Box: 200})
	for _, m := range marks {
		chip := image.Rectangle{Max: chipSize(m.Part)}
		chip = chip.Add(image.Pt(int(m.X), int(m.Y)).Sub(chip.Max.Div(2)))
		differ := 0
		for y := chip.Min.Y; y < chip.Max.Y; y++ {
			for x := chip.Min.X; x < chip.Max.X; x++ {
				if with.RGBAAt(x, y) != without.RGBAAt(x, y) {
					differ++
				}
			}
		}
		if got, want := differ > 100, m.Side > 20; got != want {
			t.Errorf("part %d: %d pixels of its number, want it to stand there: %v", m.Part, differ, want)
		}
	}
}

// If two numbers would overlap, the larger part's is drawn.
func TestMarkPatchesNumbersOverlap(t *testing.T) {
	marks := []models.Patch{{X: 9, Y: 15, Side: 8, Part: 0, Share: 1}, {X: 20, Y: 15, Side: 12, Part: 1, Share: 1}}
	for range 2 {
		drawn := mark(t, plain(30, 30, color.Gray{100}), marks, boxed{Box: 30, Numbers: true})
		for _, m := range marks {
			corner := drawn.RGBAAt(int(m.X)-7, int(m.Y)-7) // of the number, outside the patch
			if got, want := corner == partColour(m.Part), m.Side == 12; got != want {
				t.Errorf("the number %d stands there: got %v, want %v", m.Part+1, got, want)
			}
		}
		marks[0].Part, marks[1].Part = 1, 0
	}
}

func TestPartColours(t *testing.T) {
	if got, want := partColour(0), rgba(0); got != want {
		t.Errorf("the first colour is %v, want %v", got, want)
	}
	near := func(n int) float64 {
		least := math.Inf(1)
		for i := range n {
			for j := range i {
				a, b := oklab(partColour(i)), oklab(partColour(j))
				least = min(least, math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]))
			}
		}
		return least
	}
	for n, want := range map[int]float64{10: 0.15, 20: 0.1, 40: 0.06, len(partColours): 0.04} {
		if got := near(n); got < want {
			t.Errorf("two of %d colours are %.3f apart, want %v", n, got, want)
		}
	}
	if partColour(len(partColours)+5) != partColour(5) {
		t.Error("the colours do not come again")
	}
	for c, want := range map[color.RGBA][3]float64{
		{255, 255, 255, 255}: {1, 0, 0},
		{0, 0, 0, 255}:       {0, 0, 0},
		{255, 0, 0, 255}:     {0.62796, 0.22486, 0.12585}, // Ottosson's values
	} {
		got := oklab(c)
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-4 {
				t.Errorf("%v is %v, want %v", c, got, want)
				break
			}
		}
	}
}

// oklab returns a colour's lightness, from 0 to 1, and its two opponent values in Oklab (Ottosson 2020), where
// distances are approximately perceptual.
func oklab(c color.RGBA) [3]float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	r, g, b := linear(c.R), linear(c.G), linear(c.B)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return [3]float64{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}
