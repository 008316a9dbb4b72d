package pipeline

import (
	"sync"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/memory"
)

// commons keeps what fits of a draw have in common until each of them has ended.
type commons struct {
	mu sync.Mutex
	of map[commonID]*common
}

// commonID tells apart what fits have in common.
type commonID struct {
	draw drawID
	rank int // 0 where there is one alone, or all have it in common
	of   factor.Sharing
}

type common struct {
	factor.Shared
	left int // fits
}

// commonOf returns what the trial's fit has in common with others. That of a direct method is
// one fit for all ranks.
func (p *Plan) commonOf(t trial) commonID {
	m := p.methods[t.method]
	id := commonID{drawID{t.k, t.repeat}, p.row(t), m.sharing}
	if m.needs.Direct {
		id.rank = 0
	}
	return id
}

// expect forgets what is kept and expects the fits of the trials.
func (p *Plan) expect(todo []trial) {
	fits := map[commonID]map[int]bool{} // by method
	for _, t := range todo {
		id := p.commonOf(t)
		if fits[id] == nil {
			fits[id] = map[int]bool{}
		}
		fits[id][t.method] = true
	}
	c := &p.common
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of = map[commonID]*common{}
	for id, methods := range fits {
		if id.of != (factor.Sharing{}) && len(methods) > 1 {
			c.of[id] = &common{left: len(methods)}
		}
	}
}

// use returns what fits share, nil where no other is expected. The fit that calls it calls done
// when it has ended.
func (c *commons) use(id commonID) (s *factor.Shared, done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.of[id]
	if found == nil {
		return nil, func() {}
	}
	return &found.Shared, sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if found.left--; found.left == 0 {
			delete(c.of, id)
		}
	})
}

// shareDraws takes the memory that methods need to share what they find of a draw, of
// which as many are at work as there are workers. It is not ok where there is nothing to share,
// or where the trials themselves need the memory.
func (p *Plan) shareDraws(budget *memory.Budget, workers int) (release func(), ok bool) {
	fits := map[factor.Sharing]int{}
	for _, m := range p.methods {
		fits[m.sharing]++
	}
	delete(fits, factor.Sharing{})
	ranks := p.Experiment.Rank.list()
	s := p.problem(p.most(), ranks[len(ranks)-1].Of(p.most()))
	var need int64
	for sharing, n := range fits {
		if n > 1 {
			need += sharing.Memory(factor.Size{Samples: s.n, Features: s.m, Rank: s.rank, Labelled: s.labelled}, n) * int64(workers)
		}
	}
	return p.keep(budget, need, "what methods share of a draw")
}
