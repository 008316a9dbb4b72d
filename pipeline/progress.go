package pipeline

import "sync"

// Progress is called with what is being done, how much of it is done, and how much
// there is, −1 where that is not known. Calls do not overlap, and none comes after
// the function that it was given to has returned.
type Progress func(what string, done, total int)

// reporter owns the Progress of one call: all goroutines of the call tell it. A nil
// one tells nobody.
type reporter struct {
	mu sync.Mutex
	to Progress
}

func (r *reporter) tell(what string, done, total int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.to != nil {
		r.to(what, done, total)
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
	r.to = nil
}
