package guard_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

func index(x []int, i int) int { return x[i] }

func TestCall(t *testing.T) {
	if err := guard.Call(func() error { return nil }); err != nil {
		t.Errorf("no error became %v", err)
	}
	if err := guard.Call(func() error { return io.EOF }); err != io.EOF {
		t.Errorf("io.EOF became %v", err)
	}
	err := guard.Call(func() error { index(nil, 3); return nil })
	var fault *guard.PanicError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "index out of range [3]") || !strings.Contains(err.Error(), "guard_test.go:13") {
		t.Errorf("an index out of range became %v", err)
	}
	if err := guard.Call(func() error { panic(io.ErrUnexpectedEOF) }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a panic with an error became %v", err)
	}
	if again := guard.Call(func() error { panic(err) }); again != err {
		t.Errorf("a fault of another goroutine became %v", again)
	}
	if err := guard.Call(func() error { panic("lapack: bad argument") }); !strings.Contains(err.Error(), "lapack: bad argument") {
		t.Errorf("a panic with a string became %v", err)
	}
}

// TestCallNested checks that the error names the innermost functions, and that a panic after a long recursion is one
// error.
func TestCallNested(t *testing.T) {
	var down func(int)
	down = func(n int) {
		if n == 0 {
			panic("bottom")
		}
		down(n - 1)
	}
	err := guard.Call(func() error { down(1000); return nil })
	if err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "bottom") {
		t.Errorf("got %v", err)
	}
}

// TestInterruptible checks that a blocked call is abandoned when its context ends.
func TestInterruptible(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	got, err := guard.Interruptible(ctx, func() (int, error) { return 3, io.EOF })
	if got != 3 || err != io.EOF {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := guard.Interruptible(ctx, func() (int, error) { panic("fault") }); err == nil || !strings.Contains(err.Error(), "fault") {
		t.Errorf("a panic became %v", err)
	}
	begun, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	go func() {
		<-begun
		cancel()
	}()
	_, err = guard.Interruptible(ctx, func() (int, error) {
		close(begun)
		<-release
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := guard.Interruptible(ctx, func() (int, error) { t.Error("begun after the end"); return 0, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestCatchWithin checks that the context precedes the error of Fail and a returned error, and that other panics continue.
func TestCatchWithin(t *testing.T) {
	f := func(fail func() error) (err error) {
		defer guard.CatchWithin(&err, "k-means")
		return fail()
	}
	cause := errors.New("no data")
	for name, fail := range map[string]func() error{
		"Check": func() error { guard.Check(cause); return nil }, "return": func() error { return cause },
	} {
		if err := f(fail); !errors.Is(err, cause) || err.Error() != "k-means: no data" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := f(func() error { return nil }); err != nil {
		t.Errorf("without an error: got %v", err)
	}
	var fault *guard.PanicError
	if err := guard.Call(func() error { return f(func() error { panic("bug") }) }); !errors.As(err, &fault) || fault.Value != "bug" {
		t.Errorf("a panic gives %v", err)
	}
}
