package pipeline

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

func TestJoinedSettings(t *testing.T) {
	two := []spec.Weighted{
		{Features: spec.Features{Extractor: features.DenseSIFT{}, Power: 0.5}},
		{Features: spec.Features{Extractor: features.ColourHistogram{Grid: features.Cells{Rows: 2, Columns: 2}}}, Weight: 2},
	}
	for text, want := range map[string]spec.Features{
		"[{sift: dense, power: 0.5}, {colour: hsv, grid: 2x2, weight: 2}]": {Joined: two},
		"[{weight: 2, scale: , sift: {}, power: 0.5}, colour]": {Joined: []spec.Weighted{
			{Features: two[0].Features, Weight: 2}, {Features: spec.Features{Extractor: features.ColourHistogram{}}}}},
		"[pixels, {pixels: {}, colour: true, normalise: none}, {hog: true, scale: 0.25}]": {Joined: []spec.Weighted{
			{Features: spec.Features{Extractor: features.Pixels{}}}, {Features: spec.Features{Extractor: features.Pixels{Colour: true}, Normalise: features.NormNone}},
			{Features: spec.Features{Extractor: features.HOG{}}, Scale: 0.25}}},
		"hog":    {Extractor: features.HOG{}},
		"sift":   {Extractor: features.DenseSIFT{}},
		"pixels": {Extractor: features.Pixels{}},
	} {
		e := &spec.Experiment{Features: spec.Features{Joined: two[:1], Power: 0.3, SkipBad: true}}
		if err := Set(e, "features", text); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want.SkipBad = true
		if diff := cmp.Diff(want, e.Features); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	f := spec.Features{Joined: two}
	if want := two[0].Features.String() + "; together with " + two[1].Features.String() + ", of weight 2"; f.String() != want {
		t.Errorf("%q in words, want %q", f.String(), want)
	}
	if !f.OfWords() || !f.Cached() || (spec.Features{Joined: []spec.Weighted{{}, {}}}).Cached() {
		t.Error("what of them is of words, or worth keeping, is not known")
	}
	for text, want := range map[string]string{
		"[hog]":                                      "1:11: expected a list of 2 or more features, got 1",
		"[]":                                         "1:11: expected a list of 2 or more features, got 0",
		"[hog, [sift, colour]]":                      "1:17: expected a feature, got a list",
		"[hog, surf]":                                `1:17: expected a feature (pixels, hog, `,
		"[hog, {colour: hsv, hogs: 2}]":              `1:31: unknown key "hogs"`,
		"[hog, {colour: hsv, weight: 0}]":            "1:39: expected a number above 0 up to 1e+06, got 0",
		"[hog, {hog: true, scale: -1}]":              "1:36: expected a number above 0",
		"[{sift: dense}, {sift: {bins: 8}}]":         "1:27: only one of the joined features can be visual words; use several patch sizes (bins: [4, 8]) or grids (grid: 1x1+2x2)",
		"[hog, {hog: true, weight: 2, scale: 2}]":    "1:29: weight and scale exclude each other; set one of them",
		"[hog, {hog: true, weight: 2, weight: 3}]":   "duplicate key",
		"{colour: hsv, weight: 2}":                   "1:25: weight needs several features",
		"[hog, {colour: hsv, words: 9}]":             "1:31: words needs a SIFT feature, such as sift: dense",
		"[hog, {weight: 2}, {pixels: 8, power: 40}]": "1:49: expected a number above 0 up to 1, got 40",
	} {
		if err := Set((&spec.Experiment{}), "features", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", text, err, want)
		}
	}
	for want, list := range map[string][]spec.Weighted{"joined features must be listed one by one": {{Features: spec.Features{Auto: true}}, {}}, "no features": {}} {
		e := &spec.Experiment{Data: spec.Data{Set: paint(t)}, Features: spec.Features{Joined: list}}
		if _, err := input.Prepare(t.Context(), e, input.PrepareOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
}

// colourful returns the pictures of photograph, half of them coloured.
func colourful(t *testing.T, n int) string {
	set := photograph(t, n)
	for _, class := range []string{"across", "down", "slanting"} {
		for i := range n {
			path := filepath.Join(set, class, fmt.Sprintf("%02d.png", i))
			img := image.NewRGBA(image.Rect(0, 0, 80, 70))
			for p := range 80 * 70 {
				wave := uint8(120 + 100*math.Sin(float64(p%80*(1+len(class)%3)+p/80*i)/3))
				img.SetRGBA(p%80, p/80, color.RGBA{wave, wave / uint8(1+i%2), wave / uint8(1+len(class)%4), 255})
			}
			writePNG(t, path, img)
		}
	}
	return set
}

// meanSquare returns the mean of the squared lengths of the rows of some columns.
func meanSquare(x mat.Matrix, from, to int) (mean float64) {
	n, _ := x.Dims()
	for i := range n {
		for j := from; j < to; j++ {
			mean += x.At(i, j) * x.At(i, j) / float64(n)
		}
	}
	return mean
}

// TestJoined checks that the columns are the columns of each feature in order, times a factor that makes their mean
// squared length the weight, and that the features come from the cache of the single features.
func TestJoined(t *testing.T) {
	set := colourful(t, 3)
	const sift, colour, pixels = "sift: dense, words: 12, grid: 2x2, normalise: max", "colour: hsv, power: 0.5, normalise: none", "pixels: 6, normalise: none"
	for _, test := range []struct {
		alone   []string
		weights []float64
		names   []string
		sparse  bool
	}{
		{[]string{colour, sift, colour}, []float64{1, 3, 0.5}, []string{"colour", "sift", "colour2"}, true},
		{[]string{pixels, colour}, []float64{2, 1}, []string{"pixels", "colour"}, false},
	} {
		store := open(t, t.TempDir())
		var together []string
		var want []mat.Matrix
		for i, alone := range test.alone {
			text := "{name: x, methods: [nmf], features: {" + alone + "}}"
			want = append(want, prepare(t, text, set, input.PrepareOptions{Cache: store}).X)
			together = append(together, fmt.Sprintf("{%s, weight: %v}", alone, test.weights[i]))
		}
		text := "{name: x, methods: [nmf], features: [" + strings.Join(together, ", ") + "]}"
		var stages []string
		in := prepare(t, text, set, input.PrepareOptions{Cache: store, Progress: func(what string, _, _ int) {
			if !slices.Contains(stages, what) {
				stages = append(stages, what)
			}
		}})
		if _, ok := in.X.(*sparse.CSR); ok != test.sparse || in.Height != 0 {
			t.Errorf("%v: a %T of height %d", test.alone, in.X, in.Height)
		}
		if slices.ContainsFunc(stages, func(s string) bool { return s != "reading" }) {
			t.Errorf("%v: made again: %v", test.alone, stages)
		}
		from := 0
		for i, w := range want {
			n, m := w.Dims()
			s := in.Scales[i]
			if s.Name != test.names[i] || s.Count != m {
				t.Errorf("%v: scale %+v, want %s of %d columns", test.alone, s, test.names[i], m)
			}
			for r := range n {
				for j := range m {
					if got, want := in.X.At(r, from+j), s.Scale*w.At(r, j); got != want {
						t.Fatalf("%v: %v in row %d, column %d, want %v", test.alone, got, r, from+j, want)
					}
				}
			}
			if mean := meanSquare(in.X, from, from+m); math.Abs(mean-test.weights[i]) > 1e-12 {
				t.Errorf("%v: mean of the squared lengths of %s %v, want %v", test.alone, s.Name, mean, test.weights[i])
			}
			from += m
		}
		if n, m := in.Dims(); n != 9 || m != from {
			t.Errorf("%v: %d×%d, want 9×%d", test.alone, n, m, from)
		}
		if again := prepare(t, text, set, input.PrepareOptions{}); !mat.Equal(again.X, in.X) {
			t.Errorf("%v: without a cache other features", test.alone)
		}
	}
}

// TestJointFactorisation checks that NMF of joined features minimises the weighted errors of the features with one V,
// and that the summary and the basis pictures know which columns are pixels.
func TestJointFactorisation(t *testing.T) {
	set := paint(t)
	const colour, pixels = "colour: hsv, normalise: none", "pixels: 6x5, normalise: none"
	p := newPlan(t, fmt.Sprintf("{name: x, methods: [nmf], rank: 3, repeats: 1, features: [{%s}, {%s, weight: 2}]}", colour, pixels), set)
	to := newKept()
	if _, err := p.Run(t.Context(), to, RunOptions{}); err != nil {
		t.Fatal(err)
	}
	s := p.Summary()
	if err := s.Check(); err != nil || s.From != 72 || s.Columns != 102 || s.Height != 6 || s.Width != 5 || s.Channels != 1 {
		t.Errorf("summary of %d×%d pixels of %d channels from feature %d of %d: %v", s.Height, s.Width, s.Channels, s.From, s.Columns, err)
	}
	of := p.Inputs.Pixels()
	u := to.models(p)[0].Vectors()
	if shown := of.Of(u); !mat.Equal(shown, u.Slice(72, 102, 0, 3)) {
		t.Error("the basis pictures are of other columns than the pixels")
	}
	res, err := factor.NMF{}.Fit(t.Context(), p.Inputs.X, factor.Known{}, factor.Options{Rank: 3, Iterations: 20})
	if err != nil {
		t.Fatal(err)
	}
	var together float64
	from := 0
	for i, alone := range []string{colour, pixels} {
		x := prepare(t, "{name: x, methods: [nmf], features: {"+alone+"}}", set, input.PrepareOptions{}).X
		n, m := x.Dims()
		var y, d mat.Dense // U_v for the values before scaling is U/√w
		y.Mul(res.Coefficients, res.Basis.Slice(from, from+m, 0, 3).T())
		y.Scale(1/p.Inputs.Scales[i].Scale, &y)
		d.Sub(x, &y)
		weight := []float64{1, 2}[i] * float64(n) / math.Pow(mat.Norm(x, 2), 2)
		together += weight * math.Pow(mat.Norm(&d, 2), 2)
		from += m
	}
	if got := res.Objective[res.Iterations()]; math.Abs(got-together) > 1e-9*together {
		t.Errorf("objective %v; the weighted errors of the features sum to %v", got, together)
	}
}

// TestJoinedDraws checks that a classification learns words and scales from the training images of each draw, and that
// the number of workers and the cache do not change the log.
func TestJoinedDraws(t *testing.T) {
	set := colourful(t, 8)
	text := strings.Replace(scenes, "features: {sift: dense, words: 20, grid: 2x2}", "features: [{pixels: 4, normalise: none}, {sift: dense, words: 10, grid: 2x2, normalise: l1}, colour]", 1)
	plan := func(opt input.PrepareOptions) *Plan {
		e, err := spec.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		p, err := NewPlan(t.Context(), e, prepare(t, text, set, opt))
		if err != nil {
			t.Fatal(err)
		}
		if n, m := p.Inputs.Dims(); n != 24 || m != 16+40+72 || p.Inputs.X != nil {
			t.Fatalf("%d samples of %d features, %v", n, m, p.Inputs.X)
		}
		return p
	}
	store := open(t, t.TempDir())
	p := plan(input.PrepareOptions{Cache: store})
	log := runPlan(t, p, RunOptions{})
	if string(runPlan(t, plan(input.PrepareOptions{Cache: store}), RunOptions{Workers: 1})) != string(log) || string(runPlan(t, plan(input.PrepareOptions{}), RunOptions{Workers: 3})) != string(log) {
		t.Error("another log with other workers or another cache")
	}
	learned, err := p.Learned(t.Context())
	scales := learned.Scales
	if err != nil || len(scales) != 3 || scales[1].Name != "sift" || scales[1].Count != 40 {
		t.Fatalf("scales %+v, %v", scales, err)
	}
	d := p.draw(3, 0)
	seen, err := p.view(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range [][2]int{{0, 16}, {16, 56}, {56, 128}} {
		if mean := meanSquare(seen.X(), part[0], part[1]); math.Abs(mean-1) > 1e-12 {
			t.Errorf("columns %v of the training samples have a mean squared length of %v", part, mean)
		}
	}
	if mean := meanSquare(seen.Test(), 0, 16); math.Abs(mean-1) < 1e-9 {
		t.Errorf("the scale depends on the test samples: their mean squared length is %v", mean)
	}
	for _, row := range d.testRows {
		img := image.NewGray(image.Rect(0, 0, 80, 70))
		for i := range img.Pix {
			img.Pix[i] = uint8(i * i * i >> 3)
		}
		writePNG(t, p.Inputs.Set.Files[p.Inputs.Rows[row]], img)
	}
	other := plan(input.PrepareOptions{})
	if after, err := other.Learned(t.Context()); err != nil || !slices.Equal(after.Scales, scales) {
		t.Errorf("the scales depend on the test images: %v, %v", after, err)
	}
	if other.trials[0].id == p.trials[0].id {
		t.Error("other images are the same trials")
	}
}

// TestJoinedOfNewSamples checks that saved words and scales give the same features for any number of samples.
func TestJoinedOfNewSamples(t *testing.T) {
	set := colourful(t, 4)
	all := prepare(t, "{name: x, methods: [nmf], features: [{hog: true, weight: 3}, {pixels: 4, normalise: none}]}", set, input.PrepareOptions{})
	text := fmt.Sprintf("{name: x, methods: [nmf], features: [{hog: true, scale: %v}, {pixels: 4, normalise: none, scale: %v}]}", all.Scales[0].Scale, all.Scales[1].Scale)
	some := prepare(t, text, filepath.Join(set, "down"), input.PrepareOptions{})
	if want := matrix.SelectRows(all.X, []int{4, 5, 6, 7}); !mat.Equal(some.X, want) {
		t.Error("samples alone have other features than among all")
	}
}

// TestJoinedSkips checks that a sample that one of the features rejects is left out with the reason.
func TestJoinedSkips(t *testing.T) {
	set := colourful(t, 3)
	writePNG(t, filepath.Join(set, "down", "01.png"), image.NewGray(image.Rect(0, 0, 70, 70))) // black
	for _, class := range []string{"across", "slanting"} {
		writePNG(t, filepath.Join(set, class, "02.png"), &image.Gray{Pix: slices.Repeat([]uint8{200}, 9), Stride: 3, Rect: image.Rect(0, 0, 3, 3)})
	}
	text := "{name: x, methods: [nmf], features: [{pixels: 8}, colour, {sift: dense, words: 8}]}"
	e, err := spec.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	if _, err := input.Prepare(t.Context(), e, input.PrepareOptions{}); err == nil || !strings.Contains(err.Error(), "across/02.png: no descriptors") {
		t.Errorf("got error %v, want one that names the first that cannot be used", err)
	}
	e.Features.SkipBad = true
	in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	left := []string{"across/02.png: no descriptors", "down/01.png: all values are zero", "slanting/02.png: no descriptors"}
	if n, _ := in.Dims(); n != 6 || len(in.Rows) != 6 || len(in.Skipped) != len(left) {
		t.Fatalf("%d samples, without %v", n, in.Skipped)
	}
	for i, want := range left {
		if !strings.Contains(in.Skipped[i].Error(), want) {
			t.Errorf("left out: got %v, want %q", in.Skipped[i], want)
		}
	}
	for i, row := range in.Rows {
		if name := in.Set.Names[row]; name == "down/01.png" || strings.HasSuffix(name, "s/02.png") {
			t.Errorf("row %d is %s", i, name)
		}
	}
}

// TestJoinedSigns checks that negative values are rejected before trials, in clustering and classification.
func TestJoinedSigns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.csv")
	rows := "a,b,class\n"
	for i := range 12 {
		rows += fmt.Sprintf("%d,%d,%d\n", i+1, 5-i, i%2)
	}
	if err := os.WriteFile(path, []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"{name: x, methods: [nmf], features: [pixels, {pixels: {}, normalise: none}]}",
		"{name: x, task: classify, train: 3, test: rest, methods: [nmf], features: [pixels, {pixels: {}, normalise: none}]}",
	} {
		e, err := spec.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = path
		in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if _, err := NewPlan(t.Context(), e, in); err == nil || !strings.Contains(err.Error(), "row 7, column 2: value -") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

// TestJoinedExtremes checks that values that no factor can rescale are an error.
func TestJoinedExtremes(t *testing.T) {
	for values, want := range map[string]string{
		"1e200,2\n3e200,1\n":      "",
		"5e-324,0\n0,5e-324\n":    "too small or too large",
		"1.7e308,1\n1.7e308,1\n":  "",
		"1e-310,1e-310\n1,2e-3\n": "",
	} {
		path := filepath.Join(t.TempDir(), "v.csv")
		if err := os.WriteFile(path, []byte("a,b\n"+values), 0o666); err != nil {
			t.Fatal(err)
		}
		e := &spec.Experiment{Data: spec.Data{Set: path}}
		if err := Set(e, "features", "[{normalise: none}, {normalise: max}]"); err != nil {
			t.Fatal(err)
		}
		in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: got error %v, want one with %q", values, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", values, err)
			continue
		}
		if mean := meanSquare(in.X, 0, 2); math.Abs(mean-1) > 1e-9 {
			t.Errorf("%q: a mean squared length of %v", values, mean)
		}
		in.Close()
	}
}

// TestJoinedIllustrate checks that parts are shown on photographs by their weights of visual words, at any position of
// these columns.
func TestJoinedIllustrate(t *testing.T) {
	set := colourful(t, 4)
	const words = "{sift: dense, words: 10, grid: 2x2}"
	alone := prepare(t, "{name: x, methods: [nmf], features: "+words+"}", set, input.PrepareOptions{})
	in := prepare(t, "{name: x, methods: [nmf], features: [colour, "+words+"]}", set, input.PrepareOptions{})
	// If the joined model has the basis vectors of the words in these columns, the same parts are shown.
	basis := mat.NewDense(40, 2, nil)
	for j := range 40 {
		basis.Set(j, j/3%2, float64(1+j%7))
	}
	below := mat.NewDense(72+40, 2, nil)
	below.Slice(72, 112, 0, 2).(*mat.Dense).Copy(basis)
	show := func(in *input.Inputs, basis *mat.Dense) *models.Illustrations {
		g := &grouping.Grouping{Method: "nmf", Groups: make([]int, 12), Result: &factor.Result{Model: &factor.Additive{Basis: basis}}}
		shown, err := g.Illustrate(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return shown
	}
	want, got := show(alone, basis), show(in, below)
	if diff := cmp.Diff(want.Parts[0].Patches, got.Parts[0].Patches); diff != "" {
		t.Errorf("other patches (-alone +joined):\n%s", diff)
	}
	if diff := cmp.Diff(want.Words, got.Words); diff != "" {
		t.Errorf("other words (-alone +joined):\n%s", diff)
	}
}

// TestJoinedMemory checks that joining reserves memory in the budget and releases it.
func TestJoinedMemory(t *testing.T) {
	testkit.Slow(t)
	set := paint(t) // 16 images
	e := &spec.Experiment{Data: spec.Data{Set: set}}
	if err := Set(e, "features", "[{pixels: 500}, {pixels: 400}]"); err != nil {
		t.Fatal(err)
	}
	// 16 rows of 250,000 and 160,000 values take 52 MB, and the joined rows another 52 MB.
	_, err := input.Prepare(memory.NewContext(t.Context(), memory.New(memory.Least)), e, input.PrepareOptions{})
	refused(t, err, "the features of")
	_, err = input.Prepare(memory.NewContext(t.Context(), memory.New(122<<20)), e, input.PrepareOptions{})
	refused(t, err, "the features of", "16×410000")
	ctx := memory.NewContext(t.Context(), memory.New(200<<20))
	for range 3 {
		in, err := input.Prepare(ctx, e, input.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		in.Close()
	}
}
