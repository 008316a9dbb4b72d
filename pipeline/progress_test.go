package pipeline

import (
	"sync/atomic"
	"testing"
)

// TestProgressHasOneOwner: calls of a Progress do not overlap, and none comes after
// the call that it was given to has returned: not from words that trials learn either.
func TestProgressHasOneOwner(t *testing.T) {
	e, err := Parse([]byte(scenes))
	if err != nil {
		t.Fatal(err)
	}
	set, err := Open(t.Context(), (&Experiment{Data: Data{Set: photograph(t, 8)}}))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set.Name
	calls := map[string]int{} // which the race detector watches
	var inside, returned atomic.Bool
	progress := func(what string, _, _ int) {
		if !inside.CompareAndSwap(false, true) {
			t.Error("two calls overlap")
		}
		if returned.Load() {
			t.Errorf("told of %s when the call had returned", what)
		}
		calls[what]++
		inside.Store(false)
	}
	in, err := PrepareSet(t.Context(), e, set, PrepareOptions{Progress: progress})
	returned.Store(true)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if len(calls) == 0 {
		t.Error("told of nothing")
	}
	p, err := NewPlan(t.Context(), e, in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), nil, RunOptions{Workers: 4}); err != nil {
		t.Fatal(err)
	}
}
