package report

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// fakeShown returns n photographs with marks of k parts for each method; photograph i uses part i mod k most.
func fakeShown(n, k int, methods ...string) *models.Illustrations {
	s := &models.Illustrations{}
	for i := range n {
		s.Photographs = append(s.Photographs, models.Photograph{Name: fmt.Sprintf("shore/IMG_%03d.jpg", i),
			With: opened(func() (image.Image, error) { return plain(90+10*(i%2), 70, color.Gray{uint8(100 + i)}), nil })})
	}
	for _, method := range methods {
		s.Parts = append(s.Parts, fakeParts(method, n, k))
	}
	return s
}

// opened passes the image of open to its argument.
func opened(open func() (image.Image, error)) func(func(image.Image) error) error {
	return func(do func(image.Image) error) error {
		img, err := open()
		if err != nil {
			return err
		}
		return do(img)
	}
}

func fakeParts(method string, n, k int) models.PartsShown {
	p := models.PartsShown{Method: method, Coefficients: mat.NewDense(n, k, nil)}
	for i := range n {
		for part := range k {
			p.Coefficients.Set(i, part, 1/(1+float64((n+part-i)%n)))
		}
		var marks []models.Patch
		for j := range 12 {
			marks = append(marks, models.Patch{X: float32(8 * j), Y: float32((i + 11*j) % 70), Side: 16, Part: j % k, Share: float64(j+1) / 12})
		}
		p.Patches = append(p.Patches, marks)
	}
	return p
}

// photographsPage writes parts and words, and returns a page with nothing else.
func photographsPage(t *testing.T, dir string, s *models.Illustrations) (v photographsView, text string, warnings []string, err error) {
	t.Helper()
	p := &page{folder: folder{dir, t.Context()}}
	err = guard.Try(func() {
		v = p.photographs(s, s.Parts, nil)
		for _, draw := range p.later {
			draw()
		}
		text = string(fillTemplate(readTemplate("photographs"), v))
	})
	return v, text, p.Warnings, err
}

func TestWritePatches(t *testing.T) {
	dir := t.TempDir()
	shown := fakeShown(20, 3, "d-snmf")
	fakeWords(shown, 3, 2)
	second := fakeParts("nmf kl", 20, 2)
	second.Coefficients.SetCol(1, make([]float64, 20))
	shown.Parts = append(shown.Parts, second)
	v, page, warnings, err := photographsPage(t, dir, shown)
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	files := tree(t, dir)
	golden(t, "patches.html", page)
	files["index.html"] = page
	sources(t, files)
	for _, name := range []string{"patches/d-snmf/examples.png", "patches/d-snmf/3.png", "patches/nmf-kl/1.png", "words/1.png"} {
		if _, ok := files[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	if _, ok := files["patches/nmf-kl/2.png"]; ok {
		t.Error("there is a picture of a part that is not used")
	}
	sizes := v.Words.Sheets
	for _, v := range v.Patches {
		sizes = append(sizes, v.Examples)
		for _, row := range v.Rows {
			if row.Picture != nil {
				sizes = append(sizes, row.Picture)
			}
		}
	}
	for _, p := range sizes {
		size := readPNG(t, filepath.Join(dir, filepath.FromSlash(p.Path))).Bounds().Size()
		if size != image.Pt(p.Width, p.Height) || p.Width > 1024 {
			t.Errorf("%s has size %v, the page says %d×%d", p.Path, size, p.Width, p.Height)
		}
	}
	again := t.TempDir()
	if _, _, _, err := photographsPage(t, again, shown); err != nil {
		t.Fatal(err)
	}
	for name, content := range tree(t, again) {
		if content != files[name] {
			t.Errorf("%s: the same photographs give other bytes", name)
		}
	}
}

// The row of a part has the photographs that use it most, with marks of that part only.
func TestPatchesUsers(t *testing.T) {
	uses := mat.NewDense(9, 2, nil)
	uses.SetCol(0, []float64{0.1, 0, 0.7, math.NaN(), 0.7, -3, 0.2, math.Inf(1), 0})
	uses.SetCol(1, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	if got, want := topPhotographs(uses, 0), []int{2, 4, 6, 0}; !slices.Equal(got, want) {
		t.Errorf("photographs %v use part 0 most, want %v", got, want)
	}
	if got, want := topPhotographs(uses, 1), []int{8, 7, 6, 5, 4}; !slices.Equal(got, want) {
		t.Errorf("photographs %v use part 1 most, want %v", got, want)
	}

	shown := fakeShown(3, 2, "nmf")
	for i := range 3 {
		shown.Photographs[i].With = opened(func() (image.Image, error) { return plain(40, 40, red), nil })
		shown.Parts[0].Patches[i] = []models.Patch{{X: 10, Y: 10, Side: 10, Part: 0, Share: 1}, {X: 30, Y: 30, Side: 10, Part: 1, Share: 1}}
	}
	photos, _ := loadPhotographs(t.Context(), shown, shown.Parts, counting(nil))
	for part, want := range []int{10, 30} {
		sheet, err := drawMarked(t.Context(), shown.Parts[0], photos, []int{1}, part)
		if err != nil {
			t.Fatal(err)
		}
		const gap = 10
		drawn := sheet.(*image.RGBA)
		times, seen := (drawn.Rect.Dx()-2*gap)/40, image.Rectangle{}
		for y := range drawn.Rect.Dy() {
			for x := range drawn.Rect.Dx() {
				if c := drawn.RGBAAt(x, y); c.R != c.G || c.G != c.B {
					seen = seen.Union(image.Rect(x-gap, y-gap, x-gap+1, y-gap+1))
				}
			}
		}
		if around := image.Rect(want-6, want-6, want+7, want+7); seen.Empty() || !seen.In(image.Rectangle{around.Min.Mul(times), around.Max.Mul(times)}) {
			t.Errorf("part %d is seen at %v, want %d, %d times as large", part, seen, want, times)
		}
	}
}

// TestWritePatchesMany: each photograph is loaded once, for all methods and words.
func TestWritePatchesMany(t *testing.T) {
	shown := fakeShown(20, maxPartRows+5, "nmf", "d-snmf")
	fakeWords(shown, 20, 2)
	var mu sync.Mutex
	loaded := map[int]int{}
	for i := range 20 {
		shown.Photographs[i].With = opened(func() (image.Image, error) {
			mu.Lock()
			defer mu.Unlock()
			loaded[i]++
			return plain(1, 1, red), nil
		})
	}
	v, _, _, err := photographsPage(t, t.TempDir(), shown)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if loaded[i] != 1 {
			t.Errorf("photograph %d was loaded %d times, want once", i, loaded[i])
		}
	}
	if v := v.Patches[0]; len(v.Rows) != maxPartRows || v.Left != "The first 100 of 105 parts are shown." {
		t.Errorf("%d rows, %q", len(v.Rows), v.Left)
	}
	if v := v.Patches[0]; len(v.Legend) != maxPartRows+5 || v.Legend[104] != (partView{Title: "105", Colour: figure.PartColour(104)}) {
		t.Errorf("legend %v", v.Legend)
	}
	if v, _, _, err := photographsPage(t, t.TempDir(), fakeShown(1, 1, "nmf")); err != nil || len(v.Patches[0].Rows) != 1 {
		t.Errorf("one part, one photograph: %+v, %v", v, err)
	}
	if v, text, _, err := photographsPage(t, t.TempDir(), &models.Illustrations{}); err != nil || v.Patches != nil || v.Words != nil || text != "" {
		t.Errorf("without parts and words: %v, %v", v, err)
	}
}

func TestWritePatchesFailing(t *testing.T) {
	shown := fakeShown(4, 2, "nmf", "d-snmf")
	shown.Photographs[1].With = opened(func() (image.Image, error) { return nil, errFailing })
	shown.Photographs[3].With = opened(func() (image.Image, error) { panic("a fault") })
	_, _, warnings, err := photographsPage(t, t.TempDir(), shown)
	want := "shore/IMG_001.jpg is not shown: disk full"
	if err != nil || len(warnings) != 2 || warnings[0] != want || !strings.Contains(warnings[1], "internal error: a fault") {
		t.Errorf("warnings %q, error %v, want %q once each", warnings, err, want)
	}
	shown.Photographs[0].With = opened(func() (image.Image, error) { return nil, fmt.Errorf("decoding: %w", context.Canceled) })
	if _, _, _, err := photographsPage(t, t.TempDir(), shown); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the context's", err)
	}
}

// fakeWords adds n words with some patches each.
func fakeWords(s *models.Illustrations, n, patches int) {
	s.TotalWords, s.Counted = n+5, 1000
	for i := range n {
		word := models.WordShown{Word: 3 * i, Count: 1 + 10*i}
		for j := range patches {
			word.Examples = append(word.Examples, models.Example{Photograph: i % len(s.Photographs), X: float32(10 + 9*i), Y: float32(10 + 3*j), Side: 16})
		}
		s.Words = append(s.Words, word)
	}
}

func TestWriteWords(t *testing.T) {
	dir := t.TempDir()
	shown := fakeShown(3, 0)
	fakeWords(shown, figure.MaxSheetWords+1, 1)
	v, _, _, err := photographsPage(t, dir, shown)
	if err != nil {
		t.Fatal(err)
	}
	sheets := v.Words.Sheets
	if files := tree(t, dir); len(files) != 2 || len(sheets) != 2 || sheets[1].Path != "words/2.png" || !strings.HasPrefix(sheets[1].Alt, "Patches of 1 visual word,") {
		t.Errorf("%d files, %+v", len(files), sheets)
	}
	for _, sheet := range sheets {
		if size := readPNG(t, filepath.Join(dir, filepath.FromSlash(sheet.Path))).Bounds().Size(); size != image.Pt(sheet.Width, sheet.Height) {
			t.Errorf("%s has size %v, the page says %d×%d", sheet.Path, size, sheet.Width, sheet.Height)
		}
	}
	if want := "The vocabulary has 48 words. They occur in 1000 patches. 43 words are shown."; v.Words.Lead != want {
		t.Errorf("got %q, want %q", v.Words.Lead, want)
	}
	shown.TotalWords, shown.Counted = len(shown.Words), 0
	if v, _, _, err = photographsPage(t, t.TempDir(), shown); err != nil || v.Words.Lead != "The vocabulary has 43 words." {
		t.Errorf("%q, %v", v.Words.Lead, err)
	}
	if _, _, _, err = photographsPage(t, filepath.Join(dir, "words", "1.png"), shown); err == nil || !strings.Contains(err.Error(), "1.png") {
		t.Errorf("error %v does not name the file in the way", err)
	}
}
