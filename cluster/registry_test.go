package cluster

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// registered returns a registered algorithm with settings.
func registered(t *testing.T, of Info, params map[string]any) Clusterer {
	t.Helper()
	params = maps.Clone(params)
	maps.DeleteFunc(params, func(name string, _ any) bool {
		return !slices.ContainsFunc(of.Settings(), func(s settings.Setting) bool { return s.Name == name })
	})
	by, err := of.New(params)
	if err != nil {
		t.Fatal(err)
	}
	return by
}

// everyNth is an algorithm of a program that imports the package.
type everyNth struct {
	First int `setting:"first" help:"the cluster of the first sample"`
}

func (e everyNth) Cluster(_ context.Context, x mat.Matrix, k int, _ Known, _ uint64) (*Result, error) {
	n, _ := x.Dims()
	labels := make([]int, n)
	for i := range labels {
		labels[i] = (e.First + i) % k
	}
	return &Result{Labels: labels}, nil
}

// TestRegister checks that a registered algorithm is found by its name, with its settings.
func TestRegister(t *testing.T) {
	defer func(before []Info) { registry = before }(registry)
	Register(Info{Name: "every-nth", Title: "samples in turn"}, everyNth{})
	info, ok := Lookup("every-nth")
	if !ok || len(info.Settings()) != 1 || info.Memory(Size{N: 4}) != 0 {
		t.Fatalf("found %v with the settings %v", ok, info.Settings())
	}
	got, err := registered(t, info, map[string]any{"first": 1, "restarts": 3}).Cluster(t.Context(), mat.NewDense(4, 1, nil), 3, Known{}, 0)
	if err != nil || !slices.Equal(got.Labels, []int{1, 2, 0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := info.New(map[string]any{"second": 1}); err == nil {
		t.Error("an unknown setting is no error")
	}
	defer func() {
		if recover() == nil {
			t.Error("registering an existing name does not panic")
		}
	}()
	Register(Info{Name: "kmeans"}, everyNth{})
}

// fixture is an exact expected result of a method.
type fixture struct {
	Method    string
	Tolerance float64
	Inputs    struct {
		Rows        [][]float64
		Start       []int
		StartLabels []int       `json:"start_labels"`
		Kernel      [][]float64 `json:"K"`
		Similarity  [][]float64
		Number      int `json:"k"`
		Weight      any `json:"w"`
		Distance    string
		Must        [][2]int
		Cannot      [][2]int
	}
	Result struct {
		Labels        []int
		Objective     *float64
		EmbeddingGram [][]float64 `json:"embedding_gram"`
		Kernel        [][]float64
		Similarity    [][]float64
	}
}

func symmetric(rows [][]float64) *mat.SymDense {
	return mat.NewSymDense(len(rows), slices.Concat(rows...))
}

// k returns the number of clusters of the inputs, given or implied.
func (f *fixture) k() int {
	in := f.Inputs
	if in.Number > 0 {
		return in.Number
	}
	if len(in.Start) > 0 {
		return len(in.Start)
	}
	return slices.Max(in.StartLabels) + 1
}

// features returns the settings of the k-means on features.
func (f *fixture) features(t *testing.T) KMeans {
	k := KMeans{K: f.k()}
	name := f.Inputs.Distance
	if name == "" && strings.Contains(f.Method, "cosine") {
		name = "cosine"
	}
	if name != "" {
		if err := k.Distance.UnmarshalText([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// fixtureChecks maps the start of a method's name to its check.
var fixtureChecks = map[string]func(t *testing.T, f *fixture){
	"kmeans": func(t *testing.T, f *fixture) {
		got, err := from(f.features(t), testkit.Rows(f.Inputs.Rows), f.Inputs.Start...)
		f.checkLabels(t, got, err)
	},
	"cop_kmeans": func(t *testing.T, f *fixture) {
		got, err := copFrom(f.features(t), testkit.Rows(f.Inputs.Rows), Known{MustLink: f.Inputs.Must, CannotLink: f.Inputs.Cannot}, f.Inputs.Start...)
		f.checkLabels(t, got, err)
	},
	"kernel_kmeans": func(t *testing.T, f *fixture) {
		got, err := kernelFrom(KernelKMeans{K: f.k()}, symmetric(f.Inputs.Kernel), f.Inputs.StartLabels)
		f.checkLabels(t, got, err)
	},
	"ncut": func(t *testing.T, f *fixture) {
		embedding, err := NormalisedCut{KMeans{K: f.k()}}.Embed(context.Background(), symmetric(f.Inputs.Similarity))
		if err != nil {
			t.Fatal(err)
		}
		var gram mat.Dense
		gram.Mul(embedding, embedding.T())
		f.checkMatrix(t, &gram, f.Result.EmbeddingGram)
	},
	"ss_kk": func(t *testing.T, f *fixture) {
		s := SSKK{KernelKMeans: KernelKMeans{K: f.k()}}
		s.Weight, _ = f.Inputs.Weight.(float64) // else the formula of the default, in words
		got, err := s.Kernel(context.Background(), symmetric(f.Inputs.Similarity), Known{MustLink: f.Inputs.Must, CannotLink: f.Inputs.Cannot})
		if err != nil {
			t.Fatal(err)
		}
		f.checkMatrix(t, got, f.Result.Kernel)
	},
	"ss_snc": func(t *testing.T, f *fixture) {
		got, err := linkSimilarity(symmetric(f.Inputs.Similarity), Known{MustLink: f.Inputs.Must, CannotLink: f.Inputs.Cannot})
		if err != nil {
			t.Fatal(err)
		}
		f.checkMatrix(t, got, f.Result.Similarity)
	},
}

func (f *fixture) checkLabels(t *testing.T, got *Result, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f.Result.Labels, got.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if want := f.Result.Objective; want == nil || !near(got.Objective, *want, f.Tolerance) {
		t.Errorf("objective %v, want %v", got.Objective, *want)
	}
}

func (f *fixture) checkMatrix(t *testing.T, got mat.Matrix, want [][]float64) {
	t.Helper()
	testkit.Near(t, f.Method, got, testkit.Rows(want), f.Tolerance)
}

// near reports whether a and b differ by at most tolerance, relative to b or 1.
func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(b))
}

// TestFixtures checks the fixtures of this package's methods.
func TestFixtures(t *testing.T) {
	testkit.Fixtures(t, fixtureChecks, func(t *testing.T, check func(*testing.T, *fixture), text []byte) {
		f := fixture{Tolerance: 1e-9}
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatal(err)
		}
		check(t, &f)
	})
}
