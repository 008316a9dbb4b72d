package features

import (
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// TestAddingAFeature checks that the code in docs/how-to/add-a-feature.md compiles, and that its Info makes an
// extractor with settings.
func TestAddingAFeature(t *testing.T) {
	code, err := os.ReadFile("added_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "how-to", "add-a-feature.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), string(code)) {
		t.Error("docs/how-to/add-a-feature.md shows another file than added_test.go")
	}
	info := Info{Name: "lbp", Title: "Local binary patterns", Images: "needs images and resizes them to 64×64 grey pixels", Zero: MyLBP{}}
	lbp, err := info.New(map[string]any{"cells": 2})
	if err != nil {
		t.Fatal(err)
	}
	if list := settings.List(info.Zero); len(list) != 1 || list[0].Default != "4" || !strings.HasSuffix(list[0].Range, "1 to 16") {
		t.Errorf("settings %+v", list)
	}
	if _, err := info.New(map[string]any{"cells": 17}); err == nil || !strings.Contains(err.Error(), "16") {
		t.Errorf("17 cells: %v", err)
	}
	img := waves(64, 64, 1)
	dark := image.NewGray16(img.Rect)
	for p := range 64 * 64 {
		dark.SetGray16(p%64, p/64, color.Gray16{Y: img.Gray16At(p%64, p/64).Y/2 + 100})
	}
	set := fileSet(t, img, dark, waves(64, 64, 2), nil)
	out := extract(t, lbp.(RowExtractor), set, Options{SkipBad: true, Normalise: NormNone})
	if n, m := out.X.Dims(); n != 3 || m != 4*256 || len(out.Skipped) != 1 || out.Height != 0 {
		t.Fatalf("%d×%d features, %d left out", n, m, len(out.Skipped))
	}
	rows := make([][]float64, 3)
	for i := range rows {
		rows[i] = make([]float64, 1024)
		for j := range rows[i] {
			rows[i][j] = out.X.At(i, j)
		}
	}
	if got := floats.Dot(rows[0], rows[0]); got < 62*62-1e-6 || got > 62*62+1e-6 {
		t.Errorf("%v patterns of 62×62 pixels", got)
	}
	// Halving rounds some neighbours to the same grey.
	same, other := floats.Dot(rows[0], rows[1]), floats.Dot(rows[0], rows[2])
	if same < 0.98*62*62 || other > same {
		t.Errorf("half the light: %v, another image: %v", same/62/62, other/62/62)
	}
}
