package features

// BadSampleError is the error of a sample that cannot be used. Where bad samples are
// skipped (SkipBad) it is left out instead.
type BadSampleError struct{ Err error }

func (e *BadSampleError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the sample.
func (e *BadSampleError) Unwrap() error { return e.Err }
