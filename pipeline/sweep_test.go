package pipeline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

const swept = testkit.SweptExperiment

// TestSweep: a list stands for each of its values, with each of the others, the
// last list changing first.
func TestSweep(t *testing.T) {
	e, err := Parse([]byte(swept))
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
	sweeps := []Sweep{
		{Name: "gnmf", Settings: []string{"lambda"}, Methods: []string{"gnmf lambda=1", "gnmf lambda=2", "gnmf lambda=3"}, Values: [][]string{{"1"}, {"2"}, {"3"}}},
		{Name: "gnmf", Settings: []string{"neighbours"}, Methods: []string{"gnmf neighbours=3", "gnmf neighbours=4"}, Values: [][]string{{"3"}, {"4"}}},
	}
	if diff := cmp.Diff(sweeps, e.Methods.sweeps()); diff != "" {
		t.Error(diff)
	}
}

func TestSweepRefuses(t *testing.T) {
	const line = "methods:\n  - {name: gnmf, "
	for text, want := range map[string]string{
		line + "lambda: [1, -1]}":                 `[2:30] gnmf: lambda: want a number from 0 to 1e+100, not -1`,
		line + "lambda: [1, 1.0]}":                `[2:30] lambda: the value 1.0 stands twice`,
		line + "edges: [binary, binary]}":         `[2:34] edges: the value binary stands twice`,
		line + "lambda: []}":                      `[2:26] lambda has no values`,
		line + "lambda: [1, [2]]}":                `[2:30] lambda: want a list of single values`,
		line + "lamda: [1, 2]}":                   `[2:18] unknown key "lamda"`,
		line + "iterations: [10, 0]}":             `[2:35] want a whole number from 1 to`,
		line + "as: [a, b]}":                      `[2:22] want one name`,
		"methods:\n  - {name: [gnmf, nmf]}":       `[2:12] want one name`,
		"methods:\n  - {name: kmeans, k: [1, 2]}": `[2:20] kmeans has no parameter "k"`,
		line + "lambda: [" + numbers(101) + "], neighbours: [" + numbers(100) + "]}": `stands for more than 10000`,
	} {
		_, err := Parse([]byte(text))
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
