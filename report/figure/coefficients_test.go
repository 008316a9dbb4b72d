package figure

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestCoefficientPicture(t *testing.T) {
	c := inClasses(60, 3)
	picture, err := CoefficientPicture(t.Context(), c, threeClasses)
	if err != nil {
		t.Fatal(err)
	}
	img := picture.(*image.RGBA)
	side, top := 600, img.Rect.Dy()-601
	left := img.Rect.Dx() - side - 1
	grey := func(x, y int) int { return int(img.RGBAAt(left+x, y).R) }
	// Samples of one class are near each other, samples of two classes far, and the diagonal is 0.
	for i := range 3 {
		for j := range 3 {
			shade := grey(200*i+105, top+200*j+145)
			if same := i == j; same != (shade < 100) {
				t.Errorf("classes %d and %d: shade %d", i, j, shade)
			}
			above := grey(200*i+105, (top-coefficientGap)*(2*j+1)/6)
			if same := i == j; same != (above > 120) {
				t.Errorf("class %d, part %d: shade %d", i, j, above)
			}
		}
	}
	for i := range 60 {
		if shade := grey(10*i+5, top+10*i+5); shade != 0 {
			t.Errorf("sample %d is not at itself: %d", i, shade)
		}
	}
	if got := color.RGBAModel.Convert(img.At(left+200, top+300)); got != rgba(1) {
		t.Errorf("no line between classes, but %v", got)
	}
	names := 0
	for y := top; y < img.Rect.Max.Y; y++ {
		for x := range left - markLength - 2 {
			if img.RGBAAt(x, y).R < 100 {
				names++
			}
		}
	}
	if names < 100 {
		t.Error("no names")
	}
}

func TestCoefficientSizes(t *testing.T) {
	for samples, side := range map[int]int{50: 600, 301: 301, 600: 600, 5000: 600} {
		names := make([]string, 40)
		for i := range names {
			names[i] = strings.Repeat("long ", 10)
		}
		picture, err := CoefficientPicture(t.Context(), inClasses(samples, 40), names)
		if err != nil {
			t.Fatal(err)
		}
		size := picture.Bounds().Size()
		if size.X < side || size.X > side+coefficientNames+20 || size.Y < side || size.Y > side+coefficientBand+20 {
			t.Errorf("%d samples: got %v, want a side of %d", samples, size, side)
		}
		if samples > 100 {
			continue
		}
		var once, twice bytes.Buffer
		if err := png.Encode(&once, picture); err != nil {
			t.Fatal(err)
		}
		again, err := CoefficientPicture(t.Context(), inClasses(samples, 40), names)
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(&twice, again); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Error("the same coefficients give other bytes")
		}
	}
}

// TestPartsByClass: parts are sorted by the classes that use them, whatever the classes' sizes.
func TestPartsByClass(t *testing.T) {
	c := Coefficients{Values: mat.NewDense(5, 3, []float64{
		1, 0, 5,
		1, 0, 0,
		1, 0, 0,
		2, 1, 0,
		0, 0, 9,
	}), Classes: []int{0, 0, 0, 1, 2}}
	if got := byClass(c); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("order %v", got)
	}
	c.Classes = []int{2, 2, 2, 1, 0}
	if got := byClass(c); !slices.Equal(got, []int{2, 0, 1}) {
		t.Errorf("order %v", got)
	}
}

func TestPercentiles(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[i] = float64(i)
	}
	values[0] = 1e9
	if lo, hi := percentiles(mat.NewDense(100, 2, values)); lo != 0 || hi < 195 || hi > 199 {
		t.Errorf("%v to %v", lo, hi)
	}
	values[0] = -1e9
	if lo, hi := percentiles(mat.NewDense(100, 2, values)); lo < 0 || lo > 5 || hi < 195 {
		t.Errorf("with a negative value %v to %v", lo, hi)
	}
	if lo, hi := percentiles(mat.NewDense(1, 300, append(make([]float64, 299), 2))); lo != 0 || hi != 2 {
		t.Errorf("nearly all zero: %v to %v", lo, hi)
	}
}

// TestFewCoefficients: equal samples, and a single one, can be drawn.
func TestFewCoefficients(t *testing.T) {
	for _, n := range []int{1, 20} {
		if _, err := CoefficientPicture(t.Context(), Coefficients{Values: mat.NewDense(n, 2, nil), Classes: make([]int, n)}, threeClasses); err != nil {
			t.Error(err)
		}
	}
}

// TestCoefficientPictureStopped: the slow distances end with the context.
func TestCoefficientPictureStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := CoefficientPicture(ctx, inClasses(9, 3), threeClasses); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
