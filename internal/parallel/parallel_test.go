package parallel_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestDo checks that each part runs once, and that at most as many parts run at once as there are cores, also in
// nested calls.
func TestDo(t *testing.T) {
	for _, cores := range []int{1, 2, 3, 7} {
		restore := parallel.SetCores(cores)
		var now, most atomic.Int64
		var calls [20][30]atomic.Int64
		parallel.Do(20, func(i int) {
			parallel.Do(30, func(k int) {
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				calls[i][k].Add(1)
				now.Add(-1)
			})
		})
		for i := range calls {
			for k := range calls[i] {
				if n := calls[i][k].Load(); n != 1 {
					t.Errorf("%d cores: part %d of %d was done %d times", cores, k, i, n)
				}
			}
		}
		if most.Load() > int64(cores) {
			t.Errorf("%d cores: %d parts at once", cores, most.Load())
		}
		restore()
	}
	parallel.Do(0, func(int) { t.Error("a call for 0 parts") })
}

// workers returns the number of goroutines that work on a job of n parts at once.
func workers(n int) int {
	var mu sync.Mutex
	seen := map[int]bool{}
	var gathered sync.WaitGroup
	gathered.Add(n)
	_ = parallel.Blocks(context.Background(), 0, n, 1, func(worker, _, _ int) {
		mu.Lock()
		seen[worker] = true
		mu.Unlock()
		gathered.Done()
		gathered.Wait()
	})
	return len(seen)
}

// TestHold checks that helpers do not use held cores, and use them again after release.
func TestHold(t *testing.T) {
	defer parallel.SetCores(3)()
	if n := workers(3); n != 3 {
		t.Errorf("%d workers on three cores", n)
	}
	hold := func() (context.Context, func()) { return parallel.Hold(context.Background()) }
	holds, first := hold()
	_, second := hold()
	_, third := hold()
	if n := workers(1); n != 1 {
		t.Errorf("%d workers where all cores are held", n)
	}
	parallel.Do(3, func(int) {})
	third()
	third()
	if n := workers(1); n != 1 {
		t.Errorf("%d workers beside two holders", n)
	}
	parallel.Wait(context.Background(), func() {
		if n := workers(1); n != 1 {
			t.Errorf("%d workers beside two holders, while one that holds no core waits", n)
		}
	})
	parallel.Wait(holds, func() {
		if n := workers(2); n != 2 {
			t.Errorf("%d workers beside two holders of which one waits", n)
		}
	})
	if n := workers(1); n != 1 {
		t.Errorf("%d workers beside two holders after one has waited", n)
	}
	second()
	if n := workers(2); n != 2 {
		t.Errorf("%d workers of one holder on three cores", n)
	}
	first()
	if n := workers(3); n != 3 {
		t.Errorf("%d workers after all has been released", n)
	}
}

// TestPanics checks that the caller gets the panic of a part from any goroutine, and that cores are free afterwards.
func TestPanics(t *testing.T) {
	defer parallel.SetCores(3)()
	for range 50 {
		err := guard.Call(func() error {
			parallel.Do(100, func(i int) {
				if i >= 5 {
					panic("fault")
				}
			})
			return nil
		})
		var fault *guard.PanicError
		if !errors.As(err, &fault) || fault.Value != "fault" || !strings.Contains(fault.Place, "parallel_test.go") {
			t.Fatalf("got %v", err)
		}
		if err := parallel.Blocks(context.Background(), 2, 100, 10, func(_, lo, _ int) { panic(lo) }); !errors.As(err, &fault) {
			t.Fatalf("got %v", err)
		}
	}
	if n := workers(3); n != 3 {
		t.Errorf("%d workers after panics", n)
	}
}

// TestBlocks: each number is visited once, workers are limited, and the context ends the loop.
func TestBlocks(t *testing.T) {
	defer parallel.SetCores(4)()
	ctx, cancel := context.WithCancel(context.Background())
	var done [103]atomic.Int64
	err := parallel.Blocks(ctx, 2, len(done), 10, func(worker, lo, hi int) {
		if worker < 0 || worker > 1 {
			t.Errorf("worker %d of two", worker)
		}
		for i := lo; i < hi; i++ {
			done[i].Add(1)
		}
	})
	if err != nil {
		t.Error(err)
	}
	for i := range done {
		if n := done[i].Load(); n != 1 {
			t.Errorf("%d was done %d times", i, n)
		}
	}
	calls := 0
	err = parallel.Blocks(ctx, 1, 100, 1, func(_, lo, _ int) {
		if calls++; lo == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || calls != 4 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestAllocations: splitting work allocates nothing.
func TestAllocations(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	defer parallel.SetCores(2)()
	var sum atomic.Int64
	f := func(i int) { sum.Add(int64(i)) }
	parallel.Do(8, f)
	if n := testing.AllocsPerRun(200, func() { parallel.Do(8, f) }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}
