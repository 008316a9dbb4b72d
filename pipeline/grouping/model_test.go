package grouping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/vocab"
)

// everyFeature has every extractor with non-default settings.
var everyFeature = []spec.Features{
	{}, {Power: 0.5, Normalise: features.NormL1}, {Extractor: features.Pixels{Size: features.Size{Height: 12, Width: 20}, Colour: true}, Crop: spec.Crop{Square: true}},
	{Extractor: features.HOG{}, Crop: spec.Crop{Box: []int{1, 2, 30, 40}}},
	{Extractor: features.ColourHistogram{Grid: features.Cells{Rows: 2, Columns: 3}, Hues: 5}, Crop: spec.Crop{Eyes: "eyes.csv"}},
	{Extractor: features.Network{Layer: "x", Places: true, Size: 64, Mean: []float64{1, 2.5, 3}, Scale: []float64{4}, Order: "bgr"}, Crop: spec.Crop{Whole: true}},
	{Extractor: features.DenseSIFT{Step: 4, Bins: []int{2, 4}, Root: true, MaxPixels: 1000}, Words: spec.Words{
		Learning: spec.Learning{Count: 9, Sample: 100, PerImage: 7, Assignment: vocab.Assignment{Nearest: 2, Sigma: 3.5}},
		Grid:     vocab.Grid{{Rows: 1, Columns: 1}, {Rows: 2, Columns: 3}}, IDF: true}},
	{Joined: []spec.Weighted{
		{Features: spec.Features{Extractor: features.DenseSIFT{}, Power: 0.5}, Scale: 1.0 / 3},
		{Features: spec.Features{Extractor: features.ColourHistogram{}}, Scale: 1e-20}, {Features: spec.Features{Extractor: features.Pixels{}}, Weight: 3},
	}},
}

// TestFeaturesDocument: features are equal after writing and reading, with every extractor.
func TestFeaturesDocument(t *testing.T) {
	all := slices.Clone(everyFeature)
	for _, info := range features.Extractors() {
		all = append(all, spec.Features{Extractor: info.Zero})
	}
	for _, f := range all {
		text, err := json.Marshal(f.Document())
		if err != nil {
			t.Fatal(err)
		}
		got, err := spec.ReadFeatures(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if f.Joined == nil {
			f.Extractor = f.ExtractorOrPixels()
		}
		if want := fmt.Sprintf("%+v", f); fmt.Sprintf("%+v", got) != want {
			t.Errorf("%s is read as\n%+v, want\n%s", text, got, want)
		}
	}
}

// savedModel returns a model of a grouping of vectors, and its file.
func savedModel(t testing.TB, g Groups) (*input.Inputs, *Grouping, *models.Model, []byte) {
	t.Helper()
	file := testkit.CSV(t, 9, 10, 11)
	e := &spec.Experiment{Data: spec.Data{Set: file}}
	in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	found, err := g.Find(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := found.Model(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	var file1 bytes.Buffer
	if err := m.Save(&file1); err != nil {
		t.Fatal(err)
	}
	return in, found, m, file1.Bytes()
}

// TestModelFile: a model that was read assigns samples as the written one, and is written again with equal bytes.
func TestModelFile(t *testing.T) {
	for _, g := range []Groups{
		{K: 3, Method: spec.Method{Name: "kmeans"}, Cluster: spec.Cluster{Distance: cluster.DistanceCosine}},
		{K: 3, Method: spec.Method{Name: "nmf", Iterations: 30}}, {K: 3, Method: spec.Method{Name: "nmf-kl", Iterations: 30, By: spec.Largest}},
		{K: 3, Method: spec.Method{Name: "cf", Iterations: 30}}, {K: 3, Method: spec.Method{Name: "pca"}},
	} {
		in, found, m, text := savedModel(t, g)
		read, err := models.ReadModel(t.Context(), bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatalf("%v: %v", g.Method, err)
		}
		if read.Data != m.Data || read.Columns != m.Columns {
			t.Errorf("%v: read %+v", g.Method, read)
		}
		if err := read.Check(t.Context(), in.Set); err != nil {
			t.Errorf("%v: %v", g.Method, err)
		}
		want, err := m.Assign(t.Context(), in, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read.Assign(t.Context(), in, 0.5)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %v, %v", g.Method, got, err)
		}
		for i, a := range got {
			if !a.Known || a.None || a.Group != found.Groups[i] {
				t.Errorf("%v: sample %d of group %d: %+v", g.Method, i+1, found.Groups[i], a)
			}
		}
		// As unknown samples, nearly all keep their group, and about half are farther than half of their group.
		read.Groups.Samples = nil
		got, err = read.Assign(t.Context(), in, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		moved, none := 0, 0
		for i, a := range got {
			if a.Known || a.Group != found.Groups[i] {
				moved++
			}
			if a.None {
				none++
			}
		}
		if moved > 5 || none < 5 || none > 20 {
			t.Errorf("%v: of 30 samples %d are elsewhere, and %d in none of the groups", g.Method, moved, none)
		}
	}
}

// TestModelOfLater: files of a later version, and files without features, are refused with that reason.
func TestModelOfLater(t *testing.T) {
	for want, version := range map[string]int{"format version 2 is newer than the supported version": 2, "expected 1 or more": 0} {
		var file bytes.Buffer
		z := npz.NewWriter(&file)
		z.Integers("format_version", version)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := models.ReadModel(t.Context(), bytes.NewReader(file.Bytes()), int64(file.Len())); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
	_, found, _, _ := savedModel(t, Groups{K: 3, Method: spec.Method{Name: "nmf", Iterations: 2}})
	var file bytes.Buffer
	if err := found.Result.Save(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := models.ReadModel(t.Context(), bytes.NewReader(file.Bytes()), int64(file.Len())); err == nil || !strings.Contains(err.Error(), "it lacks a description of its features, as models of partwise run and of earlier versions do: use partwise fit or cluster") {
		t.Errorf("error %v", err)
	}
}

// TestModelChecks: samples of another kind than the training samples are refused, and so is another network.
func TestModelChecks(t *testing.T) {
	in, _, m, _ := savedModel(t, Groups{K: 3, Method: spec.Method{Name: "kmeans"}})
	other := *in.Set
	other.Height, other.Width = 1, m.Columns
	if err := m.Check(t.Context(), &other); err == nil || !strings.Contains(err.Error(), "in vectors, but the model needs vectors of") {
		t.Errorf("error %v", err)
	}
}

// FuzzReadModel checks that any file gives a consistent model or an error, with memory in proportion to its bytes.
func FuzzReadModel(f *testing.F) {
	for _, g := range []Groups{
		{K: 3, Method: spec.Method{Name: "kmeans"}}, {K: 3, Method: spec.Method{Name: "nmf", Iterations: 2, By: spec.Largest}}, {K: 2, Method: spec.Method{Name: "cf", Iterations: 2, Params: map[string]any{"kernel": "rbf"}}},
	} {
		_, _, _, text := savedModel(f, g)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var m *models.Model
		var err error
		testkit.AllocatesAtMost(t, 64<<20+300*uint64(len(text)), func() { m, err = models.ReadModel(t.Context(), bytes.NewReader(text), int64(len(text))) })
		if err != nil {
			return
		}
		if m.Groups != nil {
			k, columns := m.Groups.Centres.Points.Dims()
			if _, err := m.Groups.Centres.Memberships(t.Context(), mat.NewDense(2, columns, nil), nil); err == nil {
				m.Groups.Spread.RawRowView(k - 1)
			}
		}
		if err := m.Save(&bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzReadStart checks that any file gives non-negative initial factors of one rank, or an error.
func FuzzReadStart(f *testing.F) {
	_, _, _, text := savedModel(f, Groups{K: 3, Method: spec.Method{Name: "cf", Iterations: 2}})
	f.Add(text)
	var file bytes.Buffer
	z := npz.NewWriter(&file)
	z.Floats("rows", []int{2, 1}, func(int) []float64 { return []float64{1} })
	z.Floats("columns", []int{3, 1}, func(int) []float64 { return []float64{2} })
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		testkit.AllocatesAtMost(t, 64<<20+300*uint64(len(text)), func() {
			start, k, err := ReadStart(bytes.NewReader(text), int64(len(text)))
			if err != nil {
				return
			}
			for _, a := range []*mat.Dense{start.Basis, start.Coefficients, start.Weights, start.Rows, start.Columns} {
				if a != nil && (a.RawMatrix().Cols != k || mat.Min(a) < 0) {
					t.Fatalf("got %v of rank %d", mat.Formatted(a), k)
				}
			}
		})
	})
}

// TestDefaultMethodOfFile: the settings in a file of network features choose the method.
func TestDefaultMethodOfFile(t *testing.T) {
	for settings, want := range map[string]string{
		"":                               "nmf",
		"{":                              "nmf",
		`{"hog":{}}`:                     "nmf",
		`{"network":{"at":"lite0"}}`:     "propagated-kmeans",
		`{"network":{"places":true}}`:    "nmf",
		`{"network":{"file":"a.onnx"}}`:  "propagated-kmeans",
		`[{"network":{}},{"colour":{}}]`: "nmf",
	} {
		in := &input.Inputs{Set: &datasets.Set{Settings: settings}, X: mat.NewDense(2, 1, []float64{1, 2})}
		if got := (Groups{}).DefaultMethod(in).Name; got != want {
			t.Errorf("%s: %s, want %s", settings, got, want)
		}
	}
}
