package report

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// fakePatches are n photographs with marks of k parts, of which photograph i
// uses part i mod k most.
func fakePatches(n, k int) Patches {
	p := Patches{Method: "d-snmf", Uses: mat.NewDense(n, k, nil)}
	for i := range n {
		p.Names = append(p.Names, fmt.Sprintf("shore/IMG_%03d.jpg", i))
		for part := range k {
			p.Uses.(*mat.Dense).Set(i, part, 1/(1+float64((n+part-i)%n)))
		}
	}
	p.Load = func(i int) (image.Image, []pipeline.Patch, error) {
		return hills(90+10*(i%2), 70), scattered(uint64(i), 12, k, 100, 70), nil
	}
	return p
}

// patchesPage is a page with nothing but the sections of patches and words.
func patchesPage(t *testing.T, patches []patchesView, words *wordsView) string {
	t.Helper()
	var b strings.Builder
	if err := stored("photographs")().Execute(&b, photographsView{Patches: patches, Words: words}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWritePatches(t *testing.T) {
	dir := t.TempDir()
	first, second := fakePatches(20, 3), fakePatches(4, 2)
	second.Method = "nmf kl"
	second.Uses.(*mat.Dense).SetCol(1, make([]float64, 4))
	views, warnings, err := writePatches(folder{dir, t.Context()}, []Patches{first, second})
	if err != nil {
		t.Fatal(err)
	}
	if warnings != nil {
		t.Errorf("warnings %q", warnings)
	}
	words, err := writeWords(folder{dir, t.Context()}, fakeWords(3, 2))
	if err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	page := patchesPage(t, views, words)
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
	goldenImage(t, "patches-examples.png", readPNG(t, filepath.Join(dir, "patches", "nmf-kl", "examples.png")))
	goldenImage(t, "patches-row.png", readPNG(t, filepath.Join(dir, "patches", "d-snmf", "2.png")))
	for _, v := range views {
		sizes := []*picture{v.Examples}
		for _, row := range v.Rows {
			sizes = append(sizes, row.Picture)
		}
		for _, p := range sizes {
			if p == nil {
				continue
			}
			size := readPNG(t, filepath.Join(dir, filepath.FromSlash(p.Path))).Bounds().Size()
			if size != image.Pt(p.Width, p.Height) || p.Width > 1024 {
				t.Errorf("%s has size %v, the page says %d×%d", p.Path, size, p.Width, p.Height)
			}
		}
	}

	again := t.TempDir()
	if _, _, err := writePatches(folder{again, t.Context()}, []Patches{first, second}); err != nil {
		t.Fatal(err)
	}
	for name, content := range tree(t, again) {
		if content != files[name] {
			t.Errorf("%s: the same photographs give other bytes", name)
		}
	}
}

// The row of a part has those photographs that use it most, and their marks of
// that part only.
func TestPatchesUsers(t *testing.T) {
	uses := mat.NewDense(9, 2, nil)
	uses.SetCol(0, []float64{0.1, 0, 0.7, math.NaN(), 0.7, -3, 0.2, math.Inf(1), 0})
	uses.SetCol(1, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	p := Patches{Uses: uses}
	if got, want := p.users(0), []int{2, 4, 6, 0}; !slices.Equal(got, want) {
		t.Errorf("photographs %v use part 0 most, want %v", got, want)
	}
	if got, want := p.users(1), []int{8, 7, 6, 5, 4}; !slices.Equal(got, want) {
		t.Errorf("photographs %v use part 1 most, want %v", got, want)
	}

	p = fakePatches(3, 2)
	p.Load = func(int) (image.Image, []pipeline.Patch, error) {
		return plain(40, 40, red), []pipeline.Patch{{X: 10, Y: 10, Side: 10, Part: 0, Share: 1}, {X: 30, Y: 30, Side: 10, Part: 1, Share: 1}}, nil
	}
	for part, want := range []int{10, 30} {
		loaded, _, err := p.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tiles, err := p.tiles(t.Context(), loaded, []int{1}, part)
		if err != nil {
			t.Fatal(err)
		}
		found := tinted(tiles[0].Drawing)
		times := tiles[0].Drawing.Rect.Dx() / 40
		if len(found) == 0 {
			t.Errorf("part %d is not seen", part)
		}
		for at := range found {
			if d := at.Div(times).Sub(image.Pt(want, want)); max(d.X, -d.X, d.Y, -d.Y) > 6 {
				t.Fatalf("part %d is seen at %v", part, at.Div(times))
			}
		}
	}
}

func TestWritePatchesMany(t *testing.T) {
	p := fakePatches(50, maxPartRows+5)
	var mu sync.Mutex
	loaded := map[int]int{}
	load := p.Load
	p.Load = func(i int) (image.Image, []pipeline.Patch, error) {
		mu.Lock()
		loaded[i]++
		mu.Unlock()
		_, marks, err := load(i)
		return plain(1, 1, red), marks, err
	}
	views, _, err := writePatches(folder{t.TempDir(), t.Context()}, []Patches{p})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if loaded[i] != 1 {
			t.Errorf("photograph %d was loaded %d times, want once", i, loaded[i])
		}
	}
	if v := views[0]; len(v.Rows) != maxPartRows || v.Left != "The first 100 of 105 parts are shown." {
		t.Errorf("%d rows, %q", len(v.Rows), v.Left)
	}
	if v := views[0].Examples; v.Width > 1024 {
		t.Errorf("the legend of many parts is %d pixels wide", v.Width)
	}

	// One part, one photograph, and a legend of 60 beside one small tile.
	for _, size := range [][2]int{{1, 1}, {1, 60}} {
		if views, _, err = writePatches(folder{t.TempDir(), t.Context()}, []Patches{fakePatches(size[0], size[1])}); err != nil {
			t.Fatal(err)
		}
		if len(views[0].Rows) != size[1] {
			t.Errorf("%d rows, want %d", len(views[0].Rows), size[1])
		}
		if size[1] == 60 && views[0].Examples.Width < 1000 {
			t.Errorf("the legend of %d parts is cut off at %d pixels", size[1], views[0].Examples.Width)
		}
	}
	if views, _, err = writePatches(folder{t.TempDir(), t.Context()}, nil); err != nil || views != nil || patchesPage(t, views, nil) != "" {
		t.Errorf("nothing at all: %v, %v", views, err)
	}
}

func TestWritePatchesFailing(t *testing.T) {
	p := fakePatches(4, 2)
	load := p.Load
	p.Load = func(i int) (image.Image, []pipeline.Patch, error) {
		switch i {
		case 1:
			return nil, nil, errFailing
		case 2:
			return nil, nil, nil
		}
		return load(i)
	}
	_, warnings, err := writePatches(folder{t.TempDir(), t.Context()}, []Patches{p})
	want := []string{"shore/IMG_001.jpg is not shown: disk full", "shore/IMG_002.jpg is not shown: there is no picture"}
	if err != nil || !slices.Equal(warnings, want) {
		t.Errorf("warnings %q, error %v, want %q once each", warnings, err, want)
	}

	p.Load = func(int) (image.Image, []pipeline.Patch, error) {
		return nil, nil, fmt.Errorf("decoding: %w", context.Canceled)
	}
	if _, _, err := writePatches(folder{t.TempDir(), t.Context()}, []Patches{p}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// fakeWords are n words of which each has some patches.
func fakeWords(n, patches int) Words {
	w := Words{Total: n + 5, Patches: 1000}
	for i := range n {
		word := figure.Word{Index: 3 * i, Count: 1 + 10*i}
		for j := range patches {
			word.Patches = append(word.Patches, figure.CutPatch(hills(100, 80), float32(10+9*i), float32(10+3*j), 16))
		}
		w.Words = append(w.Words, word)
	}
	return w
}

func TestWriteWords(t *testing.T) {
	dir := t.TempDir()
	w := fakeWords(figure.MaxSheetWords+1, 1)
	v, err := writeWords(folder{dir, t.Context()}, w)
	if err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	if len(files) != 2 || len(v.Sheets) != 2 || v.Sheets[1].Path != "words/2.png" || !strings.HasPrefix(v.Sheets[1].Alt, "Patches of 1 visual word,") {
		t.Errorf("%d files, %+v", len(files), v.Sheets)
	}
	for _, sheet := range v.Sheets {
		if size := readPNG(t, filepath.Join(dir, filepath.FromSlash(sheet.Path))).Bounds().Size(); size != image.Pt(sheet.Width, sheet.Height) {
			t.Errorf("%s has size %v, the page says %d×%d", sheet.Path, size, sheet.Width, sheet.Height)
		}
	}
	if want := "The vocabulary has 48 words. Together they stand for 1000 patches. 43 are shown."; v.Lead != want {
		t.Errorf("%q, want %q", v.Lead, want)
	}
	w.Total, w.Patches = len(w.Words), 0
	if v, err = writeWords(folder{t.TempDir(), t.Context()}, w); err != nil || v.Lead != "The vocabulary has 43 words." {
		t.Errorf("%q, %v", v.Lead, err)
	}
	if v, err = writeWords(folder{t.TempDir(), t.Context()}, Words{}); err != nil || v.Sheets != nil {
		t.Errorf("nothing at all: %+v, %v", v, err)
	}
	patchesPage(t, nil, v)
	if _, err = writeWords(folder{filepath.Join(dir, "words", "1.png"), t.Context()}, w); err == nil || !strings.Contains(err.Error(), "1.png") {
		t.Errorf("error %v does not name the file in the way", err)
	}
}
