package pipeline

import (
	"context"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// Progress is called with what is being done, how much of it is done, and how much
// there is, −1 where that is not known. Calls do not overlap, and none comes after
// the function that it was given to has returned.
type Progress func(what string, done, total int)

// reporter owns the Progress of one call: all goroutines of the call tell it. A nil
// one tells nobody.
type reporter struct {
	mu    sync.Mutex
	to    Progress
	ended bool
}

// reported returns what f returns, or, as soon as ctx ends, the error of ctx: then f goes on
// alone to where it next looks at ctx, and reports to nobody. A panic is an error.
func reported[T any](ctx context.Context, progress Progress, f func(*reporter) (T, error)) (T, error) {
	r := &reporter{to: progress}
	defer r.end()
	return guard.Interruptible(ctx, func() (T, error) { return f(r) })
}

func (r *reporter) tell(what string, done, total int) {
	r.call(func() {
		if r.to != nil {
			r.to(what, done, total)
		}
	})
}

// call calls f, unless the call that reports has returned.
func (r *reporter) call(f func()) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		f()
	}
}

// of returns what tells of one piece of work.
func (r *reporter) of(what string) func(done, total int) {
	return func(done, total int) { r.tell(what, done, total) }
}

// end is called when the call returns.
func (r *reporter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
