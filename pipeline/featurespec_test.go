package pipeline

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

func TestFeatures(t *testing.T) {
	pixels := func(height, width int, colour bool) Features {
		return Features{Extractor: features.Pixels{Size: features.Size{Height: height, Width: width}, Colour: colour}}
	}
	for _, test := range []struct {
		text  string
		want  Features
		words string
	}{
		{"{}", pixels(0, 0, false), "32×32 pixels, or the set's own, normalised by l2"},
		{"{pixels: 24x32}", pixels(24, 32, false), "24×32 pixels, normalised by l2"},
		{"{colour: true}", pixels(0, 0, true), "32×32 pixels in colour, or the set's own, normalised by l2"},
		{"{pixels: 16, colour: true, crop: square}", Features{Extractor: features.Pixels{Size: features.Size{Height: 16, Width: 16}, Colour: true}, Crop: Crop{Square: true}}, "16×16 pixels in colour, the middle square, normalised by l2"},
		{"{pixels: 16, colour: false, hog: false, normalise: none}", Features{Extractor: features.Pixels{Size: features.Size{Height: 16, Width: 16}}, Normalise: features.NormNone}, "16×16 pixels, normalised by none"},
		{"{crop: {box: [1, 2, 3, 4]}, normalise: max}", Features{Extractor: features.Pixels{}, Crop: Crop{Box: []int{1, 2, 3, 4}}, Normalise: features.NormMax}, "32×32 pixels, or the set's own, the box [1 2 3 4], normalised by max"},
		{"{pixels: 32, crop: {eyes: a.csv}}", Features{Extractor: features.Pixels{Size: features.Size{Height: 32, Width: 32}}, Crop: Crop{Eyes: "a.csv"}}, "32×32 pixels, aligned by the eyes, normalised by l2"},
		{"{hog: true, crop: square}", Features{Extractor: features.HOG{}, Crop: Crop{Square: true}}, "histograms of oriented gradients of 32×32 pixels, the middle square, normalised by l2"},
		{"{hog: true, power: 0.5}", Features{Extractor: features.HOG{}, Power: 0.5}, "histograms of oriented gradients of 32×32 pixels, to the power of 0.5, normalised by l2"},
		{"{hog: {}}", Features{Extractor: features.HOG{}}, "histograms of oriented gradients of 32×32 pixels, normalised by l2"},
		{"{colour: hsv}", Features{Extractor: features.ColourHistogram{}}, "histograms of 8 hues, 3 saturations and 3 values in 1×1 cells, normalised by l2"},
		{"{grid: 2x3, colour: hsv, hues: 16, normalise: l1}", Features{Extractor: features.ColourHistogram{Grid: features.Cells{Rows: 2, Columns: 3}, Hues: 16}, Normalise: features.NormL1},
			"histograms of 16 hues, 3 saturations and 3 values in 2×3 cells, normalised by l1"},
		{"{network: lite0}", Features{Extractor: features.Network{}}, "features of the network lite0, normalised by l2"},
		{"{network: lite0, layer: map, places: true, crop: square}", Features{Extractor: features.Network{Layer: "map", Places: true}, Crop: Crop{Square: true}},
			"features of the network lite0, layer map, at each place, the middle square, normalised by l2"},
		{"{network: {file: a/b.onnx, layer: pool5, size: 160, mean: [1, 0, 3], scale: 58, order: bgr}, crop: whole}",
			Features{Extractor: features.Network{File: "a/b.onnx", Layer: "pool5", Size: 160, Mean: []float64{1, 0, 3}, Scale: []float64{58}, Order: "bgr"}, Crop: Crop{Whole: true}},
			"features of the network b.onnx, layer pool5, of 160×160 pixels, the whole, normalised by l2"},
		{"{colour: {at: hsv, values: 5}}", Features{Extractor: features.ColourHistogram{Values: 5}}, "histograms of 8 hues, 3 saturations and 5 values in 1×1 cells, normalised by l2"},
	} {
		// What was said before is replaced, but for what is not of the file.
		e := &Experiment{Features: Features{Extractor: features.HOG{}, Crop: Crop{Square: true}, Words: Words{IDF: true}, SkipBad: true}}
		if err := Set(e, "features", test.text); err != nil {
			t.Error(err)
			continue
		}
		test.want.SkipBad = true
		if diff := cmp.Diff(test.want, e.Features); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
		if got := e.Features.String(); got != test.words {
			t.Errorf("%s is %q in words, want %q", test.text, got, test.words)
		}
	}
	for text, want := range map[string]string{
		"{colour: maybe}":              "want true or false",
		"{colour: [true]}":             "want true or false",
		"{color: true}":                `unknown key "color"`,
		"{pixels: 0}":                  `"0" is no size`,
		"{crop: round}":                "want square, whole, {box",
		"{crop: {eyes: []}}":           "want a name",
		"{crop: {box: [1, 2]}}":        "want the pixels [x0, y0, x1, y1]",
		"{crop: {box: [3, 2, 3, 9]}}":  "holds no pixels",
		"{crop: {box: [-3, 2, 3, 9]}}": "holds no pixels",
		"{colour: hsl}":                "true or false, or hsv",
		"{colour: hsv, pixels: 8}":     "pixels does not go with colour, which takes 64×64 colours",
		"{colour: hsv, hog: true}":     "hog does not go with colour",
		"{colour: hsv, sift: dense}":   "sift does not go with colour",
		"{colour: hsv, words: 9}":      "words is for visual words",
		"{colour: hsv, grid: 2}":       `"2" is no grid`,
		"{colour: hsv, hues: 0}":       "from 1 to 360",
		"{pixels: 8, power: 0}":        "a number above 0 to 1",
		"{pixels: 8, hues: 9}":         `unknown key "hues"`,
		"{hog: {cells: 3}}":            `unknown key "cells"`,
		"{crop: {circle: 3}}":          `unknown key "circle"`,
		"{normalise: [l1]}":            "want a name",
		"{pixels: 8, pixels: 16}":      "",
		"surf":                         `want a feature (pixels, hog, colour, network, sift`,
	} {
		if err := Set((&Experiment{}), "features", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

// paint writes a folder of noisy pictures of two classes that differ in colour
// and have the same grey, and returns its path.
func paint(t *testing.T) string {
	t.Helper()
	src := rand.New(rand.NewPCG(1, 1))
	dir := t.TempDir()
	for class, base := range map[string]color.RGBA{"brick": {180, 60, 60, 255}, "grass": {60, 121, 60, 255}} {
		if err := os.Mkdir(filepath.Join(dir, class), 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			img := image.NewRGBA(image.Rect(0, 0, 9, 12))
			for p := range 9 * 12 {
				noise := uint8(src.IntN(60))
				img.SetRGBA(p%9, p/9, color.RGBA{base.R + noise, base.G + noise, base.B + noise, 255})
			}
			f, err := os.Create(filepath.Join(dir, class, fmt.Sprint(i, ".png")))
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(png.Encode(f, img), f.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// TestColour: an experiment in colour tells apart what grey cannot, also by the
// methods that see samples as images, and its summary says what the bases are.
func TestColour(t *testing.T) {
	set := paint(t)
	const text = `{name: x, methods: [nmf, ntf], repeats: 1, features: {pixels: 6x5, colour: true}}`
	p := newPlan(t, text, set)
	if n, m := p.Inputs.X.Dims(); n != 16 || m != 90 || p.Inputs.Channels != 3 || p.Inputs.Height != 6 || p.Inputs.Width != 5 {
		t.Fatalf("%d×%d inputs, images of %d×%d×%d", n, m, p.Inputs.Channels, p.Inputs.Height, p.Inputs.Width)
	}
	to := newKept()
	records, err := p.Run(context.Background(), to, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Scores["AC"] != 1 {
			t.Errorf("%s in colour: AC %v", r.Method, r.Scores["AC"])
		}
	}
	grey, err := newPlan(t, strings.Replace(text, ", colour: true", "", 1), set).Run(context.Background(), nil, RunOptions{})
	if err != nil || grey[0].Scores["AC"] == 1 || grey[0].Trial == records[0].Trial {
		t.Errorf("grey: %v, AC %v of trial %s", err, grey[0].Scores["AC"], grey[0].Trial)
	}

	found, err := Groups{Method: Method{Name: "ntf"}}.Find(context.Background(), p.Inputs, nil)
	if err != nil || found.Scores["AC"] != 1 {
		t.Errorf("groups: %v, scores %v", err, found.Scores)
	}

	s := p.Summary()
	if s.Channels != 3 {
		t.Fatalf("summary of %d channels", s.Channels)
	}
	if m, _ := to.models(p)[0].Vectors().Dims(); m != s.Channels*s.Height*s.Width {
		t.Errorf("basis vectors of %d values for %d images of %d×%d", m, s.Channels, s.Height, s.Width)
	}
}

// TestColourHistograms: they tell apart what grey cannot, and are found in the cache by
// the next run, which they are the same for.
func TestColourHistograms(t *testing.T) {
	set, store := paint(t), open(t, t.TempDir())
	const text = "{name: x, methods: [kmeans], features: {colour: hsv, grid: 2x2}}"
	in := prepare(t, text, set, PrepareOptions{Cache: store})
	if n, m := in.Dims(); n != 16 || m != 4*72 || in.Height != 0 {
		t.Fatalf("%d×%d features of height %d", n, m, in.Height)
	}
	groups, err := Groups{Method: Method{Name: "kmeans"}, Seed: 1}.Find(t.Context(), in, nil)
	if err != nil || groups.Scores["AC"] != 1 {
		t.Errorf("groups: %v, scores %v", err, groups.Scores)
	}
	if usage, err := store.Usage(); err != nil || usage.Entries != 16 {
		t.Errorf("the cache holds %+v, %v, want a row of each of 16 images", usage, err)
	}
	if again := prepare(t, text, set, PrepareOptions{Cache: store}); !mat.Equal(again.X, in.X) {
		t.Error("the next run has other features")
	}
	if _, err := Prepare(t.Context(), &Experiment{Data: Data{Set: testkit.CSV(t, 3, 3)}, Features: in.Features}, PrepareOptions{}); err == nil || !strings.Contains(err.Error(), "are no images, and colour takes 64×64 colours") {
		t.Errorf("colours of vectors: %v", err)
	}
	if err := (Method{Name: "ntf"}).checkFeatures(in.Features); err == nil || !strings.Contains(err.Error(), "is for images") {
		t.Errorf("images of rank one of histograms: %v", err)
	}
}

// TestFeaturesOfSets: what a set's features are is said as they are, not as they might be.
func TestFeaturesOfSets(t *testing.T) {
	for want, f := range map[string]struct {
		features Features
		set      datasets.Set
	}{
		"vectors of 4 values, normalised by l2":      {set: datasets.Set{}},
		"2×2 pixels, normalised by l2":               {set: datasets.Set{Height: 2, Width: 2}},
		"8×8 pixels, normalised by l2":               {Features{Extractor: features.Pixels{Size: features.Size{Height: 8, Width: 8}}}, datasets.Set{Height: 2, Width: 2}},
		"32×32 pixels in colour, normalised by l2":   {Features{Extractor: features.Pixels{Colour: true}}, datasets.Set{Files: []string{"a"}}},
		Features{Extractor: features.HOG{}}.String(): {Features{Extractor: features.HOG{}}, datasets.Set{Files: []string{"a"}}},
	} {
		if got := f.features.of(&f.set, 4); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
