package report

import (
	"image"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/report/figure"
)

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
