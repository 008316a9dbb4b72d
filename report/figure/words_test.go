package figure

import (
	"image"
	"image/color"
	"math"
	"testing"
)

// fakeWords returns n words with some patches each.
func fakeWords(n, patches int) []Word {
	words := make([]Word, n)
	for i := range words {
		words[i] = Word{Index: 3 * i, Count: 1 + 10*i}
		for j := range patches {
			words[i].Patches = append(words[i].Patches, CutPatch(hills(100, 80), float32(10+9*i), float32(10+3*j), 16))
		}
	}
	return words
}

func TestWordSheetGolden(t *testing.T) {
	words := fakeWords(9, 7)
	words[1].Patches[2] = nil
	words[2].Patches = nil
	words[3].Patches[0] = plain(16, 16, color.White)
	words[3].Patches[1] = plain(200, 100, red)
	words[3].Patches[2] = plain(1, 1, blue)
	goldenImage(t, "words.png", must(WordSheet(t.Context(), words)))
}

func TestWordSheet(t *testing.T) {
	full := must(WordSheet(t.Context(), fakeWords(MaxSheetWords, MaxWordPatches)))
	if full.Rect.Dx() > sheetWidth {
		t.Errorf("a sheet is %d pixels wide, want %d at most", full.Rect.Dx(), sheetWidth)
	}
	if more := must(WordSheet(t.Context(), fakeWords(MaxSheetWords+1, MaxWordPatches+1))); more.Rect != full.Rect {
		t.Errorf("with too many words the size is %v, want %v", more.Rect, full.Rect)
	}
	// A patch of 16×16 pixels is drawn at double size, each at its place.
	word := Word{Patches: []image.Image{plain(16, 16, red), plain(16, 16, blue), nil, plain(16, 16, red), plain(16, 16, blue)}}
	sheet := must(WordSheet(t.Context(), []Word{word}))
	left, top := wordGap, wordGap+wordHeading
	const step = patchBox + patchGap
	for at, want := range map[image.Point]color.RGBA{
		{0, 0}:                   red,
		{31, 31}:                 red,
		{32, 0}:                  color.RGBAModel.Convert(frameGrey).(color.RGBA),
		{step, 0}:                blue,
		{2*step + 1, 5}:          {255, 255, 255, 255},
		{3 * step, 31}:           red,
		{0, step}:                blue,
		{step + 5, step + 5}:     {255, 255, 255, 255},
		{3*step + 31, step - 2}:  color.RGBAModel.Convert(frameGrey).(color.RGBA),
		{3*step + 31, step - 30}: red,
	} {
		if got := sheet.RGBAAt(left+at.X, top+at.Y); got != want {
			t.Errorf("%v at %v, want %v", got, at, want)
		}
	}
	for _, words := range [][]Word{nil, {{}}, {{Patches: []image.Image{nil}}}, {{Patches: []image.Image{image.NewRGBA(image.Rectangle{})}}}} {
		must(WordSheet(t.Context(), words)) // must not panic
	}
}

func TestCutPatch(t *testing.T) {
	img := image.NewGray(image.Rect(-4, 7, -4+20, 7+10)) // 20×10, its corner elsewhere
	for y := range 10 {
		for x := range 20 {
			img.SetGray(-4+x, 7+y, color.Gray{uint8(10*y + x)})
		}
	}
	const white = 255
	for _, test := range []struct {
		x, y, side       float32
		size             int
		upperLeft, other uint8
	}{
		{7.5, 4.5, 4, 4, 36, 69},
		{8, 4, 3, 3, 37, 59},
		{1.5, 1.5, 4, 4, 0, 33},
		{0, 0, 3, 3, white, 11},
		{19, 9, 3, 3, 98, white},
		{3, 3, 0.2, 1, 33, 33},
		{3, 3, -5, 1, 33, 33},
		{-100, 3, 4, 4, white, white},
		{3, 1e30, 4, 4, white, white},
		{float32(math.NaN()), 3, 4, 4, white, white},
		{float32(math.Inf(-1)), 3, 4, 4, white, white},
		{3, 3, float32(math.NaN()), 1, 33, 33},
		{9.5, 9.5, 1e30, 20, 0, white},
	} {
		patch := CutPatch(img, test.x, test.y, test.side)
		size := patch.Bounds().Size()
		if size != image.Pt(test.size, test.size) {
			t.Errorf("%+v: size %v", test, size)
			continue
		}
		r, _, _, _ := patch.At(0, 0).RGBA()
		s, _, _, _ := patch.At(test.size-1, test.size-1).RGBA()
		if uint8(r>>8) != test.upperLeft || uint8(s>>8) != test.other {
			t.Errorf("%+v: corners %d and %d", test, r>>8, s>>8)
		}
	}
	if size := CutPatch(image.NewGray(image.Rectangle{}), 0, 0, 16).Bounds().Size(); size != image.Pt(1, 1) {
		t.Errorf("of nothing: size %v", size)
	}
}
