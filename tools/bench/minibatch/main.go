//go:build unix

// Command minibatch fits the problem that compare.py has written. With -full all samples
// are in memory and the solver fast lowers the objective until it stands still; printed
// are iterations, seconds, those of a processor, the objective, and how many MB the process
// has held at most. Without it factor.MiniBatch
// reads x.npy in blocks, for one epoch, from the same start for two, and so on until the
// objective is at most a target, or from -first epochs on; printed is a line of each.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/problem"
)

func main() {
	dir := flag.String("dir", ".", "directory of the problem")
	kl := flag.Bool("kl", false, "the divergence in place of the Frobenius cost")
	full := flag.Bool("full", false, "all samples in memory")
	samples := flag.Int("samples", 1024, "samples in a block")
	first := flag.Int("first", 1, "epochs of the first fit")
	epochs := flag.Int("epochs", 10, "epochs at most")
	target := flag.Float64("target", math.Inf(-1), "objective at which to stop")
	flag.Parse()
	cost := factor.CostFrobenius
	if *kl {
		cost = factor.CostKL
	}
	if err := run(*dir, cost, *full, *samples, *first, *epochs, *target); err != nil {
		fmt.Fprintln(os.Stderr, "minibatch:", err)
		os.Exit(1)
	}
}

func run(dir string, cost factor.Cost, full bool, samples, first, epochs int, target float64) error {
	var u mat.Dense
	if err := problem.Read(dir, "u", &u); err != nil {
		return err
	}
	_, k := u.Dims()
	opt := factor.Options{Rank: k, Start: &factor.Start{Basis: &u}}
	ctx := context.Background()
	if full {
		set, err := vectorfile.NPY(filepath.Join(dir, "x.npy"), vectorfile.Options{})
		if err != nil {
			return err
		}
		opt.Iterations, opt.Tolerance = 500, 3e-6
		return timed(func() (*factor.Result, error) {
			return factor.Parts{Cost: cost}.Fit(ctx, mat.DenseCopyOf(set.Vectors), factor.Known{}, opt)
		}, nil)
	}
	for opt.Iterations = first; opt.Iterations <= epochs; opt.Iterations++ {
		var objective float64
		if err := timed(func() (*factor.Result, error) {
			set, err := vectorfile.NPY(filepath.Join(dir, "x.npy"), vectorfile.Options{OnDisk: true})
			if err != nil {
				return nil, err
			}
			defer set.Close()
			return factor.MiniBatch{Cost: cost, Samples: samples}.Fit(ctx, set.Vectors.(*vectorfile.Stored), opt)
		}, &objective); err != nil || objective <= target {
			return err
		}
	}
	return nil
}

// timed prints how many iterations a fit does, its seconds, those of a processor, its last
// objective, and how many MB the process has held at most.
func timed(fit func() (*factor.Result, error), objective *float64) error {
	begin, cpu := time.Now(), problem.Processor()
	res, err := fit()
	if err != nil {
		return err
	}
	last := res.Objective[res.Iterations()]
	fmt.Println(res.Iterations(), time.Since(begin).Seconds(), problem.Processor()-cpu, last, problem.Peak())
	if objective != nil {
		*objective = last
	}
	return nil
}
