// Package parallel distributes work over the cores. All calls in a process share the cores: the caller works itself,
// and other goroutines join only while cores are free. Nested and concurrent calls therefore never wait for each
// other or exceed the number of cores.
//
// Results must not depend on the number of cores: use parts of fixed sizes, and add partial sums in the order of the
// parts.
package parallel

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

var (
	limit   atomic.Int64 // value of SetCores, or 0
	held    atomic.Int64 // number of cores reserved by Hold
	helpers atomic.Int64 // number of goroutines that joined a caller
)

// Cores returns the number of goroutines that may compute at the same time: GOMAXPROCS.
func Cores() int {
	if n := limit.Load(); n > 0 {
		return int(n)
	}
	return runtime.GOMAXPROCS(0)
}

// SetCores makes Cores return n, or GOMAXPROCS if n is 0. It is for tests and benchmarks.
func SetCores(n int) (restore func()) {
	before := limit.Swap(int64(n))
	return func() { limit.Store(before) }
}

// Hold reserves a core until release for the calling goroutine, if several goroutines compute concurrently. It does not
// wait. The returned context carries the core for Wait. A single goroutine that calls Do does not need it.
func Hold(ctx context.Context) (holds context.Context, release func()) {
	held.Add(1)
	return context.WithValue(ctx, holdsCore{}, true), sync.OnceFunc(func() { held.Add(-1) })
}

type holdsCore struct{}

// Wait calls f, which waits for other goroutines. It frees the core that ctx holds in the meantime.
func Wait(ctx context.Context, f func()) {
	if ctx.Value(holdsCore{}) != nil {
		held.Add(-1)
		defer held.Add(1)
	}
	f()
}

// join reserves a core for a helper goroutine, if one is free.
func join() bool {
	free := int64(Cores()) - max(1, held.Load())
	for n := helpers.Load(); n < free; n = helpers.Load() {
		if helpers.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// Do calls f once for each of 0, …, n-1, in any order and concurrently while cores are free, and returns after all
// calls. If f panics, Do starts no further calls and panics with a *guard.PanicError. Do itself does not allocate.
func Do(n int, f func(i int)) {
	doLimited(n, n, f)
}

// doLimited is Do with at most the given number of goroutines.
func doLimited(workers, n int, f func(i int)) {
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

// Few is the number of multiplications, or similar work of half a millisecond, below which a second core does not pay.
const Few = 1 << 22

// DoWork is Do, but on the caller's core only if all parts together have less than Few multiplications.
func DoWork(multiplications, n int, f func(i int)) {
	if multiplications < Few {
		for i := range n {
			f(i)
		}
		return
	}
	Do(n, f)
}

// Blocks calls f for each block of size numbers below n. At most workers goroutines call f, or one per core if workers is
// 0. Calls with the same worker number, from 0, do not overlap. Blocks stops when ctx ends and returns its error, or a
// panic of f as a *guard.PanicError.
func Blocks(ctx context.Context, workers, n, size int, f func(worker, lo, hi int)) error {
	if workers == 0 {
		workers = Cores()
	}
	var begun atomic.Int64
	free := freelist.List[int]{New: func() int { return int(begun.Add(1)) - 1 }}
	return guard.Call(func() error {
		doLimited(workers, Count(n, size), func(i int) {
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

// Each calls f for 0, …, n−1, with at most workers goroutines, or one per core if workers is 0. It starts no call after the
// first one that fails. It returns the cause of the end of ctx, or the first error in the order of the calls; a panic of f
// is a *guard.PanicError. progress, if not nil, is called after each call of f; its calls do not overlap.
func Each(ctx context.Context, workers, n int, progress func(done, total int), f func(i int) error) error {
	errs := make([]error, n)
	var mu sync.Mutex
	done := 0
	var stop atomic.Int64 // no later call starts
	stop.Store(int64(n))
	fault := Blocks(ctx, workers, n, 1, func(_, i, _ int) {
		if int64(i) > stop.Load() {
			return
		}
		if errs[i] = guard.Call(func() error { return f(i) }); errs[i] != nil {
			stop.Store(int64(i))
		}
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done, n)
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return cmp.Or(cmp.Or(errs...), fault)
}

// Count returns the number of blocks of size numbers below n: ⌈n/size⌉.
func Count(n, size int) int { return (n + size - 1) / size }

// job is the state of a call of Do or Blocks.
type job struct {
	f       func(i int)
	n       int64 // number of parts
	next    atomic.Int64
	most    int64        // largest number of goroutines
	started atomic.Int64 // number of goroutines so far
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
			j.startHelpers()
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

// startHelpers starts helpers while parts are left and cores are free. It is called before every part.
func (j *job) startHelpers() {
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

// Split divides the numbers below n into nearly equal parts of whole units. There is one part or an even number.
type Split struct{ n, unit, parts int }

// Even returns a Split into parts of at most about size numbers.
func Even(n, unit, size int) Split {
	parts := Count(n, max(size, 1))
	if parts > 1 {
		parts += parts % 2
	}
	return Split{n: n, unit: unit, parts: max(min(parts, Count(n, unit)), 1)}
}

// Parts returns the number of parts, at least 1.
func (s Split) Parts() int { return s.parts }

// At returns the range of part i, from lo to hi−1.
func (s Split) At(i int) (lo, hi int) {
	units := Count(s.n, s.unit)
	return min(i*units/s.parts*s.unit, s.n), min((i+1)*units/s.parts*s.unit, s.n)
}
