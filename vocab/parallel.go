package vocab

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// blocks returns how many blocks of a size the numbers below n make.
func blocks(n, size int) int { return (n + size - 1) / size }

// inBlocks calls work for each block of the numbers below n, of size numbers but
// for the last. A worker's calls come one after the other. A panic of work is
// an error.
func inBlocks(ctx context.Context, workers, n, size int, work func(worker, lo, hi int)) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	blocks := blocks(n, size)
	for worker := range min(workers, blocks) {
		group.Go(func() error {
			return guard.Call(func() error {
				for {
					block := int(next.Add(1)) - 1
					if block >= blocks {
						return nil
					}
					if err := ctx.Err(); err != nil {
						return err
					}
					work(worker, block*size, min((block+1)*size, n))
				}
			})
		})
	}
	return group.Wait()
}
