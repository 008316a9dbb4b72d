package pipeline

import (
	"testing"

	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestDraws: the trials of a draw are given the same, those of others are not, and nothing
// stays when all have ended.
func TestDraws(t *testing.T) {
	p := newPlan(t, `{name: x, methods: [nmf, cf], classes: [2, 3], repeats: 2, labels: 2}`, testkit.CSV(t, 12, 10, 11))
	p.draws.expect(p.trials)
	given := map[*drawn]drawID{}
	for _, tr := range p.trials {
		id := drawID{tr.k, tr.repeat}
		get, done := p.draws.use(p, id)
		d := get()
		if of, known := given[d]; known && of != id || d.id != id {
			t.Errorf("%v is given what belongs to %v", id, of)
		}
		if n, _ := d.seen.x().Dims(); n != len(d.rows) {
			t.Errorf("%v: features of %d samples, want %d", id, n, len(d.rows))
		}
		given[d] = id
		done()
	}
	if len(given) != 4 {
		t.Errorf("%d draws are made of 4", len(given))
	}
	if len(p.draws.of) > 0 {
		t.Error("something is left of draws whose trials have ended")
	}
	if get, _ := p.draws.use(p, drawID{2, 0}); given[get()] != (drawID{}) {
		t.Error("a draw outlives its trials")
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
