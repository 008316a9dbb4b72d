// Package memory limits the memory of a process by a budget.
//
// Work that needs much memory reserves it before it starts. It waits until the [Budget] has enough free memory, or
// gets an error if the budget can never provide it. The budget is passed in the context, so that concurrent work
// shares it. Only large objects are counted: images, matrices, factors. An eighth of the limit and a fixed amount are
// reserved for everything else.
package memory

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/seed4492f2cd/partwise/internal/text/bytesize"
)

// Least is the smallest limit of a budget.
const Least = 64 << 20

// programShare is reserved for the program, and 1/garbagePart of the limit for garbage and small objects.
const (
	programShare = 32 << 20
	garbagePart  = 8
)

// Budget is a limit of memory that serves requests in order. It is safe for concurrent use.
type Budget struct {
	limit, capacity int64

	mu         sync.Mutex
	kept, used int64     // bytes reserved by Keep, and by other methods
	waiting    []*int    // queue of Acquire
	changed    sync.Cond // wakes the queue
}

// LimitError reports a request that exceeds the budget.
type LimitError struct {
	What string // what needs the memory, such as a file or a matrix
	// Need is the size of the request in bytes, and Free the part of Limit that is not kept for the whole run.
	Need, Free, Limit int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: needs %s of memory, but the limit is %s, of which %s is available",
		e.What, bytesize.Format(e.Need), bytesize.Format(e.Limit), bytesize.Format(e.Free))
}

// New returns a budget of limit bytes, at least Least.
func New(limit int64) *Budget {
	limit = max(limit, Least)
	b := &Budget{limit: limit, capacity: limit - limit/garbagePart - programShare}
	b.changed.L = &b.mu
	return b
}

// Limit returns the limit, in bytes.
func (b *Budget) Limit() int64 { return b.limit }

// Free returns the number of bytes that are free after all reservations of Acquire are released.
func (b *Budget) Free() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.capacity - b.kept
}

// Check returns a *LimitError if n bytes can never be free. what names the purpose of the memory.
func (b *Budget) Check(n int64, what string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.checkLocked(n, what)
}

func (b *Budget) checkLocked(n int64, what string) error {
	if free := b.capacity - b.kept; n > free {
		return &LimitError{What: what, Need: n, Free: max(free, 0), Limit: b.limit}
	}
	return nil
}

// reserve adds n bytes to kept or used. release subtracts them; further calls have no effect.
func (b *Budget) reserve(from *int64, n int64) (release func()) {
	*from += n
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		*from -= n
		b.changed.Broadcast()
	})
}

// Keep reserves n bytes for a long time, such as for features, without waiting. It returns the error of Check.
func (b *Budget) Keep(n int64, what string) (release func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.checkLocked(n, what); err != nil {
		return nil, err
	}
	b.changed.Broadcast() // some requests may be impossible now
	return b.reserve(&b.kept, n), nil
}

// Acquire waits for its turn and reserves n bytes. It returns the error of Check, or the cause of the end of ctx. A
// holder must not call Acquire again, because two holders could deadlock.
func (b *Budget) Acquire(ctx context.Context, n int64, what string) (release func(), err error) {
	defer context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})()
	b.mu.Lock()
	defer b.mu.Unlock()
	me := new(int)
	b.waiting = append(b.waiting, me)
	defer func() {
		b.waiting = slices.DeleteFunc(b.waiting, func(other *int) bool { return other == me })
		b.changed.Broadcast() // the next requests may be smaller
	}()
	for ; ctx.Err() == nil; b.changed.Wait() {
		if b.waiting[0] != me {
			continue
		}
		if err := b.checkLocked(n, what); err != nil {
			return nil, err
		}
		if b.kept+b.used+n <= b.capacity {
			return b.reserve(&b.used, n), nil
		}
	}
	return nil, context.Cause(ctx)
}

// TryAcquire reserves n bytes if they are free and no goroutine waits. A holder may call it.
func (b *Budget) TryAcquire(n int64) (release func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) > 0 || b.kept+b.used+n > b.capacity {
		return nil, false
	}
	return b.reserve(&b.used, n), true
}

// Hold reserves n bytes unconditionally, for the part of a reservation that stays in use after its release.
func (b *Budget) Hold(n int64) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reserve(&b.used, n)
}

type contextKey struct{}

// NewContext returns a context in which FromContext returns the budget.
func NewContext(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, contextKey{}, b)
}

// byDefault is the budget of contexts without one.
var byDefault = sync.OnceValue(func() *Budget { return New(Available() / 2) })

// FromContext returns the budget of ctx, or a shared default of half of the available memory.
func FromContext(ctx context.Context) *Budget {
	if b, ok := ctx.Value(contextKey{}).(*Budget); ok {
		return b
	}
	return byDefault()
}

// unknown is the assumed memory if the system does not report it.
const unknown = 4 << 30

// Available returns the number of bytes that the process may use: the minimum of the machine's memory and cgroup limits.
func Available() int64 {
	least := uint64(math.MaxInt64)
	for _, limit := range []memlimit.Provider{memlimit.FromSystem, memlimit.FromCgroup, containerLimit} {
		if n, err := limit(); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	if least == math.MaxInt64 {
		return unknown
	}
	return int64(least)
}

// containerLimit returns the limit of the outermost visible cgroup v2. FromCgroup misses it if the process is in a group
// outside its container's.
func containerLimit() (uint64, error) {
	text, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// Parse parses a limit of at least Least: a size such as 4GB, or a percentage of the available memory such as 50%.
func Parse(s string) (int64, error) {
	n, err := bytesize.Parse(s)
	if share, ok := strings.CutSuffix(s, "%"); ok {
		x, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if err != nil || !(x > 0 && x <= 100) {
			return 0, fmt.Errorf("invalid percentage of memory %q; expected above 0%% and at most 100%%", s)
		}
		n = int64(x / 100 * float64(Available()))
	} else if err != nil {
		return 0, fmt.Errorf("%w, or a percentage such as 50%%", err)
	}
	if n < Least {
		return 0, fmt.Errorf("memory limit of %s is too small; expected %s or more", bytesize.Format(n), bytesize.Format(Least))
	}
	return n, nil
}
