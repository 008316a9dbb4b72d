// Package parallel splits work over the cores of the processor. All calls in a process share its cores:
// the caller works itself, and other goroutines join only while cores are free. So nested and
// concurrent calls never wait for each other or exceed the number of cores.
//
// Results must not depend on the number of cores: use parts of fixed sizes, and add their sums in the
// order of the parts.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

var (
	limit   atomic.Int64 // what SetCores set, or 0
	held    atomic.Int64 // goroutines that called Hold
	helpers atomic.Int64 // goroutines that joined a caller
)

// Cores returns how many goroutines may compute at once: GOMAXPROCS.
func Cores() int {
	if n := limit.Load(); n > 0 {
		return int(n)
	}
	return runtime.GOMAXPROCS(0)
}

// SetCores makes Cores return n, or with 0 GOMAXPROCS. It is for tests and benchmarks.
func SetCores(n int) (restore func()) {
	before := limit.Swap(int64(n))
	return func() { limit.Store(before) }
}

// Hold reserves a core for the calling goroutine, one of several that compute side by side, until release. It
// does not wait. The returned context carries the core. A goroutine that calls Do on its own needs none.
func Hold(ctx context.Context) (holds context.Context, release func()) {
	held.Add(1)
	return context.WithValue(ctx, holdsCore{}, true), sync.OnceFunc(func() { held.Add(-1) })
}

type holdsCore struct{}

// Wait calls f, which waits for other goroutines. A core that the context holds is free meanwhile.
func Wait(ctx context.Context, f func()) {
	if ctx.Value(holdsCore{}) != nil {
		held.Add(-1)
		defer held.Add(1)
	}
	f()
}

// join takes a core for one more goroutine, if one is free.
func join() bool {
	free := int64(Cores()) - max(1, held.Load())
	for n := helpers.Load(); n < free; n = helpers.Load() {
		if helpers.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// Do calls f for 0, …, n-1, each once and in any order, several at a time where cores
// are free, and returns when all calls have. A panic of f becomes one of the caller, a
// *guard.PanicError, after which no further calls begin. Do itself allocates nothing.
func Do(n int, f func(i int)) {
	do(n, n, f)
}

// do is Do by at most the given number of goroutines.
func do(workers, n int, f func(i int)) {
	j := jobs.Get().(*job)
	j.f, j.n, j.most = f, int64(n), int64(min(workers, n))
	j.next.Store(0)
	j.started.Store(1)
	j.work()
	j.done.Wait()
	fault := j.fault
	j.f, j.fault = nil, nil
	jobs.Put(j)
	if fault != nil {
		panic(fault)
	}
}

// Few multiplications, or as much other work, half a millisecond at most, are not worth a second core.
const Few = 1 << 22

// DoWork is Do, but on the caller's core alone if all parts have few multiplications.
func DoWork(multiplications, n int, f func(i int)) {
	if multiplications < Few {
		for i := range n {
			f(i)
		}
		return
	}
	Do(n, f)
}

// Blocks calls f for each block of size numbers below n. At most workers goroutines call it, or one per
// core where that is 0; calls with the same worker, from 0, come one after the other. It stops when ctx
// ends and returns its error, or a panic of f as a *guard.PanicError.
func Blocks(ctx context.Context, workers, n, size int, f func(worker, lo, hi int)) error {
	if workers == 0 {
		workers = Cores()
	}
	var begun atomic.Int64
	free := freelist.List[int]{New: func() int { return int(begun.Add(1)) - 1 }}
	return guard.Call(func() error {
		do(workers, Count(n, size), func(i int) {
			if ctx.Err() != nil {
				return
			}
			worker := free.Get()
			defer free.Put(worker)
			f(worker, i*size, min((i+1)*size, n))
		})
		return ctx.Err()
	})
}

// Count returns how many blocks of a size the numbers below n make.
func Count(n, size int) int { return (n + size - 1) / size }

// job is one call of Do or Blocks under way.
type job struct {
	f       func(i int)
	n       int64 // parts
	next    atomic.Int64
	most    int64        // goroutines that may work on it
	started atomic.Int64 // goroutines so far
	done    sync.WaitGroup
	help    func()
	mu      sync.Mutex
	fault   error
}

var jobs = sync.Pool{New: func() any {
	j := &job{}
	j.help = func() {
		defer j.done.Done()
		defer helpers.Add(-1)
		j.work()
	}
	return j
}}

func (j *job) work() {
	err := guard.Call(func() error {
		for i := j.next.Add(1) - 1; i < j.n; i = j.next.Add(1) - 1 {
			j.ask()
			j.f(int(i))
		}
		return nil
	})
	if err != nil {
		j.next.Store(j.n)
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.fault == nil {
			j.fault = err
		}
	}
}

// ask starts another goroutine if parts are left and a core is free, before every part, since cores become free.
func (j *job) ask() {
	for j.next.Load() < j.n && j.started.Load() < j.most && join() {
		if j.started.Add(1) > j.most {
			j.started.Add(-1)
			helpers.Add(-1)
			return
		}
		j.done.Add(1)
		go j.help()
	}
}

// Split cuts the numbers below n into nearly equal parts of whole units: one, or an even number.
type Split struct{ n, unit, parts int }

// Even returns a split into parts of at most about size numbers.
func Even(n, unit, size int) Split {
	parts := Count(n, max(size, 1))
	if parts > 1 {
		parts += parts % 2
	}
	return Split{n: n, unit: unit, parts: max(min(parts, Count(n, unit)), 1)}
}

// Parts returns how many there are, 1 or more.
func (s Split) Parts() int { return s.parts }

// At returns the first number of part i and that after its last.
func (s Split) At(i int) (lo, hi int) {
	units := Count(s.n, s.unit)
	return min(i*units/s.parts*s.unit, s.n), min((i+1)*units/s.parts*s.unit, s.n)
}
