package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestCommons: fits of one draw share what is the same, those of others do not, and nothing
// stays when all have ended.
func TestCommons(t *testing.T) {
	const nmf = `methods: [nmf, {name: ccf, init: nmf}, {name: nmf, as: other, iterations: 5}, {name: cf, init: nmf}], labels: 2`
	for text, want := range map[string]int{ // kept at once
		`{name: x, task: classify, methods: [pca, original, lda], train: 6, test: rest, repeats: 2, rank: [1, 2]}`: 2,
		`{name: x, ` + nmf + `, repeats: 2, classes: [2, 3]}`:                                                      4,
		`{name: x, ` + nmf + `, repeats: 2, rank: [2, 3]}`:                                                         4,
	} {
		p := newPlan(t, text, testkit.CSV(t, 12, 10, 11))
		p.expect(p.trials)
		if len(p.common.of) != want {
			t.Errorf("%s: %d are kept, want %d", text, len(p.common.of), want)
		}
		given := map[any]commonID{}
		type fitID struct {
			draw   drawID
			method int
		}
		fitted := map[fitID]bool{}
		for _, tr := range p.trials {
			id := p.commonOf(tr)
			fit := fitID{id.draw, tr.method}
			if p.methods[tr.method].needs.Direct && fitted[fit] {
				continue // another rank
			}
			fitted[fit] = true
			shared, done := p.common.use(id)
			of, sharer := given[shared]
			switch name := p.Experiment.Methods[tr.method].Label(); {
			case (shared == nil) != (name == "other" || name == "original"):
				t.Errorf("%s: %s shares %p", text, name, shared)
			case shared != nil && sharer && of != id:
				t.Errorf("%s: %v shares with %v", text, of, id)
			}
			given[shared] = id
			done()
			done()
		}
		if len(p.common.of) > 0 {
			t.Errorf("%s: something is left of fits that have ended", text)
		}
		for _, tr := range p.trials {
			if again, _ := p.common.use(p.commonOf(tr)); again != nil {
				t.Errorf("%s: more fits share than are expected", text)
			}
		}
	}
}

// TestShareDraws: methods share where the budget has room beside the trials, and what they
// share is given back.
func TestShareDraws(t *testing.T) {
	set := testkit.CSV(t, 12, 10, 11)
	for _, methods := range []string{"pca, lda", "nmf, {name: lccf, init: nmf}"} {
		both := `{name: x, task: classify, methods: [` + methods + `], train: 6, test: rest, rank: 2}`
		budget := memory.New(memory.Least)
		free := budget.Free()
		release, ok := newPlan(t, both, set).shareDraws(budget, 2)
		if !ok || budget.Free() >= free {
			t.Fatalf("%s share nothing, or in no memory: %v", methods, ok)
		}
		release()
		if budget.Free() != free {
			t.Errorf("%s: memory is not given back", methods)
		}
		if _, ok := newPlan(t, both, set).shareDraws(budget, 1<<20); ok || budget.Free() != free {
			t.Errorf("%s: a million workers share in the least memory", methods)
		}
	}
	for _, methods := range []string{"pca, nmf", "nmf, {name: lccf, init: nndsvda}", "original, {name: lccf, init: nmf}"} {
		if _, ok := newPlan(t, `{name: x, task: classify, methods: [`+methods+`], train: 6, test: rest, rank: 2}`, set).shareDraws(memory.New(memory.Least), 2); ok {
			t.Errorf("%s: one method shares with itself", methods)
		}
	}
}

// TestSharedRecords: what methods share of a draw does not change what they find.
func TestSharedRecords(t *testing.T) {
	set := testkit.CSV(t, 12, 10, 11)
	run := func(methods string) []Record {
		records, err := newPlan(t, `{name: x, methods: [`+methods+`], labels: 3, repeats: 3, rank: [2, 3]}`, set).Run(t.Context(), nil, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return records
	}
	together := map[string]Record{}
	names := []string{"{name: cf, init: nmf, iterations: 20}", "nmf", "{name: ccf, init: nmf, iterations: 20}"}
	for _, r := range run(names[0] + ", " + names[1] + ", " + names[2]) {
		together[r.Trial] = r
	}
	for _, name := range names {
		for _, alone := range run(name) {
			if diff := cmp.Diff(alone, together[alone.Trial]); diff != "" {
				t.Errorf("%s (-alone +among others):\n%s", name, diff)
			}
		}
	}
}
