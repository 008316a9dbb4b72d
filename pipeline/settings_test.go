package pipeline

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/document"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Set sets a key of an experiment as a file does.
func Set(e *spec.Experiment, key, value string) error {
	v, err := document.Parse([]byte(key + ": " + value))
	if err != nil {
		return err
	}
	return settings.Decode(v, e)
}

//go:embed testdata/swept.yaml
var swept string

// TestSweep: lists stand for each combination of their values; the last list changes fastest.
func TestSweep(t *testing.T) {
	e, err := spec.Parse([]byte(swept))
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, m := range e.Methods {
		labels = append(labels, m.Label())
	}
	want := []string{
		"nmf",
		"OGL beta=0.1 lambda=1", "OGL beta=0.1 lambda=10", "OGL beta=0.1 lambda=100",
		"OGL beta=1e2 lambda=1", "OGL beta=1e2 lambda=10", "OGL beta=1e2 lambda=100",
		"gnmf edges=binary", "gnmf edges=heat",
		"cf init=random iterations=5", "cf init=random iterations=10",
		"cf init=nmf iterations=5", "cf init=nmf iterations=10",
		"nmf-kl tolerance=1e-3",
	}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Error(diff)
	}
	if m := e.Methods[4]; m.Params["lambda"] != uint64(1) || m.Iterations != 5 || m.Name != "cf-ogl" {
		t.Errorf("%+v", m)
	}
	if m := e.Methods[11]; m.Init != factor.InitNMF || m.Iterations != 5 || m.Params != nil {
		t.Errorf("%+v", m)
	}

	if err := Set(e, "methods", "[{name: gnmf, lambda: [1, 2]}, {name: gnmf, lambda: [3]}, {name: gnmf, neighbours: [3, 4]}]"); err != nil {
		t.Fatal(err)
	}
	sweeps := []spec.Sweep{
		{Name: "gnmf", Settings: []string{"lambda"}, Methods: []string{"gnmf lambda=1", "gnmf lambda=2", "gnmf lambda=3"}, Values: [][]string{{"1"}, {"2"}, {"3"}}},
		{Name: "gnmf", Settings: []string{"neighbours"}, Methods: []string{"gnmf neighbours=3", "gnmf neighbours=4"}, Values: [][]string{{"3"}, {"4"}}},
	}
	if diff := cmp.Diff(sweeps, e.Methods.Sweeps()); diff != "" {
		t.Error(diff)
	}
}

func TestSweepRefuses(t *testing.T) {
	const line = "methods:\n  - {name: gnmf, "
	for text, want := range map[string]string{
		line + "lambda: [1, -1]}":                 `2:30: gnmf: lambda: expected a number from 0 to 1e+100, got -1`,
		line + "lambda: [1, 1.0]}":                `2:30: lambda: duplicate value 1.0`,
		line + "edges: [binary, binary]}":         `2:34: edges: duplicate value binary`,
		line + "lambda: []}":                      `2:26: lambda has no values`,
		line + "lambda: [1, [2]]}":                `2:30: lambda: expected a list of single values`,
		line + "lamda: [1, 2]}":                   `2:18: unknown key "lamda"`,
		line + "iterations: [10, 0]}":             `2:35: expected a whole number from 1 to`,
		line + "as: [a, b]}":                      `2:22: expected a single name; only other settings can be lists`,
		"methods:\n  - {name: [gnmf, nmf]}":       `2:12: expected a single name; only other settings can be lists`,
		"methods:\n  - {name: kmeans, k: [1, 2]}": `2:20: kmeans has no parameter "k"`,
		line + "lambda: [" + numbers(101) + "], neighbours: [" + numbers(100) + "]}": `the lists of values combine to more than 10000 methods`,
	} {
		_, err := spec.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "^") {
			t.Errorf("%q gives\n%v\nwant %q", text, err, want)
		}
	}
}

func numbers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.Repeat("1", i+1)
	}
	return strings.Join(list, ", ")
}

func TestFeatures(t *testing.T) {
	pixels := func(height, width int, colour bool) spec.Features {
		return spec.Features{Extractor: features.Pixels{Size: features.Size{Height: height, Width: width}, Colour: colour}}
	}
	for _, test := range []struct {
		text  string
		want  spec.Features
		words string
	}{
		{"{}", pixels(0, 0, false), "32×32 pixels, or the set's own, normalised by l2"},
		{"{pixels: 24x32}", pixels(24, 32, false), "24×32 pixels, normalised by l2"},
		{"{colour: true}", pixels(0, 0, true), "32×32 pixels in colour, or the set's own, normalised by l2"},
		{"{pixels: 16, colour: true, crop: square}", spec.Features{Extractor: features.Pixels{Size: features.Size{Height: 16, Width: 16}, Colour: true}, Crop: spec.Crop{Square: true}}, "16×16 pixels in colour, the middle square, normalised by l2"},
		{"{pixels: 16, colour: false, hog: false, normalise: none}", spec.Features{Extractor: features.Pixels{Size: features.Size{Height: 16, Width: 16}}, Normalise: features.NormNone}, "16×16 pixels, normalised by none"},
		{"{crop: {box: [1, 2, 3, 4]}, normalise: max}", spec.Features{Extractor: features.Pixels{}, Crop: spec.Crop{Box: []int{1, 2, 3, 4}}, Normalise: features.NormMax}, "32×32 pixels, or the set's own, the box [1 2 3 4], normalised by max"},
		{"{pixels: 32, crop: {eyes: a.csv}}", spec.Features{Extractor: features.Pixels{Size: features.Size{Height: 32, Width: 32}}, Crop: spec.Crop{Eyes: "a.csv"}}, "32×32 pixels, aligned by the eyes, normalised by l2"},
		{"{hog: true, crop: square}", spec.Features{Extractor: features.HOG{}, Crop: spec.Crop{Square: true}}, "histograms of oriented gradients of 32×32 pixels, the middle square, normalised by l2"},
		{"{hog: true, power: 0.5}", spec.Features{Extractor: features.HOG{}, Power: 0.5}, "histograms of oriented gradients of 32×32 pixels, to the power of 0.5, normalised by l2"},
		{"{hog: {}}", spec.Features{Extractor: features.HOG{}}, "histograms of oriented gradients of 32×32 pixels, normalised by l2"},
		{"{colour: hsv}", spec.Features{Extractor: features.ColourHistogram{}}, "histograms of 8 hues, 3 saturations and 3 values in 1×1 cells, normalised by l2"},
		{"{grid: 2x3, colour: hsv, hues: 16, normalise: l1}", spec.Features{Extractor: features.ColourHistogram{Grid: features.Cells{Rows: 2, Columns: 3}, Hues: 16}, Normalise: features.NormL1},
			"histograms of 16 hues, 3 saturations and 3 values in 2×3 cells, normalised by l1"},
		{"{network: lite0}", spec.Features{Extractor: features.Network{}}, "features of the network lite0, normalised by l2"},
		{"{network: lite0, layer: map, places: true, crop: square}", spec.Features{Extractor: features.Network{Layer: "map", Places: true}, Crop: spec.Crop{Square: true}},
			"features of the network lite0, layer map, at each place, the middle square, normalised by l2"},
		{"{network: {file: a/b.onnx, layer: pool5, size: 160, mean: [1, 0, 3], scale: 58, order: bgr}, crop: whole}",
			spec.Features{Extractor: features.Network{File: "a/b.onnx", Layer: "pool5", Size: 160, Mean: []float64{1, 0, 3}, Scale: []float64{58}, Order: "bgr"}, Crop: spec.Crop{Whole: true}},
			"features of the network b.onnx, layer pool5, of 160×160 pixels, the whole, normalised by l2"},
		{"{colour: {at: hsv, values: 5}}", spec.Features{Extractor: features.ColourHistogram{Values: 5}}, "histograms of 8 hues, 3 saturations and 5 values in 1×1 cells, normalised by l2"},
	} {
		// The new value replaces earlier settings, except settings that are not part of the file.
		e := &spec.Experiment{Features: spec.Features{Extractor: features.HOG{}, Crop: spec.Crop{Square: true}, Words: spec.Words{IDF: true}, SkipBad: true}}
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
		"{colour: maybe}":              "expected true or false",
		"{colour: [true]}":             "expected true or false",
		"{color: true}":                `unknown key "color"`,
		"{pixels: 0}":                  `invalid size "0"; expected a side such as 32, or HEIGHTxWIDTH, at most`,
		"{crop: round}":                "expected square, whole, {box",
		"{crop: {eyes: []}}":           "expected a name",
		"{crop: {box: [1, 2]}}":        "expected four numbers [x0, y0, x1, y1]",
		"{crop: {box: [3, 2, 3, 9]}}":  "is empty; expected 0 <= x0 < x1 and 0 <= y0 < y1",
		"{crop: {box: [-3, 2, 3, 9]}}": "is empty; expected 0 <= x0 < x1 and 0 <= y0 < y1",
		"{colour: hsl}":                "true or false, or hsv",
		"{colour: hsv, pixels: 8}":     "pixels is not compatible with colour, which needs colour images and resizes them to 64×64 pixels",
		"{colour: hsv, hog: true}":     "hog is not compatible with colour, which",
		"{colour: hsv, sift: dense}":   "sift is not compatible with colour, which",
		"{colour: hsv, words: 9}":      "words needs a SIFT feature, such as sift: dense",
		"{colour: hsv, grid: 2}":       `invalid grid "2"`,
		"{colour: hsv, hues: 0}":       "from 1 to 360",
		"{pixels: 8, power: 0}":        "a number above 0 up to 1",
		"{pixels: 8, hues: 9}":         `unknown key "hues"`,
		"{hog: {cells: 3}}":            `unknown key "cells"`,
		"{crop: {circle: 3}}":          `unknown key "circle"`,
		"{normalise: [l1]}":            "expected a name",
		"{pixels: 8, pixels: 16}":      "",
		"surf":                         `expected a feature (pixels, hog, colour, network, sift`,
	} {
		if err := Set((&spec.Experiment{}), "features", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", text, err, want)
		}
	}
}

// paint writes a folder of noisy images of two classes with different colours and equal grey, and returns its path.
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

// TestColour: colour separates what grey cannot, also for methods on images, and the summary has the shape of the
// bases.
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

	found, err := grouping.Groups{Method: spec.Method{Name: "ntf"}}.Find(context.Background(), p.Inputs, nil)
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

// TestColourHistograms: they separate what grey cannot, and the next run finds equal ones in the cache.
func TestColourHistograms(t *testing.T) {
	set, store := paint(t), open(t, t.TempDir())
	const text = "{name: x, methods: [kmeans], features: {colour: hsv, grid: 2x2}}"
	in := prepare(t, text, set, input.PrepareOptions{Cache: store})
	if n, m := in.Dims(); n != 16 || m != 4*72 || in.Height != 0 {
		t.Fatalf("%d×%d features of height %d", n, m, in.Height)
	}
	groups, err := grouping.Groups{Method: spec.Method{Name: "kmeans"}, Seed: 1}.Find(t.Context(), in, nil)
	if err != nil || groups.Scores["AC"] != 1 {
		t.Errorf("groups: %v, scores %v", err, groups.Scores)
	}
	if usage, err := store.Usage(); err != nil || usage.Entries != 16 {
		t.Errorf("the cache holds %+v, %v, want a row of each of 16 images", usage, err)
	}
	if again := prepare(t, text, set, input.PrepareOptions{Cache: store}); !mat.Equal(again.X, in.X) {
		t.Error("the next run has other features")
	}
	if _, err := input.Prepare(t.Context(), &spec.Experiment{Data: spec.Data{Set: testkit.CSV(t, 3, 3)}, Features: in.Features}, input.PrepareOptions{}); err == nil || !strings.Contains(err.Error(), "are not images, but colour needs colour images and resizes them to 64×64 pixels") {
		t.Errorf("colours of vectors: %v", err)
	}
	if err := (spec.Method{Name: "ntf"}).CheckFeatures(in.Features); err == nil || !strings.Contains(err.Error(), "needs images") {
		t.Errorf("images of rank one of histograms: %v", err)
	}
}

// TestFeaturesOfSets: the description of features fits the set.
func TestFeaturesOfSets(t *testing.T) {
	for want, f := range map[string]struct {
		features spec.Features
		set      datasets.Set
	}{
		"vectors of 4 values, normalised by l2":           {set: datasets.Set{}},
		"2×2 pixels, normalised by l2":                    {set: datasets.Set{Height: 2, Width: 2}},
		"8×8 pixels, normalised by l2":                    {spec.Features{Extractor: features.Pixels{Size: features.Size{Height: 8, Width: 8}}}, datasets.Set{Height: 2, Width: 2}},
		"32×32 pixels in colour, normalised by l2":        {spec.Features{Extractor: features.Pixels{Colour: true}}, datasets.Set{Files: []string{"a"}}},
		spec.Features{Extractor: features.HOG{}}.String(): {spec.Features{Extractor: features.HOG{}}, datasets.Set{Files: []string{"a"}}},
	} {
		if got := f.features.TextOf(&f.set, 4); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestLinksOfADraw: the share of all pairs, each once and of the right kind.
func TestLinksOfADraw(t *testing.T) {
	p := newPlan(t, "{name: x, methods: [cop-kmeans, {name: ss-nmf, cluster: largest}], classes: 3, repeats: 2, links: 10%}", testkit.CSV(t, 12, 10, 11))
	d := p.draw(3, 0)
	if want := 53; len(d.must)+len(d.cannot) != want { // 10 % of 33·32/2
		t.Errorf("%d links, want %d", len(d.must)+len(d.cannot), want)
	}
	seen := map[[2]int]bool{}
	for _, l := range append(d.must, d.cannot...) {
		if seen[l] || l[0] >= l[1] {
			t.Errorf("the pair %v once more, or of one sample", l)
		}
		seen[l] = true
	}
	for _, l := range d.must {
		if d.truth[l[0]] != d.truth[l[1]] {
			t.Errorf("%v must link across classes", l)
		}
	}
	for _, l := range d.cannot {
		if d.truth[l[0]] == d.truth[l[1]] {
			t.Errorf("%v cannot link within a class", l)
		}
	}
	if _, err := p.Run(t.Context(), nil, RunOptions{}); err != nil {
		t.Error(err)
	}
}

// TestLinksOfAFile: rows of the set become rows of the draw.
func TestLinksOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pairs.csv")
	if err := os.WriteFile(file, []byte("1,2,must\n1,14,cannot\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	set := testkit.CSV(t, 12, 10, 11)
	p := newPlan(t, "{name: x, methods: [cop-kmeans, d-snmf], classes: 2, repeats: 30, links: {file: "+file+"}}", set)
	both := 0
	for repeat := range 30 {
		d := p.draw(2, repeat)
		for _, l := range d.must {
			if d.rows[l[0]] != 0 || d.rows[l[1]] != 1 {
				t.Errorf("must-link of rows %d and %d", d.rows[l[0]], d.rows[l[1]])
			}
		}
		for _, l := range d.cannot {
			both++
			if d.rows[l[0]] != 0 || d.rows[l[1]] != 13 {
				t.Errorf("cannot-link of rows %d and %d", d.rows[l[0]], d.rows[l[1]])
			}
		}
	}
	if both == 0 || both == 30 {
		t.Errorf("the cannot-link is in %d draws of 30", both)
	}
	logs := filepath.Join(t.TempDir(), "logs.csv")
	if err := os.WriteFile(logs, []byte("a,3,+\na,4,+\na,15,-\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p = newPlan(t, "{name: x, methods: [cop-kmeans, d-snmf], classes: 2, links: {feedback: "+logs+", file: "+file+"}}", set)
	for range 10 {
		links, err := input.ReadLinks(t.Context(), p.Experiment.Links, p.Inputs.Set)
		if got, want := fmt.Sprint(links.Must, links.Cannot, err), "[[0 1] [2 3]] [[0 13] [2 14] [3 14]] <nil>"; got != want {
			t.Fatalf("links of two files: got %s, want %s", got, want)
		}
	}
	if got := p.Experiment.Links.String(); got != "of "+file+" and "+logs {
		t.Errorf("links of two files: %s", got)
	}
	for text, want := range map[string]string{
		"links: 3": "invalid percentage", "links: {fle: x}": `unknown key "fle"`, "links: rest": "invalid percentage",
	} {
		if _, err := spec.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Files of links are read with the inputs, and not again for the plan.
func TestLinksAreReadOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pairs.csv")
	if err := os.WriteFile(file, []byte("1,2,must\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	e := &spec.Experiment{Name: "x", Data: spec.Data{Set: testkit.CSV(t, 5, 5)}, Methods: spec.Methods{{Name: "cop-kmeans"}}, Links: spec.Links{File: file}}
	in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(t.Context(), e, in)
	if err != nil || len(p.must) != 1 {
		t.Errorf("links %v, %v", p, err)
	}
}

// TestEach: several sets give experiments with their own names; one set gives the experiment itself.
func TestEach(t *testing.T) {
	e := &spec.Experiment{Name: "many", Sets: []spec.Data{{Set: "yale"}, {Set: "a/Faces.mat"}, {Set: "b/faces.mat"}, {Set: "set:yale"}}, Seed: 3}
	e.Data = e.Sets[0]
	e.Data.Root, e.Data.Labelled = "root", true
	if got, want := e.SetNames(), []string{"yale", "faces-mat", "faces-mat-2", "yale-2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, one := range e.Each() {
		if one.Name != "many-"+e.SetNames()[i] || one.Data.Set != e.Sets[i].Set || one.Data.Root != "root" || !one.Data.Labelled || one.Sets != nil || one.Seed != 3 {
			t.Errorf("%+v", one)
		}
	}
	single := &spec.Experiment{Name: "one", Data: spec.Data{Set: "yale"}}
	if all := single.Each(); len(all) != 1 || all[0] != single {
		t.Errorf("%+v", all)
	}
}

// ownMethod is a library user's method with its own solver.
type ownMethod struct {
	Sweeps int `setting:"sweeps" default:"1" help:"how often"`
}

func (m ownMethod) Fit(ctx context.Context, x mat.Matrix, known factor.Known, opt factor.Options) (*factor.Result, error) {
	opt.Solver = ownSolver{}
	return factor.NMF{}.Fit(ctx, x, known, opt)
}

type ownSolver struct{ factor.Multiplicative }

type ownPenalty struct{ factor.L1 }

// TestRegistered: a registered method, solver, penalty and score can be used in an experiment by name.
func TestRegistered(t *testing.T) {
	factor.Register(factor.Info{Name: "own-method", Title: "Own", Family: "NMF"}, ownMethod{})
	factor.RegisterSolver(factor.SolverInfo{Name: "own-solver", Title: "Own", Solver: ownSolver{}})
	factor.RegisterPenalty(factor.PenaltyInfo{Name: "own-penalty", Title: "Own"}, ownPenalty{})
	eval.Register(eval.Score{Name: "own-score", Title: "Own", Task: eval.Clustering, Max: 1, Optional: true, Value: func(o *eval.Outcome) (float64, bool, error) {
		return eval.Accuracy(o.Truth, o.Found), true, nil
	}})
	text := `{name: x, scores: [own-score], methods: [{name: own-method, sweeps: 2}, {name: nmf, solver: own-solver}, {name: parts, penalty: own-penalty}], classes: 2, repeats: 1}`
	records, err := newPlan(t, text, testkit.CSV(t, 12, 10, 11)).Run(t.Context(), nil, RunOptions{})
	if err != nil || len(records) != 3 {
		t.Fatalf("%d records, error %v", len(records), err)
	}
	if _, ok := records[0].Scores["own-score"]; !ok {
		t.Errorf("scores %v", records[0].Scores)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name is registered twice")
		}
	}()
	factor.Register(factor.Info{Name: "nmf"}, ownMethod{})
}
