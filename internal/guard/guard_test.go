package guard_test

import (
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
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "index out of range [3]") || !strings.Contains(err.Error(), "guard_test.go:12") {
		t.Errorf("an index out of range became %v", err)
	}
	if err := guard.Call(func() error { panic(io.ErrUnexpectedEOF) }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a panic with an error became %v", err)
	}
	if err := guard.Call(func() error { panic("lapack: bad argument") }); !strings.Contains(err.Error(), "lapack: bad argument") {
		t.Errorf("a panic with a string became %v", err)
	}
}

// TestCallNested: the innermost functions are named, and a panic after a long
// recursion is one error.
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
