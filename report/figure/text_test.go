package figure

import (
	"image"
	"image/color"
	"testing"
)

// A fine chequerboard becomes even grey, not a pattern of chance.
func TestThumbnailAntialiased(t *testing.T) {
	board := image.NewGray(image.Rect(0, 0, 1001, 701))
	for i := range board.Pix {
		board.Pix[i] = uint8(255 * (i % 2))
	}
	small := must(Thumbnail(t.Context(), board, 100))
	if want := image.Rect(0, 0, 100, 70); small.Rect != want {
		t.Fatalf("size %v, want %v", small.Rect, want)
	}
	for y := 2; y < 68; y++ {
		for x := 2; x < 98; x++ {
			if v := small.RGBAAt(x, y).R; v < 110 || v > 145 {
				t.Fatalf("%d at (%d, %d), want about 128", v, x, y)
			}
		}
	}
}

func TestThumbnailTransparent(t *testing.T) {
	if got := must(Thumbnail(t.Context(), image.NewNRGBA(image.Rect(0, 0, 300, 300)), 100)).RGBAAt(50, 50); got != (color.RGBA{255, 255, 255, 255}) {
		t.Errorf("nothing on white is %v", got)
	}
}

// Digits do not run into each other.
func TestSheetFaceSpacing(t *testing.T) {
	face := sheetFace(10)
	if one, four := textWidth(face, "1"), textWidth(face, "1111"); four < 4*one-3 {
		t.Errorf("1111 is %d pixels wide, and 1 is %d", four, one)
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct {
		name string
		room int
		want string
	}{
		{"short.jpg", 9, "short.jpg"},
		{"IMG_20240131_holiday.jpg", 12, "IMG_2…ay.jpg"},
		{"ÄÖÜäöüß", 4, "Ä…üß"},
		{"abc", 2, "…c"},
		{"abc", 0, ""},
	} {
		if got := shorten(test.name, func(s string) bool { return len([]rune(s)) <= test.room }); got != test.want {
			t.Errorf("%s in %d letters is %q, want %q", test.name, test.room, got, test.want)
		}
	}
}
