package pipeline

import (
	"runtime"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/guard"
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
	once  sync.Once
	value V
	err   error
}

// get returns the value of the key, which build makes if it is not there. A
// panic of build is the error of all who ask for the key.
func (l *latest[K, V]) get(key K, build func() (V, error)) (V, error) {
	p := l.promise(key)
	p.once.Do(func() {
		p.err = guard.Call(func() (err error) {
			p.value, err = build()
			return err
		})
	})
	return p.value, p.err
}

func (l *latest[K, V]) promise(key K) *promise[V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, k := range l.order {
		if k == key {
			l.order = append(append(l.order[:i:i], l.order[i+1:]...), key)
			return l.made[key]
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
	l.made[key] = &promise[V]{}
	return l.made[key]
}
