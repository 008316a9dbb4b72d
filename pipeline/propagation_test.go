package pipeline

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

const propagated = `
name: p
features: {whiten: auto, propagate: 0.8}
methods: [kmeans, {name: ccf, iterations: 5}]
labels: 2
classes: 2..4
repeats: 2
`

// TestPropagatedDraws checks that each draw propagates its own samples, and that methods for non-negative values are
// refused by name.
func TestPropagatedDraws(t *testing.T) {
	set := testkit.CSV(t, 20, 20, 20, 20)
	p := newPlan(t, propagated, set)
	if want := runPlan(t, p, RunOptions{Workers: 1}); !bytes.Equal(runPlan(t, newPlan(t, propagated, set), RunOptions{Workers: 3}), want) {
		t.Error("3 workers make another log than one")
	}
	plain := prepare(t, strings.Replace(propagated, "features: {whiten: auto, propagate: 0.8}", "", 1), set, input.PrepareOptions{})
	for _, k := range []int{2, 4} {
		d := p.draw(k, 0)
		seen, err := p.view(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := cluster.Propagation{Ridge: 3, Share: 0.8, Clusters: k}.Fit(t.Context(), matrix.SelectRows(plain.X, d.rows))
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(seen.X(), want) {
			t.Errorf("%d classes: got other features than of the samples of the draw", k)
		}
	}
	e, err := spec.Parse([]byte(strings.Replace(propagated, "ccf", "nmf", 1)))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	if _, err := input.Prepare(t.Context(), e, input.PrepareOptions{}); err == nil || !strings.Contains(err.Error(), "nmf needs values of 0 or more, but whitened") {
		t.Errorf("got the error %v", err)
	}
	if p := newPlan(t, strings.NewReplacer("ccf", "nmf", "whiten: auto, ", "").Replace(propagated), set); p.Inputs.HasNegative() {
		t.Error("propagated non-negative features are negative")
	}
}

// TestPropagatedModel checks that a saved model gives its training samples their own features.
func TestPropagatedModel(t *testing.T) {
	for _, features := range []string{"{whiten: 2}", "{propagate: auto}", "{whiten: 2, propagate: auto}"} {
		text, set := "features: "+features, testkit.CSV(t, 9, 10, 11)
		in := prepare(t, text, set, input.PrepareOptions{})
		m, err := models.NewModel(t.Context(), in, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		read, err := models.ReadModel(t.Context(), bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatalf("%s: %v", features, err)
		}
		e := &spec.Experiment{Features: read.Features}
		e.Data.Set = set
		again, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		testkit.Near(t, features, again.X, in.X, 1e-9)
		some := again.Set.Subset([]int{3, 17})
		few, err := input.PrepareSet(t.Context(), e, some, input.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		testkit.Near(t, features, few.X, matrix.SelectRows(in.X, []int{3, 17}), 1e-9)
		read.Names = m.Names // which are not read
		var second bytes.Buffer
		if err := read.Save(&second); err != nil || !slices.Equal(second.Bytes(), file.Bytes()) {
			t.Errorf("%s: the model is saved again with other bytes: %v", features, err)
		}
	}
}
