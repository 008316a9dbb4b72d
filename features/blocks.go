package features

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Blocks makes rows of features of a set when they are asked for, a few samples at a time.
// It satisfies the interface of that name of package factor.
type Blocks struct {
	set *datasets.Set
	opt Options
	// Height, Width and Channels are those of Matrix.
	Height, Width, Channels int

	columns int
	fill    func(ctx context.Context, i int, row []float64) error
}

// InBlocks gets ready to make the rows that Extract makes, but reads no image. Sparse
// vectors and Options.SkipBad are an error: nothing is known of samples beforehand.
func InBlocks(ctx context.Context, set *datasets.Set, by RowExtractor, opt Options) (*Blocks, error) {
	_, isSparse := set.Vectors.(*sparse.CSR)
	switch {
	case opt.SkipBad:
		return nil, fmt.Errorf("features: what cannot be used is not known before all samples are read, and those of %s are read in blocks: it cannot be left out", set.Name)
	case isSparse:
		return nil, fmt.Errorf("features: the vectors of %s are sparse, and blocks are not", set.Name)
	}
	s, err := sourceOf(ctx, set, by, opt)
	if err != nil {
		return nil, err
	}
	return &Blocks{set: set, opt: opt, columns: s.columns, fill: s.fill, Height: s.height, Width: s.width, Channels: s.channels}, nil
}

// Dims returns the numbers of samples and of features.
func (b *Blocks) Dims() (n, m int) { return b.set.Len(), b.columns }

// Read writes the rows of the samples from, …, from+p−1 to dst, p×m. The first sample that
// cannot be used is an error that names it.
func (b *Blocks) Read(ctx context.Context, from int, dst *mat.Dense) error {
	p, _ := dst.Dims()
	samples := make([]int, p)
	for at := range samples {
		samples[at] = from + at
	}
	stored, ok := b.set.Vectors.(*datasets.Stored)
	if ok = ok && b.fill == nil; ok {
		if err := stored.Read(ctx, from, dst); err != nil {
			return err
		}
	}
	return each(ctx, b.set, samples, b.opt.Workers, nil, func(at, i int) error {
		row := dst.RawRowView(at)
		switch {
		case b.fill != nil:
			clear(row)
			if err := b.fill(ctx, i, row); err != nil {
				return err
			}
		case !ok:
			datasets.Row(row, i, b.set.Vectors)
		}
		return b.opt.normalise(b.set, i, row, nil)
	})
}
