package pipeline

import (
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestEach: several sets are experiments of their own names, and one is what it was.
func TestEach(t *testing.T) {
	e := &spec.Experiment{Name: "many", Sets: []spec.Data{{Set: "yale"}, {Set: "a/Faces.mat"}, {Set: "b/faces.mat"}, {Set: "set:yale"}}, Seed: 3}
	e.Data = e.Sets[0]
	e.Data.Root, e.Data.Labelled = "root", true
	if got, want := e.SetNames(), []string{"yale", "faces-mat", "faces-mat-2", "yale-2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
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
