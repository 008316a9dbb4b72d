// Package freelist keeps large buffers from one use to the next.
package freelist

import "sync"

// A List holds what is not in use, as many as were ever in use at once. Unlike a
// [sync.Pool] it is not emptied by the collector, so that buffers of megabytes are not
// made again and again. New makes one where there is none.
type List[T any] struct {
	New  func() T
	mu   sync.Mutex
	free []T
}

// Get takes one from the list, or makes one.
func (l *List[T]) Get() T {
	l.mu.Lock()
	if last := len(l.free) - 1; last >= 0 {
		x := l.free[last]
		l.free = l.free[:last]
		l.mu.Unlock()
		return x
	}
	l.mu.Unlock()
	return l.New()
}

// Put gives one back.
func (l *List[T]) Put(x T) {
	l.mu.Lock()
	l.free = append(l.free, x)
	l.mu.Unlock()
}
