package figure

import (
	"errors"
	"image"
	"image/color"
	"math"
	"testing"

	"golang.org/x/image/draw"
	"gonum.org/v1/gonum/mat"
)

func TestMontage(t *testing.T) {
	// Three tiles, two rows of three pixels each.
	basis := mat.NewDense(6, 3, []float64{
		0, 7, -1,
		1, 7, math.NaN(),
		2, 7, 0,
		3, 7, 1,
		4, 7, math.Inf(1),
		5, 7, math.Inf(-1),
	})
	montage, err := Montage(t.Context(), basis, 2, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	img := montage.(*image.Gray)
	const scale, gap = tileSide / 3, montageGap
	const tileW, tileH = 3 * scale, 2 * scale
	if want := image.Rect(0, 0, 2*tileW+3*gap, 2*tileH+3*gap); img.Rect != want {
		t.Fatalf("got %v, want %v", img.Rect, want)
	}
	want := [][]uint8{{0, 51, 102, 153, 204, 255}, {128, 128, 128, 128, 128, 128}, {0, 0, 128, 255, 0, 0}}
	tile := func(j int) (left, top int) { return gap + j%2*(tileW+gap), gap + j/2*(tileH+gap) }
	for j, shades := range want {
		left, top := tile(j)
		for y := range tileH {
			for x := range tileW {
				if got, shade := img.GrayAt(left+x, top+y).Y, shades[y/scale*3+x/scale]; got != shade {
					t.Fatalf("tile %d is %d at (%d, %d), want %d", j, got, x, y, shade)
				}
			}
		}
	}
	// Everything else is white.
	dark := 0
	for _, v := range img.Pix {
		if v != 255 {
			dark++
		}
	}
	if want := (5 + 6 + 5) * scale * scale; dark != want {
		t.Errorf("%d pixels are not white, want %d", dark, want)
	}
}

func TestMontageInColour(t *testing.T) {
	// Two tiles of one row of two pixels: the reds, the greens, the blues.
	basis := mat.NewDense(6, 2, []float64{
		0, -3,
		2, -3,
		4, -3,
		6, -3,
		8, -3,
		10, -3,
	})
	img, err := Montage(t.Context(), basis, 1, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	const scale, gap = tileSide / 2, montageGap
	grey := color.RGBA{128, 128, 128, 255}
	want := [][]color.RGBA{{{0, 102, 204, 255}, {51, 153, 255, 255}}, {grey, grey}}
	if size := img.Bounds().Size(); size != image.Pt(2*scale+2*gap, 2*scale+3*gap) {
		t.Fatalf("size %v", size)
	}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			c := color.RGBA{255, 255, 255, 255}
			row, column := (y-gap)/(scale+gap), (x-gap)/scale
			if y >= gap && x >= gap && row < 2 && column < 2 && (y-gap)%(scale+gap) < scale {
				c = want[row][column]
			}
			if got := img.At(x, y); got != c {
				t.Fatalf("(%d, %d) is %v, want %v", x, y, got, c)
			}
		}
	}
}

func TestMontageLayout(t *testing.T) {
	for _, test := range []struct{ k, height, width, columns, rows, scale int }{
		{25, 32, 32, 5, 5, 3},
		{10, 32, 32, 4, 3, 3},
		{1, 8, 8, 1, 1, 12},
		{2, 32, 32, 2, 1, 3},
		{12, 112, 92, 4, 3, 1},
		{8, 10, 40, 2, 4, 2},
		{4, 400, 300, 3, 2, 1},
	} {
		img, err := Montage(t.Context(), mat.NewDense(test.height*test.width, test.k, nil), test.height, test.width, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := image.Pt(test.columns*(test.width*test.scale+montageGap)+montageGap, test.rows*(test.height*test.scale+montageGap)+montageGap)
		if got := img.Bounds().Size(); got != want {
			t.Errorf("%+v: size %v, want %v", test, got, want)
		}
	}
}

func TestMontageErrors(t *testing.T) {
	basis := mat.NewDense(12, 2, nil)
	for _, size := range [][3]int{{3, 5, 1}, {0, 12, 1}, {-3, -4, 1}, {12, 0, 1}, {3, 4, 3}, {2, 2, 1}, {3, 2, 2}, {3, 4, 0}} {
		if _, err := Montage(t.Context(), basis, size[0], size[1], size[2]); err == nil {
			t.Errorf("tiles of %v pixels and channels: no error", size)
		}
	}
	if _, err := Montage(t.Context(), &mat.Dense{}, 1, 1, 1); err == nil {
		t.Error("an empty matrix: no error")
	}
	if _, err := Montage(t.Context(), noColumns{}, 2, 2, 1); !errors.Is(err, ErrNoData) {
		t.Errorf("no columns: error %v, want %v", err, ErrNoData)
	}
}

// noColumns is a 4×0 matrix.
type noColumns struct{ mat.Matrix }

func (noColumns) Dims() (r, c int) { return 4, 0 }

func TestShadeExtremes(t *testing.T) {
	if got := shade(0, -math.MaxFloat64, math.MaxFloat64); got != 128 {
		t.Errorf("the middle of the largest range is %d, want 128", got)
	}
	if lo, hi := columnRange(mat.NewDense(2, 1, []float64{math.NaN(), math.Inf(1)}), 0); shade(math.NaN(), lo, hi) != 128 {
		t.Error("a tile without finite values should be mid grey")
	}
}

// A large averaged picture looks resampled.
func TestThumbnailOfLarge(t *testing.T) {
	large := image.NewRGBA(image.Rect(7, 3, 7+1213, 3+907))
	for y := range 907 {
		for x := range 1213 {
			large.SetRGBA(7+x, 3+y, color.RGBA{uint8(x * 255 / 1213), uint8(y * 255 / 907), uint8(128 + 100*math.Sin(float64(x+y)/60)), 0xff})
		}
	}
	got := Thumbnail(large, 100)
	want := image.NewRGBA(got.Rect)
	draw.CatmullRom.Scale(want, want.Rect, large, large.Rect, draw.Src, nil)
	if got.Rect.Dx() != 100 || got.Rect.Dy() != 75 {
		t.Fatalf("size %v", got.Rect)
	}
	for i, v := range want.Pix {
		if d := int(v) - int(got.Pix[i]); d < -6 || d > 6 {
			t.Fatalf("value %d is %d, want %d", i, got.Pix[i], v)
		}
	}
	// Transparent pixels are white, also if they are averaged.
	if c := Thumbnail(image.NewNRGBA(image.Rect(0, 0, 2000, 10)), 100).RGBAAt(50, 0); c != (color.RGBA{0xff, 0xff, 0xff, 0xff}) {
		t.Errorf("transparent pixels are drawn as %v, want white", c)
	}
}
