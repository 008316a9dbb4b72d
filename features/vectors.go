package features

import (
	"context"
	"fmt"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"gonum.org/v1/gonum/mat"
)

// Vectors takes the vectors of a set as they are, each normalised.
type Vectors struct {
	Normalise Norm
	// SkipBad leaves out the samples that cannot be used instead of stopping.
	SkipBad bool
	// Workers is how many samples are worked on at once, or 0 for one for
	// each processor. The result does not depend on it.
	Workers int
}

// Extract returns the n×m vectors of the set, which stays unchanged. Sparse
// vectors stay sparse. A set of image files has no vectors and is an error.
// The calls of progress, which may be nil, do not overlap.
func (v Vectors) Extract(ctx context.Context, set *datasets.Set, progress func(done, total int)) (*Matrix, error) {
	if set.Vectors == nil {
		return nil, fmt.Errorf("features: the set %s holds images, not vectors; take their pixels", set.Name)
	}
	run := run{set, v.Normalise, v.SkipBad, v.Workers, progress}
	var out *Matrix
	var err error
	if x, ok := set.Vectors.(*sparse.CSR); ok {
		out, err = run.sparse(ctx, x)
	} else {
		_, m := set.Vectors.Dims()
		out, err = run.dense(ctx, m, func(i int, row []float64) error {
			mat.Row(row, i, set.Vectors)
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	if set.Height > 0 {
		out.Height, out.Width, out.Channels = set.Height, set.Width, 1
	}
	return out, nil
}
