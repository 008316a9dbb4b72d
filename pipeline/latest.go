package pipeline

import (
	"context"
	"runtime"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// latest makes values by their keys, each once however many ask for it at a
// time, and keeps those that were asked for last.
type latest[K comparable, V any] struct {
	// each is how many are kept for each trial that runs at once; 0 means 1.
	each  int
	mu    sync.Mutex
	order []K // the last one asked for last
	made  map[K]*promise[V]
}

// promise is a value that somebody makes.
type promise[V any] struct {
	done  chan struct{} // closed when it is made
	value V
	err   error
}

// get returns the value of the key, which build makes if it is not there. A
// panic of build is the error of all who ask for the key. The context is that of the trial.
func (l *latest[K, V]) get(ctx context.Context, key K, build func() (V, error)) (V, error) {
	p, isNew := l.promise(key)
	if isNew {
		defer close(p.done)
		p.err = guard.Call(func() (err error) {
			p.value, err = build()
			return err
		})
		return p.value, p.err
	}
	parallel.Wait(ctx, func() { <-p.done })
	return p.value, p.err
}

// promise returns that of the key, and whether the caller is to keep it.
func (l *latest[K, V]) promise(key K) (p *promise[V], isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, k := range l.order {
		if k == key {
			l.order = append(append(l.order[:i:i], l.order[i+1:]...), key)
			return l.made[key], false
		}
	}
	if l.made == nil {
		l.made = map[K]*promise[V]{}
	}
	if len(l.order) >= max(4, runtime.GOMAXPROCS(0))*max(l.each, 1) {
		delete(l.made, l.order[0])
		l.order = l.order[1:]
	}
	l.order = append(l.order, key)
	l.made[key] = &promise[V]{done: make(chan struct{})}
	return l.made[key], true
}
