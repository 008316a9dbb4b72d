package pipeline

import (
	"testing"

	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestCommons: fits of one draw share, those of others do not, and nothing stays when all have
// ended.
func TestCommons(t *testing.T) {
	p := newPlan(t, `{name: x, task: classify, methods: [pca, original, lda], train: 6, test: rest, repeats: 2, rank: [1, 2]}`, testkit.CSV(t, 12, 10, 11))
	p.common.expect(p.trials, p.methods)
	first, doneFirst := p.common.use(drawID{p.most(), 0})
	second, doneSecond := p.common.use(drawID{p.most(), 0})
	other, doneOther := p.common.use(drawID{p.most(), 1})
	if first == nil || first != second || other == nil || first == other {
		t.Errorf("fits of a draw have %p and %p, of another one %p", first, second, other)
	}
	for i, done := range []func(){doneFirst, doneFirst, doneSecond, doneOther} {
		if len(p.common.of) == 0 {
			t.Errorf("nothing is left before fit %d has ended", i)
		}
		done()
	}
	if again, done := p.common.use(drawID{p.most(), 0}); again != nil {
		t.Error("more fits share than are expected")
	} else {
		done()
	}
	if _, done := p.common.use(drawID{p.most(), 1}); len(p.common.of) != 1 {
		t.Errorf("%d draws are left, want 1", len(p.common.of))
	} else {
		done()
	}
	if len(p.common.of) > 0 {
		t.Error("something is left of fits that have ended")
	}
}

// TestShareDraws: methods share where the budget has room beside the trials, and what they
// share is given back.
func TestShareDraws(t *testing.T) {
	set := testkit.CSV(t, 12, 10, 11)
	const both = `{name: x, task: classify, methods: [pca, lda], train: 6, test: rest, rank: 2}`
	budget := memory.New(memory.Least)
	free := budget.Free()
	release, ok := newPlan(t, both, set).shareDraws(budget, 2)
	if !ok || budget.Free() >= free {
		t.Fatalf("two methods share nothing, or in no memory: %v", ok)
	}
	release()
	if budget.Free() != free {
		t.Error("memory is not given back")
	}
	if _, ok := newPlan(t, both, set).shareDraws(budget, 1<<20); ok || budget.Free() != free {
		t.Error("a million workers share in the least memory")
	}
	if _, ok := newPlan(t, `{name: x, task: classify, methods: [pca, nmf], train: 6, test: rest, rank: 2}`, set).shareDraws(budget, 2); ok {
		t.Error("one method shares with itself")
	}
}
