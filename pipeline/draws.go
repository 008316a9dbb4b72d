package pipeline

import (
	"sync"

	"github.com/seed4492f2cd/partwise/internal/memory"
)

// drawn is what the trials of a draw are given.
type drawn struct {
	draw
	seen *view // nil where each draw learns features of its own
}

func newDrawn(p *Plan, id drawID) *drawn {
	d := &drawn{draw: p.draw(id.k, id.repeat)}
	if p.Inputs.X != nil {
		d.seen = p.Inputs.pick(d.draw)
	}
	return d
}

// draws keeps draws until the last of their trials has ended, so that their samples are drawn and
// their features picked once.
type draws struct {
	mu sync.Mutex
	of map[drawID]*keptDraw
}

type keptDraw struct {
	get  func() *drawn
	left int // trials
}

// expect forgets what is kept and expects the trials.
func (d *draws) expect(todo []trial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.of = map[drawID]*keptDraw{}
	for _, t := range todo {
		id := drawID{t.k, t.repeat}
		if d.of[id] == nil {
			d.of[id] = &keptDraw{}
		}
		d.of[id].left++
	}
}

// use returns what makes a draw of the plan when it is called first. It is the same for all trials of the draw that are
// expected. The trial that calls it calls done, once, when it has ended.
func (d *draws) use(p *Plan, id drawID) (get func() *drawn, done func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	get = sync.OnceValue(func() *drawn { return newDrawn(p, id) })
	found := d.of[id]
	if found == nil {
		return get, func() {}
	}
	if found.get == nil {
		found.get = get
	}
	return found.get, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if found.left--; found.left == 0 {
			delete(d.of, id)
		}
	}
}

// keepDraws takes the memory of the features of draws beside those of the trials that are at work. It is
// not ok where draws have features of their own, which are kept anyway, or one trial, or where the trials
// themselves need the memory.
func (p *Plan) keepDraws(budget *memory.Budget, workers int) (release func(), ok bool) {
	if p.Inputs.X == nil || len(p.methods)*max(len(p.Experiment.Rank), 1) < 2 {
		return nil, false
	}
	return p.keep(budget, int64(p.problem(p.most(), 1).input())*int64(workers), "the features of draws")
}

// keep takes so much of the budget for what trials use in common. It is not ok where that is nothing, or where
// the trials themselves need it.
func (p *Plan) keep(budget *memory.Budget, need int64, what string) (release func(), ok bool) {
	if need == 0 {
		return nil, false
	}
	release, err := budget.Keep(need, what)
	if err != nil {
		return nil, false
	}
	if p.checkMemory(budget) != nil {
		release()
		return nil, false
	}
	return release, true
}
