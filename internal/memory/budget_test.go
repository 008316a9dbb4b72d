package memory

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// of returns a budget of n bytes.
func of(capacity int64) *Budget {
	b := New(Least)
	b.limit, b.capacity = 2*capacity, capacity
	return b
}

func acquire(t *testing.T, b *Budget, n int64) (release func()) {
	t.Helper()
	release, err := b.Acquire(t.Context(), n, "something")
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func TestBudgetWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := of(100)
		first := acquire(t, b, 60)
		var order []int64
		var mu sync.Mutex
		for _, n := range []int64{50, 60, 10} {
			go func() {
				release := acquire(t, b, n)
				mu.Lock()
				order = append(order, n)
				mu.Unlock()
				release()
			}()
			synctest.Wait()
		}
		// 10 bytes would fit, but wait behind earlier requests.
		if len(order) != 0 {
			t.Fatalf("%v went past one that came before", order)
		}
		if _, ok := b.TryAcquire(10); ok {
			t.Error("TryAcquire succeeds while others wait")
		}
		first()
		first()
		synctest.Wait()
		if len(order) != 3 || order[0] != 50 || b.used != 0 {
			t.Errorf("served %v, %d bytes still used", order, b.used)
		}
	})
}

func TestBudgetRefuses(t *testing.T) {
	b := of(100)
	var e *LimitError
	if _, err := b.Acquire(t.Context(), 101, "a.png"); !errors.As(err, &e) || e.Need != 101 || e.Free != 100 || e.Limit != 200 || !strings.HasPrefix(err.Error(), "a.png: ") {
		t.Errorf("more than there is: %v", err)
	}
	release, err := b.Keep(70, "features")
	if err != nil {
		t.Fatal(err)
	}
	if b.Free() != 30 {
		t.Errorf("%d free, want 30", b.Free())
	}
	for _, err := range []error{
		b.Check(31, "x"),
		func() error { _, err := b.Acquire(t.Context(), 31, "x"); return err }(),
		func() error { _, err := b.Keep(31, "x"); return err }(),
	} {
		if !errors.As(err, &e) || e.Free != 30 {
			t.Errorf("31 bytes where 30 can be free: got error %v, want a limit error with 30 free", err)
		}
	}
	release()
	release()
	more := acquire(t, b, 60)
	if _, ok := b.TryAcquire(41); ok {
		t.Error("more than is free is given at once")
	}
	if release, ok := b.TryAcquire(40); !ok {
		t.Error("TryAcquire(40) fails with 40 free")
	} else {
		release()
	}
	more()
	acquire(t, b, 100)()
	if err := b.Check(100, "x"); err != nil {
		t.Error(err)
	}
}

// TestBudgetKeepsFromThoseWhoWait checks that Keep fails a waiting Acquire that can no longer fit.
func TestBudgetKeepsFromThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := of(100)
		release := acquire(t, b, 50)
		var err error
		go func() { _, err = b.Acquire(t.Context(), 80, "late") }()
		synctest.Wait()
		if _, err := b.Keep(30, "features"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var e *LimitError
		if !errors.As(err, &e) || e.What != "late" {
			t.Errorf("it waits for ever: %v", err)
		}
		release()
	})
}

func TestBudgetEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := of(100)
		release := acquire(t, b, 60)
		ctx, cancel := context.WithCancel(t.Context())
		var first error
		go func() { _, first = b.Acquire(ctx, 50, "first") }()
		synctest.Wait()
		second := false
		go func() { acquire(t, b, 40); second = true }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !errors.Is(first, context.Canceled) || !second {
			t.Errorf("the first ended with %v, the second was served: %v", first, second)
		}
		release()
		if _, err := b.Acquire(ctx, 1, "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
		if b.used != 40 || len(b.waiting) != 0 {
			t.Errorf("%d used and %d wait, want 40 and none", b.used, len(b.waiting))
		}
	})
}

// For any sequence of requests, at most the capacity is granted at a time.
func TestBudgetHolds(t *testing.T) {
	b := of(1000)
	var held, most atomic.Int64
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			for range 500 {
				n := 1 + random.Int64N(400)
				ctx, cancel := context.WithCancel(t.Context())
				if random.IntN(4) == 0 {
					go cancel()
				}
				release, err := b.Acquire(ctx, n, "x")
				if err == nil {
					now := held.Add(n)
					for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
					}
					held.Add(-n)
					release()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if most.Load() > 1000 || b.used != 0 || len(b.waiting) != 0 {
		t.Errorf("at most %d of 1000 given, %d left, %d waiting", most.Load(), b.used, len(b.waiting))
	}
}

func TestFromContext(t *testing.T) {
	b := New(1 << 30)
	if FromContext(NewContext(t.Context(), b)) != b {
		t.Error("another budget than the context's")
	}
	half := FromContext(t.Context())
	if half != FromContext(context.Background()) || half.Limit() != max(Available()/2, Least) {
		t.Errorf("without one the limit is %d, want half of %d", half.Limit(), Available())
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{"4GB": 4e9, "512 MB": 512e6, "50%": Available() / 2, "100%": Available()} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "4", "0%", "101%", "-1%", "NaN%", "%", "1MB", "half"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q passes for %d", text, got)
		}
	}
}
