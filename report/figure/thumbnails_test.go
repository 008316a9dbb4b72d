package figure

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// TestGrid: cells of photographs align with JPEG blocks, tiny pictures keep their size, and sheets are limited.
func TestGrid(t *testing.T) {
	for _, test := range []struct {
		side int
		want Grid
	}{
		{28, Grid{28, 32, 32, true}},
		{1, Grid{1, 32, 32, true}},
		{64, Grid{64, 32, 16, true}},
		{65, Grid{80, 25, 12, false}},
		{4000, Grid{PhotographCell, 16, 8, false}},
		{0, Grid{1, 32, 32, true}},
	} {
		got := NewGrid(test.side)
		if got != test.want {
			t.Errorf("side %d: got %+v, want %+v", test.side, got, test.want)
		}
		if !got.Lossless && got.Cell%16 != 0 || got.Columns*got.Cell > contactWidth || got.Rows*got.Cell > contactHeight {
			t.Errorf("side %d: %+v", test.side, got)
		}
	}
}

// TestSheet: thumbnails are in their cells, in colour or grey, exact on lossless sheets and nearly exact on others, up
// to the edges.
func TestSheet(t *testing.T) {
	grey := color.RGBA{90, 90, 90, 255}
	for _, test := range []struct {
		side   int
		colour color.RGBA
		off    int
	}{{20, red, 0}, {20, grey, 0}, {500, red, 6}, {500, grey, 2}} {
		g := NewGrid(test.side)
		n := g.Columns + 3
		sheet := make([]*image.RGBA, n)
		small := Small(plain(test.side, test.side/2, test.colour), g.Cell)
		other := Small(plain(test.side, test.side, color.White), g.Cell)
		for i := range n {
			if sheet[i] = other; i == g.Columns+1 {
				sheet[i] = small
			}
		}
		sheet = append(sheet, image.NewRGBA(image.Rectangle{}), nil) // left out
		text := must(g.Encode(sheet))
		img, format, err := image.Decode(bytes.NewReader(text))
		if err != nil || format != map[bool]string{true: "png", false: "jpeg"}[g.Lossless] {
			t.Fatalf("side %d: a sheet of format %q: %v", test.side, format, err)
		}
		if _, isGrey := img.(*image.Gray); isGrey != (test.colour == grey) {
			t.Errorf("side %d, %v: the sheet is %T", test.side, test.colour, img)
		}
		if want := image.Rect(0, 0, g.Columns*g.Cell, 2*g.Cell); img.Bounds() != want {
			t.Errorf("side %d: size %v, want %v", test.side, img.Bounds(), want)
		}
		near := func(x, y int, want color.Color) {
			t.Helper()
			r, gr, b, _ := img.At(x, y).RGBA()
			wr, wg, wb, _ := want.RGBA()
			for _, d := range []int{int(r) - int(wr), int(gr) - int(wg), int(b) - int(wb)} {
				if d/257 > test.off || d/257 < -test.off {
					t.Errorf("side %d: %v at (%d, %d), want %v", test.side, img.At(x, y), x, y, want)
					return
				}
			}
		}
		size := small.Bounds().Size()
		near(g.Cell, g.Cell, test.colour)
		near(g.Cell+size.X-1, g.Cell+size.Y-1, test.colour)
		near(g.Cell+size.X-1, 2*g.Cell-1, test.colour) // filled
		near(g.Cell-1, g.Cell, color.White)
		near(2*g.Cell, g.Cell, color.White)
		near(g.Cell, g.Cell-1, color.White)
	}
}

// TestSheetOfGreysAndColours: grey thumbnails stay grey beside colours, in any order.
func TestSheetOfGreysAndColours(t *testing.T) {
	g := NewGrid(20)
	grey, colour := Small(plain(20, 20, color.Gray{90}), g.Cell), Small(plain(20, 20, red), g.Cell)
	for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} {
		var sheet []*image.RGBA
		for _, i := range order {
			sheet = append(sheet, []*image.RGBA{grey, colour, grey}[i])
		}
		img := must(png.Decode(bytes.NewReader(must(g.Encode(sheet)))))
		for at, i := range order {
			want := []color.RGBA{{90, 90, 90, 255}, red, {90, 90, 90, 255}}[i]
			if got := color.RGBAModel.Convert(img.At(g.Cell*at+7, 7)); got != want {
				t.Errorf("in the order %v picture %d is %v, want %v", order, i, got, want)
			}
		}
	}
}

// TestReduced: pictures that fit are unchanged.
func TestReduced(t *testing.T) {
	for _, size := range [][4]int{{100, 50, 100, 50}, {128, 1, 128, 1}, {400, 100, 128, 32}, {1, 5000, 1, 128}, {0, 0, 0, 0}} {
		got := Small(plain(size[0], size[1], red), 128).Bounds().Size()
		if want := image.Pt(size[2], size[3]); got != want {
			t.Errorf("%v became %v, want %v", size, got, want)
		}
	}
}

// A fine chequerboard becomes even grey without aliasing.
func TestThumbnailAntialiased(t *testing.T) {
	board := image.NewGray(image.Rect(0, 0, 1001, 701))
	for i := range board.Pix {
		board.Pix[i] = uint8(255 * (i % 2))
	}
	small := Thumbnail(board, 100)
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
	if got := Thumbnail(image.NewNRGBA(image.Rect(0, 0, 300, 300)), 100).RGBAAt(50, 50); got != (color.RGBA{255, 255, 255, 255}) {
		t.Errorf("a transparent picture is drawn as %v, want white", got)
	}
}

// Digits do not touch.
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
