// Package memory keeps the memory of a process within one budget.
//
// Work that takes much memory reserves it before it begins. It waits for its share of the [Budget], or
// is refused if the budget could never hold it. The budget is in the context, so that all work at once
// shares one. Only large objects are counted: images, matrices, factors. An eighth of the limit and a
// fixed amount are set aside for all else.
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

// Least is the smallest limit that a budget can have.
const Least = 64 << 20

// programShare is set aside for the program, 1/garbagePart of the limit for garbage and small objects.
const (
	programShare = 32 << 20
	garbagePart  = 8
)

// Budget is a limit of memory, shared out first come, first served, by goroutines at once.
type Budget struct {
	limit, capacity int64

	mu         sync.Mutex
	kept, used int64     // what Keep gave, used what Acquire gave
	waiting    []*waiter // the first comes next
}

type waiter struct {
	need  int64
	what  string
	ready chan error // with room for one

	release func()
}

// LimitError says that something needs more memory than the budget can give.
type LimitError struct {
	What string // What needs the memory, such as a file or a matrix
	// Need is the bytes that it needs, Free the bytes of Limit beside those kept for the whole run.
	Need, Free, Limit int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: needs %s of memory, but the limit is %s, of which %s are available",
		e.What, bytesize.Format(e.Need), bytesize.Format(e.Limit), bytesize.Format(e.Free))
}

// New returns a budget of limit bytes, at least Least.
func New(limit int64) *Budget {
	limit = max(limit, Least)
	return &Budget{limit: limit, capacity: limit - limit/garbagePart - programShare}
}

// Limit returns the limit, in bytes.
func (b *Budget) Limit() int64 { return b.limit }

// Free returns the bytes that are free once all of Acquire are released.
func (b *Budget) Free() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.capacity - b.kept
}

// Check returns a *LimitError, which names what needs the memory, if n bytes can never be free.
func (b *Budget) Check(n int64, what string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.check(n, what)
}

func (b *Budget) check(n int64, what string) error {
	if free := b.capacity - b.kept; n > free {
		return &LimitError{What: what, Need: n, Free: max(free, 0), Limit: b.limit}
	}
	return nil
}

// reserve adds n bytes to kept or used, and release takes them away, once.
func (b *Budget) reserve(from *int64, n int64) (release func()) {
	*from += n
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		*from -= n
		b.serve()
	})
}

// Keep reserves n bytes for long, such as features, and does not wait: the error is that of Check.
func (b *Budget) Keep(n int64, what string) (release func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.check(n, what); err != nil {
		return nil, err
	}
	release = b.reserve(&b.kept, n)
	b.serve()
	return release, nil
}

// Acquire waits for its turn and reserves n bytes. The error is Check's, or the cause of the context's end. A
// holder must not call it for more, since two might wait for each other.
func (b *Budget) Acquire(ctx context.Context, n int64, what string) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w := &waiter{need: n, what: what, ready: make(chan error, 1)}
	b.mu.Lock()
	b.waiting = append(b.waiting, w)
	b.serve()
	b.mu.Unlock()
	select {
	case err = <-w.ready:
	case <-ctx.Done():
		b.mu.Lock()
		defer b.mu.Unlock()
		if i := slices.Index(b.waiting, w); i >= 0 {
			b.waiting = slices.Delete(b.waiting, i, i+1)
			b.serve() // those behind it may be smaller
			return nil, context.Cause(ctx)
		}
		err = <-w.ready // it was served meanwhile
	}
	return w.release, err
}

// TryAcquire reserves n bytes if they are free and nobody waits. A holder may call it for more.
func (b *Budget) TryAcquire(n int64) (release func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) > 0 || b.kept+b.used+n > b.capacity {
		return nil, false
	}
	return b.reserve(&b.used, n), true
}

// Hold reserves n bytes without waiting: a part of a share that is about to be released and stays in use.
func (b *Budget) Hold(n int64) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reserve(&b.used, n)
}

// Waiting tells whether somebody waits.
func (b *Budget) Waiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting) > 0
}

// serve gives the waiting their shares in order, and refuses those that kept memory leaves too little.
func (b *Budget) serve() {
	for len(b.waiting) > 0 {
		w := b.waiting[0]
		err := b.check(w.need, w.what)
		if err == nil {
			if b.kept+b.used+w.need > b.capacity {
				return
			}
			w.release = b.reserve(&b.used, w.need)
		}
		b.waiting = b.waiting[1:]
		w.ready <- err
	}
}

type contextKey struct{}

// NewContext returns a context in which FromContext returns the budget.
func NewContext(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, contextKey{}, b)
}

// byDefault is the budget of all who were given none.
var byDefault = sync.OnceValue(func() *Budget { return New(Available() / 2) })

// FromContext returns the budget of the context, or else a shared one of half of the available memory.
func FromContext(ctx context.Context) *Budget {
	if b, ok := ctx.Value(contextKey{}).(*Budget); ok {
		return b
	}
	return byDefault()
}

// unknown is the memory that is assumed where the system does not report it.
const unknown = 4 << 30

// Available returns the bytes that the process may use: the least of the machine's memory and cgroup limits.
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

// containerLimit returns the limit of the outermost control group of version 2 that the process sees.
// FromCgroup does not find it where the process is in a group outside of its container's.
func containerLimit() (uint64, error) {
	text, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// Parse reads a limit of Least or more: a size such as 4GB, or a share of the available memory such as 50%.
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
