package pipeline

import (
	"sync"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/memory"
)

// commons keeps what the direct methods of a draw have in common until each of them is
// fitted.
type commons struct {
	mu sync.Mutex
	of map[drawID]*common
}

type common struct {
	factor.Shared
	left int // fits
}

// expect forgets what it has and expects one fit of each direct method of the trials for
// each of their draws.
func (c *commons) expect(todo []trial, methods []*method) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of = map[drawID]*common{}
	seen := map[fitID]bool{}
	for _, t := range todo {
		id := fitID{drawID{t.k, t.repeat}, t.method}
		if !methods[t.method].needs.Direct || seen[id] {
			continue
		}
		seen[id] = true
		if c.of[id.draw] == nil {
			c.of[id.draw] = &common{}
		}
		c.of[id.draw].left++
	}
}

// use returns what fits of a draw share, nil where none is expected. The fit that calls it
// calls done when it has ended.
func (c *commons) use(id drawID) (s *factor.Shared, done func()) {
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

// shareDraws takes the memory that direct methods need to share what they find of a draw, of
// which as many are at work as there are workers. It is not ok where there is nothing to share,
// or where the trials themselves need the memory.
func (p *Plan) shareDraws(budget *memory.Budget, workers int) (release func(), ok bool) {
	direct := 0
	for _, m := range p.methods {
		if m.needs.Direct {
			direct++
		}
	}
	if direct < 2 {
		return nil, false
	}
	s := p.problem(p.most(), 1)
	need := factor.SharedMemory(factor.Size{Samples: s.n, Features: s.m}) * int64(workers)
	if s.labelled < s.n {
		need *= int64(min(direct, 3)) // of all samples, of those with labels, and at the mean of these
	}
	release, err := budget.Keep(need, "what methods share of a draw")
	if err != nil {
		return nil, false
	}
	if p.checkMemory(budget) != nil {
		release()
		return nil, false
	}
	return release, true
}
