package figure

import (
	"image"
	"image/color"
	"strings"
	"testing"
)

func TestContactSheet(t *testing.T) {
	tiles := make([]Tile, 10)
	for i := range tiles {
		tiles[i] = Tile{Image: plain(400, 200, red)}
	}
	tiles[1].Border = blue
	tiles[9] = Tile{Image: plain(52, 52, red)}
	sheet := must(ContactSheet(t.Context(), tiles, SheetOptions{}))
	const (
		step   = SheetBox + 2*sheetBorder + sheetGap
		inside = sheetGap + sheetBorder
	)
	// Eight in a row; the first row is as high as wide pictures are.
	wide := SheetBox / 2
	second := sheetGap + wide + 2*sheetBorder + sheetGap
	if want := image.Pt(8*step+sheetGap, second+SheetBox+2*sheetBorder+sheetGap); sheet.Rect.Size() != want {
		t.Fatalf("size %v, want %v", sheet.Rect.Size(), want)
	}
	white := color.RGBA{255, 255, 255, 255}
	for _, test := range []struct {
		what string
		x, y int
		want color.RGBA
	}{
		{"first tile, top left", inside, inside, red},
		{"first tile, bottom right", inside + SheetBox - 1, inside + wide - 1, red},
		{"no border round the first", inside - 1, inside - 1, white},
		{"right of the first tile", inside + SheetBox, inside, white},
		{"below the first tile", inside, inside + wide, white},
		{"border of the second", step + sheetGap, sheetGap, blue},
		{"inside that border", step + inside, inside, red},
		{"border's other corner", step + inside + SheetBox + sheetBorder - 1, inside + wide + sheetBorder - 1, blue},
		{"the eighth", 7*step + inside, inside, red},
		{"the ninth, centred in its row", inside, second + sheetBorder + (SheetBox-wide)/2, red},
		{"above it", inside, second + sheetBorder + (SheetBox-wide)/2 - 1, white},
		{"the tenth, enlarged twice", step + inside, second + sheetBorder, red},
		{"its other corner", step + inside + 103, second + sheetBorder + 103, red},
		{"after the last", 2*step + inside, second + sheetBorder + 50, white},
	} {
		if got := sheet.RGBAAt(test.x, test.y); got != test.want {
			t.Errorf("%s: %v at (%d, %d), want %v", test.what, got, test.x, test.y, test.want)
		}
	}
}

func TestContactSheetWords(t *testing.T) {
	tile := Tile{Image: plain(10, 10, red)}
	bare := must(ContactSheet(t.Context(), []Tile{tile}, SheetOptions{})).Rect.Dy()
	captioned := tile
	captioned.Caption = "picture.jpg"
	for what, test := range map[string]struct {
		tiles []Tile
		opt   SheetOptions
		more  int
	}{
		"caption": {[]Tile{captioned}, SheetOptions{}, captionHeight},
		"title":   {[]Tile{tile}, SheetOptions{Title: "Group 1"}, titleHeight},
		"more":    {[]Tile{tile}, SheetOptions{Total: 2}, titleHeight},
		"no more": {[]Tile{tile}, SheetOptions{Total: 1}, 0},
	} {
		sheet := must(ContactSheet(t.Context(), test.tiles, test.opt))
		if got := sheet.Rect.Dy() - bare; got != test.more {
			t.Errorf("%s: %d pixels higher, want %d", what, got, test.more)
		}
		if grey := greys(sheet); (grey > 0) != (test.more > 0) {
			t.Errorf("%s: %d pixels of letters", what, grey)
		}
	}
	if sheet := must(ContactSheet(t.Context(), []Tile{tile}, SheetOptions{Title: strings.Repeat("wide ", 40)})); sheet.Rect.Dx() < 1000 {
		t.Errorf("the title is cut at %d pixels", sheet.Rect.Dx())
	}
}

// greys counts the pixels that are neither white nor red.
func greys(img *image.RGBA) int {
	n := 0
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			if c := img.RGBAAt(x, y); c.R == c.G && c.R < 250 {
				n++
			}
		}
	}
	return n
}

func TestContactSheetLimits(t *testing.T) {
	many := make([]Tile, MaxTiles+50)
	for i := range many {
		many[i].Image = plain(1, 1, red)
	}
	limited := must(ContactSheet(t.Context(), many, SheetOptions{})).Rect
	full := must(ContactSheet(t.Context(), many[:MaxTiles], SheetOptions{Total: len(many)})).Rect
	if limited != full {
		t.Errorf("size %v with too many tiles, want %v", limited, full)
	}
	for _, tiles := range [][]Tile{nil, {{}}, {{Image: image.NewRGBA(image.Rectangle{})}}, {{Image: plain(1, 5000, red)}}} {
		must(ContactSheet(t.Context(), tiles, SheetOptions{})) // must not panic
	}
}

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
