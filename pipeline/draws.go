package pipeline

import (
	"context"
	"sync"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// drawn is a draw with all that its trials share. Each part is made once, for the first trial
// that asks for it, and is dropped with the draw when its last trial has ended.
type drawn struct {
	draw
	plan  *Plan
	view  fitting.Once[*input.View]
	rank  fitting.Once[*spec.RankChoice]
	count fitting.Once[*spec.CountChoice]
	// shared has the principal directions that direct methods have in common.
	shared factor.Shared
	// By method: the fit of a direct method, which serves all ranks, and the trial of a method
	// on the features, which has no rank.
	direct     []fitting.Once[*fitting.Represented]
	onFeatures []fitting.Once[*finished]
}

func newDrawn(p *Plan, id drawID) *drawn {
	many := len(p.methods)
	return &drawn{
		draw: p.draw(id.k, id.repeat), plan: p,
		direct: make([]fitting.Once[*fitting.Represented], many), onFeatures: make([]fitting.Once[*finished], many),
	}
}

// features returns what the methods see of the draw. Where it is learned, the trials share it.
func (d *drawn) features(ctx context.Context) (*input.View, error) {
	if d.plan.Inputs.X != nil {
		return d.plan.view(ctx, d.draw)
	}
	return d.view.Get(ctx, func() (*input.View, error) { return d.plan.view(ctx, d.draw) })
}

// view returns what the methods see of a draw.
func (p *Plan) view(ctx context.Context, d draw) (*input.View, error) {
	return p.Inputs.View(ctx, d.rows, d.testRows, rng.Seed(p.Experiment.Seed, "words", d.id.k, d.id.repeat))
}

// draws holds the draws that trials are at work on.
type draws struct {
	mu    sync.Mutex
	of    map[drawID]func() *drawn
	left  map[drawID]int // trials that have not ended
	share bool           // whether direct methods share principal directions
	// modelled makes the draw whose models are saved. It stays with the plan: its trials may run
	// again once the best ranks are known, and models and tables need its words.
	modelled func() *drawn
}

// expect drops the open draws, and counts the trials of those to come.
func (d *draws) expect(todo []trial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.of, d.left = map[drawID]func() *drawn{}, map[drawID]int{}
	for _, t := range todo {
		d.left[t.draw()]++
	}
}

// useDraw returns a function that makes a trial's draw at its first call; all trials of a draw get the same.
// The trial calls done once, when it has ended.
func (p *Plan) useDraw(t trial) (get func() *drawn, done func()) {
	d, id := &p.draws, t.draw()
	d.mu.Lock()
	defer d.mu.Unlock()
	if get = d.of[id]; get == nil {
		if get = d.modelled; !p.isModelled(t) {
			get = sync.OnceValue(func() *drawn { return newDrawn(p, id) })
		}
		if d.left[id] > 0 {
			d.of[id] = get
		}
	}
	return get, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.left[id]--; d.left[id] == 0 {
			delete(d.of, id)
		}
	}
}

// keepDirections takes the memory of the principal directions of draws, where several direct methods share
// them. It is not ok where the trials themselves need the memory.
func (p *Plan) keepDirections(budget *memory.Budget, workers int) (release func(), ok bool) {
	direct := 0
	for _, m := range p.methods {
		if m.Needs.Direct {
			direct++
		}
	}
	if direct < 2 {
		return nil, false
	}
	s := p.problem(p.most(), 1)
	n, m := float64(s.N), float64(s.M)
	release, err := budget.Keep(int64(8*(n*m+3*min(n, m)*min(n, m)))*int64(workers+1), "the principal directions of draws")
	if err != nil {
		return nil, false
	}
	if p.checkMemory(budget) != nil {
		release()
		return nil, false
	}
	return release, true
}
