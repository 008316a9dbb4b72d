package features

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Made describes the rows and columns of extracted features.
type Made struct {
	// Height and Width are the size of rows that are images, stored by rows and upright. Channels is 1 for grey and 3
	// for colour: a red, a green and a blue plane. All are 0 if rows are not images.
	Height, Width, Channels int
	// Places is the spatial grid of a row's features, zero if there is none, and Crop the part of each image that it
	// covers.
	Places  Cells
	Crop    Crop
	Rows    []int   // the sample of the set for each row
	Skipped []error // the errors of skipped samples, in the order of the set
}

// list sets Rows to the usable samples and Skipped to the errors of the others.
func (m *Made) list(set *datasets.Set, bad []error) error {
	var kinds []datasets.BadFile
	m.Rows = make([]int, 0, len(bad))
	for i, err := range bad {
		if err == nil {
			m.Rows = append(m.Rows, i)
		} else {
			m.Skipped = append(m.Skipped, err)
			kinds = append(kinds, datasets.BadFile{Kind: imagefile.KindOf(err)})
		}
	}
	if len(bad) == 0 {
		return fmt.Errorf("features: the set %s has no samples", set.Name)
	}
	if len(m.Rows) == 0 {
		return fmt.Errorf("features: none of the %d samples of %s is usable (%s); the first: %w", len(bad), set.Name, datasets.CountKinds(kinds), m.Skipped[0])
	}
	return nil
}

// BadSampleError is the error of an unusable sample, which SkipBad would skip.
type BadSampleError struct{ Err error }

func (e *BadSampleError) Error() string { return e.Err.Error() }

func (e *BadSampleError) Unwrap() error { return e.Err }

// eachUsable calls f for each sample without an error in bad. With SkipBad it stores errors in bad, except errors that
// another run could avoid: exceeded memory and changed files.
func (s *source) eachUsable(ctx context.Context, bad []error, f func(i int) error) error {
	return eachSample(ctx, s.set, matrix.Range(s.set.Len()), s.opt.Workers, s.opt.Progress, func(_, i int) error {
		if bad[i] != nil {
			return nil
		}
		err := withSample(s.set, i, func() error { return f(i) })
		_, tooLarge := errors.AsType[*memory.LimitError](err)
		switch {
		case err == nil || tooLarge || errors.Is(err, datasets.ErrChanged):
			return err
		case s.opt.SkipBad:
			bad[i] = err
			return nil
		}
		return &BadSampleError{err}
	})
}

// eachSample calls f for the given samples as [parallel.Each] does, with the index at of each in samples.
func eachSample(ctx context.Context, set *datasets.Set, samples []int, workers int, progress func(done, total int), f func(at, i int) error) error {
	return parallel.Each(ctx, workers, len(samples), progress, func(at int) error {
		return withSample(set, samples[at], func() error { return f(at, samples[at]) })
	})
}

// withSample calls f and turns a panic into an error that names the sample.
func withSample(set *datasets.Set, i int, f func() error) error {
	err := guard.Call(f)
	if _, isPanic := errors.AsType[*guard.PanicError](err); isPanic {
		return fmt.Errorf("%s: %w", set.Names[i], err)
	}
	return err
}

// Matrix holds the features of n samples.
type Matrix struct {
	// X is n×m, a sample per row: a *mat.Dense, or a *sparse.CSR if the set's vectors are sparse.
	X mat.Matrix
	Made
}

// Norm is the normalisation of each sample.
type Norm int

// The zero value is the normalisation of the papers.
const (
	NormL2   Norm = iota // squares of values sum to 1
	NormL1               // absolute values sum to 1
	NormMax              // the largest absolute value is 1
	NormNone             // not normalised
)

var norms = enum.Of[Norm]("norm", "l2", "l1", "max", "none")

// String returns the name of the norm in settings.
func (n Norm) String() string                   { return norms.String(n) }
func (n *Norm) UnmarshalText(text []byte) error { return norms.UnmarshalText(n, text) }
func (n Norm) MarshalText() ([]byte, error)     { return norms.MarshalText(n) }
func (Norm) Values() []string                   { return norms.Values() }

// apply raises values to a power, 0 meaning 1, and normalises them. columns holds their columns, or nil if dense. It
// returns an error for a negative value under a power, for a value that is not finite, and if all are 0.
func (n Norm) apply(values []float64, power float64, columns []int) (err error) {
	defer guard.Catch(&err)
	column := func(j int) int {
		if columns != nil {
			j = columns[j]
		}
		return j + 1
	}
	for j, v := range values {
		if power == 0 || power == 1 {
			break
		}
		if v < 0 {
			guard.Fail("column %d: value %v, but power needs values of 0 or more", column(j), v)
		}
		values[j] = elementary.Pow(v, power)
	}
	largest := elementary.Largest(values)
	if !(largest <= math.MaxFloat64) {
		j := slices.IndexFunc(values, func(v float64) bool { return !(math.Abs(v) <= math.MaxFloat64) })
		guard.Fail("column %d: value %v is not finite", column(j), values[j])
	}
	guard.FailIf(largest == 0, "all values are zero")
	var length float64
	switch n {
	case NormL2:
		length = elementary.Norm(values)
	case NormL1:
		length = elementary.Norm1(values)
	case NormMax:
		length = largest
	case NormNone:
		return nil
	default:
		return fmt.Errorf("unknown %v", n)
	}
	guard.FailIf(math.IsInf(length, 0), "the values are too large: their sum overflows")
	for j := range values {
		values[j] /= length
	}
	return nil
}
