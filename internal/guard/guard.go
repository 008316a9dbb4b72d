// Package guard converts panics to errors, so that a bug in one trial or goroutine does not end the program. It runs calls
// that cannot be interrupted under a context, and ends long sequences of steps, such as parsers, with an error.
package guard

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"strings"
)

// PanicError is a panic as an error.
type PanicError struct {
	Value any // the argument of panic
	// Place lists the functions of this module on the stack, innermost first, with files and lines.
	Place string
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("internal error: %v (in %s)", e.Value, e.Place)
}

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Call runs f and returns its error or the error of Fail, or a *PanicError if f panics. A *PanicError as the panic value is
// returned unchanged. Goroutines that f starts need their own Call.
func Call(f func() error) (err error) {
	defer func() {
		switch value := recover().(type) {
		case nil:
		case *PanicError:
			err = value
		case failure:
			err = value.error
		default:
			err = &PanicError{Value: value, Place: stackOfModule()}
		}
	}()
	return f()
}

// Wrap returns err with a context before it, as in "CONTEXT: ERROR", or nil for nil.
func Wrap(err error, context string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(context+": %w", append(args, err)...)
}

// failure is the panic value of Fail.
type failure struct{ error }

// Fail ends the function that has deferred Catch, or the enclosing call of Try or Call, with an error. It must not leave its
// package. A function that runs under parallel.Do or parallel.Blocks needs its own Try.
func Fail(format string, args ...any) { Check(fmt.Errorf(format, args...)) }

// FailIf is Fail if something is wrong.
func FailIf(wrong bool, format string, args ...any) {
	if wrong {
		Fail(format, args...)
	}
}

// Check is Fail with err, unless that is nil.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Must is Check for the error of a call. It returns its result.
func Must[T any](result T, err error) T {
	Check(err)
	return result
}

// Within calls f, and puts a context before the error of Fail, as Wrap does.
func Within(f func(), context string, args ...any) { Check(Wrap(Try(f), context, args...)) }

// Try calls f and returns the error of Fail, if any.
func Try(f func()) (err error) {
	defer Catch(&err)
	f()
	return nil
}

// Catch sets *err to the error of Fail, if any. It must be deferred.
func Catch(err *error) { set(err, recover()) }

// CatchWithin is Catch, and puts a context before the error, as Wrap does.
func CatchWithin(err *error, context string) {
	set(err, recover())
	*err = Wrap(*err, "%s", context)
}

// set sets *err to the error of a panic by Fail, and repeats another panic.
func set(err *error, fault any) {
	switch fault := fault.(type) {
	case nil:
	case failure:
		*err = fault.error
	default:
		panic(fault)
	}
}

// Interruptible returns the result of f or, as soon as ctx ends, the error of ctx. It is for calls that cannot be
// interrupted, such as LAPACK factorisations. f then continues in its own goroutine, so it must not share mutable
// data with its caller. A panic of f is returned as a *PanicError.
func Interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	var value, none T // f may set value after the end of ctx
	err := ctx.Err()
	if err != nil {
		return none, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = Call(func() (err error) {
			value, err = f()
			return err
		})
	}()
	select {
	case <-done:
		return value, err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

const (
	module = "github.com/seed4492f2cd/partwise/"
	// mostPlaces bounds the functions in Place.
	mostPlaces = 4
)

// stackOfModule returns the functions of the module on the stack of the panic.
func stackOfModule() string {
	callers := make([]uintptr, 200)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	var places []string
	for len(places) < mostPlaces {
		frame, more := frames.Next()
		name, own := strings.CutPrefix(frame.Function, module)
		if own && !strings.HasPrefix(name, "internal/guard.") {
			places = append(places, fmt.Sprintf("%s, %s:%d", name, path.Base(frame.File), frame.Line))
		}
		if !more {
			break
		}
	}
	if len(places) == 0 {
		return "code of another module"
	}
	return strings.Join(places, " < ")
}
