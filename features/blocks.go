package features

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Blocks makes rows of features of a set when they are asked for, a few samples at a time. It satisfies the
// interface of that name of package factor.
type Blocks struct{ source }

// InBlocks gets ready to make the rows that Extract makes. With Options.SkipBad it makes the row of each image
// once, to find those that can be used; of vectors that is an error, as are sparse ones.
func InBlocks(ctx context.Context, set *datasets.Set, by RowExtractor, opt Options) (*Blocks, error) {
	_, isSparse := set.Vectors.(*sparse.CSR)
	switch {
	case opt.SkipBad && set.Files == nil:
		return nil, fmt.Errorf("features: which vectors of %s cannot be used is not known before all are read, and in blocks they cannot be skipped", set.Name)
	case isSparse:
		return nil, fmt.Errorf("features: the vectors of %s are sparse, and blocks are not", set.Name)
	}
	s, err := sourceOf(ctx, set, by, opt)
	if err != nil {
		return nil, err
	}
	bad := make([]error, set.Len())
	if opt.SkipBad {
		if err := s.usable(ctx, bad, func(i int) error { return s.row(ctx, i, make([]float64, s.columns)) }); err != nil {
			return nil, err
		}
	}
	return &Blocks{*s}, s.list(set, bad)
}

// Dims returns the numbers of samples and of features.
func (b *Blocks) Dims() (n, m int) { return len(b.Rows), b.columns }

// Read writes the rows of the samples from, …, from+p−1 to dst, p×m. The first sample that cannot be used is an
// error that names it.
func (b *Blocks) Read(ctx context.Context, from int, dst *mat.Dense) error {
	p, _ := dst.Dims()
	make := b.row
	if stored, ok := b.set.Vectors.(*vectorfile.Stored); ok && b.asTheyAre {
		if err := stored.Read(ctx, from, dst); err != nil {
			return err
		}
		make = func(_ context.Context, i int, row []float64) error { return b.normalise(i, row, nil) }
	} else {
		dst.Zero()
	}
	return each(ctx, b.set, b.Rows[from:from+p], b.opt.Workers, nil, func(at, i int) error {
		return make(ctx, i, dst.RawRowView(at))
	})
}
