package pipeline

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
)

// inBlocks is a method that learns from the blocks of the inputs.
type inBlocks struct {
	factor.MiniBatch
	blocks factor.Blocks
}

// Fit implements [factor.Method]. It uses neither of the matrix nor of what is known.
func (b inBlocks) Fit(ctx context.Context, _ mat.Matrix, _ factor.Known, opt factor.Options) (*factor.Result, error) {
	return b.MiniBatch.Fit(ctx, b.blocks, opt)
}

// batchOf returns the method of blocks of so many samples that does what a method does with
// all at once.
func batchOf(m Method, samples int) (b factor.MiniBatch, err error) {
	b.Samples = samples
	if samples < 1 {
		return b, fmt.Errorf("blocks of %d samples; there must be 1 or more", samples)
	}
	switch m.Name {
	case "nmf":
	case "nmf-kl":
		b.Cost = factor.CostKL
	default:
		return b, fmt.Errorf("%s needs all samples in memory: of blocks learn nmf and nmf-kl", m.Label())
	}
	if err := b.Serves(factor.Options{Solver: m.Solver.Solver(), Init: m.Init}); err != nil {
		return b, fmt.Errorf("%s: %w", m, err)
	}
	return b, nil
}

// CheckBatch reports a method that cannot learn from blocks, as Batch says, and features that
// cannot be made for them.
func (g Groups) CheckBatch(f Features) error {
	if _, err := batchOf(g.Method, g.Batch); err != nil {
		return err
	}
	return checkBatch(f)
}
