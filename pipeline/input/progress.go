package input

import (
	"context"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// Progress is called with what is being done, how much of it is done, and how much there is, −1 where that is
// not known. Calls do not overlap, and none comes after the function that it was given to has returned.
type Progress func(what string, done, total int)

// Reporter owns the Progress of one call: all goroutines of the call tell it. A nil one tells nobody.
type Reporter struct {
	mu    sync.Mutex
	To    Progress
	ended bool
}

// Reported returns what f returns, or, as soon as ctx ends, the error of ctx: then f goes on
// alone to where it next looks at ctx, and reports to nobody. A panic is an error.
func Reported[T any](ctx context.Context, progress Progress, f func(*Reporter) (T, error)) (T, error) {
	r := &Reporter{To: progress}
	defer r.End()
	return guard.Interruptible(ctx, func() (T, error) { return f(r) })
}

func (r *Reporter) Tell(what string, done, total int) {
	r.Call(func() {
		if r.To != nil {
			r.To(what, done, total)
		}
	})
}

// Call calls f, unless the call that reports has returned.
func (r *Reporter) Call(f func()) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		f()
	}
}

// Of returns what tells of one piece of work.
func (r *Reporter) Of(what string) func(done, total int) {
	return func(done, total int) { r.Tell(what, done, total) }
}

// End is called when the call returns.
func (r *Reporter) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
