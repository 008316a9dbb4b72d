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

	"github.com/seed4492f2cd/partwise/features"
)

func TestFeatures(t *testing.T) {
	for _, test := range []struct {
		text  string
		want  Features
		words string
	}{
		{"{}", Features{}, "32×32 pixels, or the set's own, normalised by l2"},
		{"{pixels: 24x32}", Features{Height: 24, Width: 32}, "24×32 pixels, normalised by l2"},
		{"{colour: true}", Features{Colour: true}, "32×32 pixels in colour, or the set's own, normalised by l2"},
		{"{pixels: 16, colour: true, crop: square}", Features{Height: 16, Width: 16, Colour: true, Square: true}, "16×16 pixels in colour, the middle square, normalised by l2"},
		{"{pixels: 16, colour: false, normalise: none}", Features{Height: 16, Width: 16, Normalise: features.NormNone}, "16×16 pixels, normalised by none"},
		{"{crop: {box: [1, 2, 3, 4]}, normalise: max}", Features{Box: []int{1, 2, 3, 4}, Normalise: features.NormMax}, "32×32 pixels, or the set's own, the box [1 2 3 4], normalised by max"},
		{"{pixels: 32, crop: {eyes: a.csv}}", Features{Height: 32, Width: 32, Eyes: "a.csv"}, "32×32 pixels, aligned by the eyes, normalised by l2"},
	} {
		// What was said before is replaced, but for what is not of the file.
		e := &Experiment{Features: Features{Height: 5, Width: 5, Colour: true, Square: true, SkipBad: true}}
		if err := e.Set("features", test.text); err != nil {
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
		"{colour: maybe}":         "want true or false",
		"{colour: [true]}":        "want true or false",
		"{color: true}":           `unknown key "color"`,
		"{pixels: 0}":             `"0" is no size`,
		"{crop: round}":           "crop",
		"{crop: {eyes: []}}":      "want the name of a CSV file",
		"{crop: {circle: 3}}":     `unknown key "circle"`,
		"{normalise: [l1]}":       "normalise",
		"pixels":                  "want",
		"{pixels: 8, pixels: 16}": "",
	} {
		if err := (&Experiment{}).Set("features", text); err == nil || !strings.Contains(err.Error(), want) {
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
