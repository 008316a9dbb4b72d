// Package freelist keeps large buffers for reuse.
package freelist

import "sync"

// A List holds free values, at most as many as were ever in use at the same time. Unlike a [sync.Pool] it is not
// emptied by the garbage collector, so that large buffers are not allocated repeatedly. New allocates a value when
// the list is empty.
type List[T any] struct {
	New  func() T
	mu   sync.Mutex
	free []T
}

// Get removes a value from the list, or allocates one.
func (l *List[T]) Get() T {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.free) - 1
	if last < 0 {
		return l.New()
	}
	x := l.free[last]
	l.free = l.free[:last]
	return x
}

// Put returns a value to the list.
func (l *List[T]) Put(x T) {
	l.mu.Lock()
	l.free = append(l.free, x)
	l.mu.Unlock()
}
