package main

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExploreText: a description finds the photos with similar features.
func TestExploreText(t *testing.T) {
	models, err := filepath.Abs("../../internal/textsearch/testdata")
	if err != nil {
		t.Fatal(err)
	}
	workplace(t)
	if err := os.Mkdir("coloured", 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		img := image.NewNRGBA(image.Rect(0, 0, 8, 8))
		shade := [3]uint8{50, 50, 50}
		shade[i%3] = uint8(250 - i)
		draw.Draw(img, img.Rect, image.NewUniform(color.NRGBA{shade[0], shade[1], shade[2], 255}), image.Point{}, draw.Src)
		f, err := os.Create(fmt.Sprintf("coloured/%02d.png", i))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, img); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	encoder := filepath.Join(models, "text.onnx")
	must(t, "cluster", "coloured", "-k", "3", "--features", "network={file: '"+filepath.Join(models, "image.onnx")+"', mean: 0, scale: 255}", "--out", "groups")
	before := read(t, "groups", "index.html")
	if strings.Contains(read(t, "groups", "page", "data.js"), `"search"`) {
		t.Error("the page without a server has a search by description")
	}
	address, finish := exploring(t, "groups", "--text", encoder)
	for text, want := range map[string][]int{"a RED house": {0, 3, 6, 9}, "green": {1, 4, 7, 10}, "the blue's": {2, 5, 8, 11}} {
		res, err := http.Get(address + "search?text=" + url.QueryEscape(text))
		if err != nil {
			t.Fatal(err)
		}
		var found struct{ Rows []int }
		err = json.NewDecoder(res.Body).Decode(&found)
		res.Body.Close()
		if err != nil || len(found.Rows) != 12 || fmt.Sprint(found.Rows[:4]) != fmt.Sprint(want) {
			t.Errorf("%s: %v, %v, want %v first", text, found.Rows, err, want)
		}
	}
	if said := finish(); !strings.Contains(said, "No corrections") || read(t, "groups", "index.html") != before {
		t.Errorf("the search changed the results: %q", said)
	}
	must(t, "cluster", "coloured", "-k", "3", "--features", "pixels=8", "--out", "pixels")
	for _, c := range [][3]string{
		{"pixels", encoder, "expected the features of an ONNX model alone"},
		{"groups", "no.onnx", "tokenizer.json"},
		{"groups", filepath.Join(models, "image.onnx"), "expected the input input_ids"},
	} {
		if code, _, stderr := partwise("explore", c[0], "--no-browser", "--text", c[1]); code == exitDone || !strings.Contains(stderr, c[2]) {
			t.Errorf("explore %s --text %s: exit code %d, said %q", c[0], c[1], code, stderr)
		}
	}
}
