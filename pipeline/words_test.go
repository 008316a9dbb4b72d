package pipeline

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/vocab"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]struct {
		sift  features.Extractor
		words spec.Words
		text  string
	}{
		"{sift: dense}": {features.DenseSIFT{}, spec.Words{},
			"SIFT of patches of 16×16 pixels at every 8, 200 words by lloyd, counted on 4x4, normalised by l2"},
		"{sift: {step: 4, bins: [4, 6], root: true, contrast: 0.01}, words: 50, grid: 1x1+2x2, idf: true, power: 0.5, normalise: l1}": {
			features.DenseSIFT{Step: 4, Bins: []int{4, 6}, Root: true, Contrast: 0.01},
			spec.Words{Learning: spec.Learning{Count: 50}, Grid: vocab.Grid{{Rows: 1, Columns: 1}, {Rows: 2, Columns: 2}}, IDF: true},
			"SIFT of patches of 16×16 and 24×24 pixels at every 4, its square root, patches of contrast below 0.01 as zeros, " +
				"50 words by lloyd, counted on 1x1+2x2, weighted by inverse document frequency, to the power of 0.5, normalised by l1"},
		"{sift: {at: keypoints, most: 300, contrast: 0.02, edge: 5, sigma: 1.2}, words: {count: 30, by: mini-batch, sample: 500, per-image: 20, nearest: 3, sigma: 60}, grid: 1x1}": {
			features.KeypointSIFT{MaxPoints: 300, Contrast: 0.02, Edge: 5, Sigma: 1.2},
			spec.Words{Learning: spec.Learning{Count: 30, By: vocab.MethodMiniBatch, Sample: 500, PerImage: 20, Assignment: vocab.Assignment{Nearest: 3, Sigma: 60}}, Grid: vocab.Grid{{Rows: 1, Columns: 1}}},
			"SIFT at keypoints, the 300 strongest of an image, 30 words by mini-batch, each descriptor shared among 3, counted on 1x1, normalised by l2"},
		"{sift: {bins: 8}, words: {from: w.npz}}": {features.DenseSIFT{Bins: []int{8}}, spec.Words{Learning: spec.Learning{From: "w.npz"}},
			"SIFT of patches of 32×32 pixels at every 8, words of w.npz, counted on 4x4, normalised by l2"},
	} {
		e := &spec.Experiment{}
		if err := Set(e, "features", text); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want.words, e.Features.Words); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if diff := cmp.Diff(want.sift, e.Features.Extractor); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if got := e.Features.String(); got != want.text {
			t.Errorf("%s is in words\n%q, want\n%q", text, got, want.text)
		}
	}
	for text, want := range map[string]string{
		"{sift: sparse}":                             `expected dense or keypoints, got "sparse"`,
		"{sift: {at: corners}}":                      `expected dense or keypoints, got "corners"`,
		"{sift: {at: keypoints, step: 4}}":           `unknown key "step"`,
		"{sift: {step: 0}}":                          "whole number",
		"{sift: {step: 4, step: 5}}":                 "duplicate key",
		"{sift: {bins: [4, x]}}":                     "whole number",
		"{sift: {root: perhaps}}":                    "true or false",
		"{sift: {contrast: -1}}":                     "above 0",
		"{sift: {contrast: .nan}}":                   "above 0",
		"{sift: dense, words: none}":                 "whole number",
		"{sift: dense, words: {count: 5, from: x}}":  "count has no effect on the saved words of from; remove one of them",
		"{sift: dense, words: {by: magic}}":          "magic",
		"{sift: dense, words: {from: }}":             "name of an .npz file",
		"{sift: dense, grid: 4}":                     "rows×columns",
		"{sift: dense, power: 2}":                    "above 0 up to 1",
		"{sift: dense, idf: some}":                   "true or false",
		"{sift: dense, pixels: 32}":                  "pixels is not compatible with sift, which",
		"{crop: square, sift: dense}":                "crop is not compatible with sift, which",
		"{words: 200}":                               "words needs a SIFT feature, such as sift: dense",
		"{hog: true, pixels: 16}":                    "pixels is not compatible with hog, which",
		"{hog: true, colour: true}":                  "colour is not compatible with hog, which",
		"{hog: 8}":                                   "true or false",
		"{sift: dense, vocabulary: 8}":               `unknown key "vocabulary"`,
		"{sift: dense, words: {count: 5, count: 6}}": "duplicate key",
	} {
		if err := Set((&spec.Experiment{}), "features", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", text, err, want)
		}
	}
}

// photograph writes a folder of grey images of 80×70 pixels with n of each class: noisy stripes of a direction and
// width.
func photograph(t *testing.T, n int) string {
	t.Helper()
	src := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	for class, direction := range map[string]float64{"across": 0, "down": math.Pi / 2, "slanting": math.Pi / 4} {
		if err := os.Mkdir(filepath.Join(dir, class), 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			phase, breadth := 7*src.Float64(), 5+4*src.Float64()
			img := image.NewGray(image.Rect(0, 0, 80, 70))
			for p := range img.Pix {
				x, y := float64(p%80), float64(p/80)
				wave := math.Sin(2*math.Pi*(x*math.Cos(direction)+y*math.Sin(direction))/breadth + phase)
				img.Pix[p] = uint8(128 + 60*wave + 60*src.Float64() - 30)
			}
			writePNG(t, filepath.Join(dir, class, fmt.Sprintf("%02d.png", i)), img)
		}
	}
	return dir
}

func writePNG(t *testing.T, path string, img image.Image) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	quick := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := errors.Join(quick.Encode(f, img), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// prepare prepares the experiment of a text on a set.
func prepare(t *testing.T, text, set string, opt input.PrepareOptions) *input.Inputs {
	t.Helper()
	e, err := spec.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	in, err := input.Prepare(context.Background(), e, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in
}

const scenes = `
name: scenes
task: classify
features: {sift: dense, words: 20, grid: 2x2}
methods: [original, {name: nmf-kl, iterations: 60}]
train: 6
test: rest
rank: [3, 6]
neighbours: {k: 3}
repeats: 2
`

// TestWordsOfScenes: photographs are classified by visual words, with equal logs for any number of workers and with a
// warm or cold cache.
func TestWordsOfScenes(t *testing.T) {
	testkit.Slow(t)
	set, folder := photograph(t, 10), t.TempDir()
	e, err := spec.Parse([]byte(scenes))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	run := func(cache features.Cache, opt RunOptions) []byte {
		p, err := NewPlan(t.Context(), e, prepare(t, scenes, set, input.PrepareOptions{Cache: cache}))
		if err != nil {
			t.Fatal(err)
		}
		if n, m := p.Inputs.Dims(); n != 30 || m != 80 || p.Inputs.X != nil {
			t.Fatalf("%d samples of %d features, %v", n, m, p.Inputs.X)
		}
		records, err := p.Run(t.Context(), nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		if len(records) != 2*2*2 {
			t.Fatalf("%d records, want 8", len(records))
		}
		for _, r := range records {
			if r.Scores["accuracy"] < 0.5 {
				t.Errorf("%s, rank %d: accuracy %v of stripes in three directions", r.Method, r.Rank, r.Scores["accuracy"])
			}
		}
		return runPlan(t, p, opt)
	}
	cold := run(open(t, folder), RunOptions{})
	if string(run(open(t, folder), RunOptions{Workers: 1})) != string(cold) {
		t.Error("a warm cache makes another log")
	}
	if string(run(nil, RunOptions{Workers: 1})) != string(cold) {
		t.Error("no cache makes another log")
	}
	// Damage in the cache is repaired.
	if err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			err = os.WriteFile(path, []byte("damage"), 0o666)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if string(run(open(t, folder), RunOptions{})) != string(cold) {
		t.Error("a damaged cache makes another log")
	}
}

// TestWordsOfTrainingImages: the words of a draw do not depend on its test images.
func TestWordsOfTrainingImages(t *testing.T) {
	set, folder := photograph(t, 8), t.TempDir()
	learn := func() (*vocab.Vocabulary, draw) {
		e, err := spec.Parse([]byte(scenes))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		p, err := NewPlan(t.Context(), e, prepare(t, scenes, set, input.PrepareOptions{Cache: open(t, folder)}))
		if err != nil {
			t.Fatal(err)
		}
		d := p.draw(3, 0)
		v, err := p.view(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := v.X().Dims(); n != 18 {
			t.Errorf("%d training samples, want 18", n)
		}
		if n, _ := v.Test().Dims(); n != 6 {
			t.Errorf("%d samples to classify, want 6", n)
		}
		return v.Vocabulary, d
	}
	before, d := learn()
	in := prepare(t, scenes, set, input.PrepareOptions{})
	repaint := func(row int) {
		img := image.NewGray(image.Rect(0, 0, 80, 70))
		for i := range img.Pix {
			img.Pix[i] = uint8(i * i * i >> 3)
		}
		writePNG(t, in.Set.Files[in.Rows[row]], img)
	}
	for _, row := range d.testRows {
		repaint(row)
	}
	if after, _ := learn(); !mat.Equal(before.Words, after.Words) {
		t.Error("the words depend on the test images")
	}
	repaint(d.rows[0])
	if after, _ := learn(); mat.Equal(before.Words, after.Words) {
		t.Error("the words do not depend on a training image")
	}
}

// TestHistograms checks that the histograms of a clustering have unit length, are weighted and sparse, and equal the
// histograms of package vocab for each image.
func TestHistograms(t *testing.T) {
	set := photograph(t, 3)
	const text = `{name: x, methods: [nmf], features: {sift: {step: 6}, words: 15, grid: 1x1+2x2, idf: true, power: 0.5}}`
	in := prepare(t, text, set, input.PrepareOptions{})
	x := in.X.(*sparse.CSR)
	if n, m := x.Dims(); n != 9 || m != 75 {
		t.Fatalf("%d×%d histograms", n, m)
	}
	assigner, err := vocab.NewAssigner(in.Vocabulary, vocab.Assignment{})
	if err != nil {
		t.Fatal(err)
	}
	grid := vocab.Grid{{Rows: 1, Columns: 1}, {Rows: 2, Columns: 2}}
	var rows []vocab.Histogram
	for _, row := range in.Rows {
		img, err := in.Set.Image(row)
		if err != nil {
			t.Fatal(err)
		}
		d, err := features.DenseSIFT{Step: 6}.Extract(img)
		if err != nil {
			t.Fatal(err)
		}
		var words vocab.Assigned
		if err := assigner.Assign(&words, d); err != nil {
			t.Fatal(err)
		}
		h, err := grid.Count(15, d, &words)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, h)
	}
	counts, err := vocab.Matrix(75, rows)
	if err != nil {
		t.Fatal(err)
	}
	want, err := vocab.Weighting{IDF: vocab.LearnIDF(counts), Power: 0.5, Norm: features.NormL2}.Apply(counts)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(want, x, 1e-12) {
		t.Error("the histograms differ from the histograms of single images")
	}
	groups, err := grouping.Groups{Method: spec.Method{Name: "nmf"}, Seed: 1}.Find(t.Context(), in, nil)
	if err != nil || groups.Scores["AC"] < 0.6 {
		t.Errorf("groups: %v, scores %v", err, groups.Scores)
	}
}

// TestWordsOfFile: saved words are used unchanged, and words of another length are refused.
func TestWordsOfFile(t *testing.T) {
	set := photograph(t, 3)
	in := prepare(t, `{name: x, methods: [nmf], features: {sift: dense, words: 9}}`, set, input.PrepareOptions{})
	path := filepath.Join(t.TempDir(), "words.npz")
	save := func(v *vocab.Vocabulary) {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(v.Save(f), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	save(in.Vocabulary)
	from := strings.Replace(scenes, "words: 20, grid: 2x2", "words: {from: '"+path+"'}", 1)
	from = strings.Replace(from, "train: 6", "train: 1", 1)
	if again := prepare(t, from, set, input.PrepareOptions{}); !mat.Equal(again.X, in.X) {
		t.Error("saved words make other histograms")
	}
	save(&vocab.Vocabulary{Words: mat.NewDense(3, 64, nil)})
	e, err := spec.Parse([]byte(from))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	for _, damage := range []func(){
		func() {},
		func() { _ = os.WriteFile(path, []byte("PK nothing"), 0o666) },
		func() { _ = os.Truncate(path, 1<<40) }, // a sparse file on most disks
		func() { _ = os.Remove(path) },
		func() { _ = os.Mkdir(path, 0o777) },
	} {
		damage()
		if _, err := input.Prepare(t.Context(), e, input.PrepareOptions{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("words that do not fit: %v", err)
		}
	}
}

// TestUnusablePhotographs: a damaged, tiny or missing image is an error that names it, or is skipped.
func TestUnusablePhotographs(t *testing.T) {
	const text = `{name: x, methods: [nmf], features: {sift: dense, words: 5}}`
	for problem, spoil := range map[string]func(path string){
		"00.png": func(path string) { _ = os.WriteFile(path, []byte("\x89PNG\r\n\x1a\nno more"), 0o666) },
		"no descriptors: the image has 3×3 pixels: smaller than a patch": func(path string) {
			writePNG(t, path, image.NewGray(image.Rect(0, 0, 3, 3)))
		},
	} {
		set := photograph(t, 3)
		e, err := spec.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		bad := filepath.Join(set, "down", "00.png")
		spoil(bad)
		if _, err := input.Prepare(t.Context(), e, input.PrepareOptions{}); err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), "00.png") {
			t.Errorf("got error %v, want one with %q", err, problem)
		}
		e.Features.SkipBad = true
		in, err := input.Prepare(t.Context(), e, input.PrepareOptions{Cache: open(t, t.TempDir())})
		if err != nil || len(in.Rows) != 8 || len(in.Skipped) != 1 || !strings.Contains(in.Skipped[0].Error(), problem) {
			t.Errorf("%s left out: %v", problem, err)
		}
	}
	// A blank image has equal patches.
	set := photograph(t, 3)
	blank := image.NewGray(image.Rect(0, 0, 40, 40))
	for i := range blank.Pix {
		blank.Pix[i] = 0xff
	}
	writePNG(t, filepath.Join(set, "down", "00.png"), blank)
	in := prepare(t, text, set, input.PrepareOptions{})
	if n, _ := in.Dims(); n != 9 {
		t.Errorf("%d samples with a blank one, want 9", n)
	}
	// Vectors that are not images have no patches.
	e, err := spec.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = testkit.CSV(t, 3, 3)
	if _, err := input.Prepare(t.Context(), e, input.PrepareOptions{}); err == nil || !strings.Contains(err.Error(), "has no images, but") {
		t.Errorf("words of vectors: %v", err)
	}
}

// TestHOGExperiment: histograms of oriented gradients are features too.
func TestHOGExperiment(t *testing.T) {
	in := prepare(t, `{name: x, methods: [nmf], features: {hog: true}}`, photograph(t, 4), input.PrepareOptions{})
	if n, m := in.Dims(); n != 12 || m != 512 || in.Height != 0 {
		t.Errorf("%d×%d features of height %d, want 12×512 that are no images", n, m, in.Height)
	}
	groups, err := grouping.Groups{Method: spec.Method{Name: "nmf"}, Seed: 1}.Find(t.Context(), in, nil)
	if err != nil || groups.Scores["AC"] < 0.8 {
		t.Errorf("groups: %v, scores %v", err, groups.Scores)
	}
}

// TestAuto: automatic features of photographs need the built-in network; vectors stay as they are.
func TestAuto(t *testing.T) {
	e := &spec.Experiment{Data: spec.Data{Set: photograph(t, 3)}, Features: spec.Features{Auto: true}}
	if _, err := input.Prepare(t.Context(), e, input.PrepareOptions{}); err == nil || !strings.Contains(err.Error(), "import features/lite0") {
		t.Errorf("photographs without the network: %v", err)
	}
	e.Data.Set = testkit.CSV(t, 3, 3)
	in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
	if err != nil || in.Features.OfNetwork() || in.Channels != 0 {
		t.Errorf("vectors have the features %v, %v", in.Features, err)
	}
}
