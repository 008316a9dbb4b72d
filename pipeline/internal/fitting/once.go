package fitting

import (
	"context"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// Once is a value that is made when the first of several trials asks for it. The others wait.
type Once[V any] struct {
	mu    sync.Mutex
	done  chan struct{} // closed when the value is made; nil while nobody has asked
	value V
	err   error
}

// Get returns the value, which build makes at the first call. A panic of build is the error of
// all callers. The context is that of the trial.
func (o *Once[V]) Get(ctx context.Context, build func() (V, error)) (V, error) {
	o.mu.Lock()
	first := o.done == nil
	if first {
		o.done = make(chan struct{})
	}
	o.mu.Unlock()
	if first {
		defer close(o.done)
		o.err = guard.Call(func() (err error) {
			o.value, err = build()
			return err
		})
		return o.value, o.err
	}
	parallel.Wait(ctx, func() { <-o.done })
	return o.value, o.err
}
