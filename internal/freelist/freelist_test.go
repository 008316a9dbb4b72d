package freelist

import (
	"runtime"
	"testing"
)

// Returned values are reused, also after a garbage collection; values in use are not
// shared.
func TestList(t *testing.T) {
	made := 0
	l := List[*int]{New: func() *int { made++; return new(int) }}
	a, b := l.Get(), l.Get()
	if a == b || made != 2 {
		t.Fatalf("two in use are the same, or %d were made", made)
	}
	l.Put(a)
	l.Put(b)
	runtime.GC()
	runtime.GC()
	if c, d := l.Get(), l.Get(); c == d || made != 2 {
		t.Errorf("two in use are the same, or %d were made", made)
	}
}
