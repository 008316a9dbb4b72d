package features

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Blocks makes rows of features of a set when they are asked for, a few samples at a time.
// It satisfies the interface of that name of package factor.
type Blocks struct {
	set *datasets.Set
	opt Options
	// Height, Width and Channels are those of Matrix.
	Height, Width, Channels int

	// Rows and Skipped are those of Matrix.
	Rows    []int
	Skipped []error

	columns int
	fill    func(ctx context.Context, i int, row []float64) error
}

// InBlocks gets ready to make the rows that Extract makes. With Options.SkipBad it makes the row of each image once, to
// find those that can be used; of vectors that is an error, as are sparse ones.
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
	b := &Blocks{set: set, opt: opt, columns: s.columns, fill: s.fill, Height: s.height, Width: s.width, Channels: s.channels}
	bad := make([]error, set.Len())
	if opt.SkipBad {
		if err := usable(ctx, set, opt, bad, func(i int) error { return b.row(ctx, i, make([]float64, b.columns)) }); err != nil {
			return nil, err
		}
	}
	b.Rows, b.Skipped, err = listed(set, bad)
	return b, err
}

// row makes the row of sample i of a set of images.
func (b *Blocks) row(ctx context.Context, i int, row []float64) error {
	clear(row)
	if err := b.fill(ctx, i, row); err != nil {
		return err
	}
	return b.opt.normalise(b.set, i, row, nil)
}

// Dims returns the numbers of samples and of features.
func (b *Blocks) Dims() (n, m int) { return len(b.Rows), b.columns }

// Read writes the rows of the samples from, …, from+p−1 to dst, p×m. The first sample that
// cannot be used is an error that names it.
func (b *Blocks) Read(ctx context.Context, from int, dst *mat.Dense) error {
	p, _ := dst.Dims()
	samples := make([]int, p)
	copy(samples, b.Rows[from:])
	stored, ok := b.set.Vectors.(*vectorfile.Stored)
	if ok = ok && b.fill == nil; ok {
		if err := stored.Read(ctx, from, dst); err != nil {
			return err
		}
	}
	return each(ctx, b.set, samples, b.opt.Workers, nil, func(at, i int) error {
		row := dst.RawRowView(at)
		if b.fill != nil {
			return b.row(ctx, i, row)
		}
		if !ok {
			vectorfile.Row(row, i, b.set.Vectors)
		}
		return b.opt.normalise(b.set, i, row, nil)
	})
}
