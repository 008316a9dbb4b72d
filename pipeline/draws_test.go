package pipeline

import (
	"testing"

	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/input"
)

// TestDraws: the trials of a draw share one object, and after them only the draw whose models are
// saved stays.
func TestDraws(t *testing.T) {
	p := newPlan(t, `{name: x, methods: [nmf, cf], classes: [2, 3], repeats: 2, labels: 2}`, testkit.CSV(t, 12, 10, 11))
	p.draws.expect(p.trials)
	p.draws.keepViews = true
	given := map[*drawn]drawID{}
	views := map[*input.View]drawID{}
	for _, tr := range p.trials {
		get, done := p.useDraw(tr)
		d := get()
		if of, known := given[d]; known && of != tr.draw() || d.id != tr.draw() {
			t.Errorf("%v is given what belongs to %v", tr.draw(), of)
		}
		seen, err := d.features(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := seen.X().Dims(); n != len(d.rows) {
			t.Errorf("%v: features of %d samples, want %d", tr.draw(), n, len(d.rows))
		}
		given[d], views[seen] = tr.draw(), tr.draw()
		done()
	}
	if len(given) != 4 || len(views) != 4 {
		t.Errorf("%d draws and %d views are made of 4", len(given), len(views))
	}
	if len(p.draws.of) > 0 {
		t.Error("a draw is open though its trials have ended")
	}
	for _, tr := range p.trials {
		get, _ := p.useDraw(tr)
		if _, kept := given[get()]; kept != p.isModelled(tr) {
			t.Errorf("%v: kept is %v", tr.draw(), kept)
		}
	}
}

// TestKeepDraws: features of draws are kept where the budget has room for them beside the trials
// and several trials ask for them, and the memory is given back.
func TestKeepDraws(t *testing.T) {
	set := testkit.CSV(t, 12, 10, 11)
	for text, want := range map[string]bool{
		`{name: x, methods: [nmf, cf], rank: 2}`:  true,
		`{name: x, methods: [nmf], rank: [2, 3]}`: true,
		`{name: x, methods: [nmf], rank: 2}`:      false,
	} {
		budget := memory.New(memory.Least)
		free := budget.Free()
		p := newPlan(t, text, set)
		release, ok := p.keepDraws(budget, 2)
		if ok != want || (budget.Free() < free) != want {
			t.Errorf("%s: kept is %v", text, ok)
		}
		if ok {
			release()
		}
		if _, ok := p.keepDraws(budget, 1<<20); ok || budget.Free() != free {
			t.Errorf("%s: draws of a million workers are kept in the least memory", text)
		}
	}
}
