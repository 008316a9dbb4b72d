package cluster

import (
	"context"
	"maps"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// registered returns the algorithm with the settings that it follows.
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

// everyNth is an algorithm of a program that uses the package.
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

// TestRegister: an algorithm that is registered is found by its name, with its settings.
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
			t.Error("a name that is taken does not panic")
		}
	}()
	Register(Info{Name: "kmeans"}, everyNth{})
}
