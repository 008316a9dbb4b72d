package features

import (
	"errors"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/memory"
)

// BadSampleError is the error of a sample that cannot be used. Where bad samples are
// skipped (SkipBad) it is left out instead.
type BadSampleError struct{ Err error }

func (e *BadSampleError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the sample.
func (e *BadSampleError) Unwrap() error { return e.Err }

// BadSample tells whether an error of the work on a sample says that it cannot be
// used, and returns it as a *BadSampleError then. It does not where another run could
// use the sample: where the memory limit has no room for it, or its file changes.
func BadSample(err error) (bad bool, failure error) {
	var tooLarge *memory.LimitError
	if err == nil || errors.As(err, &tooLarge) || errors.Is(err, datasets.ErrChanged) {
		return false, err
	}
	return true, &BadSampleError{err}
}
