//go:build unix

// Command fast fits one problem that compare.py has written, after a short fit of it that is not timed, and prints how many seconds
// that took until the objective was at most a target, how many of a processor, after how
// many iterations, and the objective.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/problem"
)

func main() {
	dir := flag.String("dir", ".", "directory of the problem")
	method := flag.String("method", "nmf", "method")
	solver := flag.String("solver", "fast", "solver")
	rank := flag.Int("rank", 0, "rank, where the problem has no initial factors")
	seed := flag.Uint64("seed", 0, "seed of initial factors")
	iterations := flag.Int("iterations", 2000, "iterations at most")
	target := flag.Float64("target", math.Inf(-1), "objective at which to stop")
	trace := flag.Bool("trace", false, "print every iteration")
	flag.Parse()
	opt := factor.Options{Rank: *rank, Seed: *seed, Iterations: *iterations, KeepScale: true}
	if err := run(*dir, *method, *solver, opt, *target, *trace); err != nil {
		fmt.Fprintln(os.Stderr, "fast:", err)
		os.Exit(1)
	}
}

// warmIterations are those of the fit before the one that is timed: the first of a process takes memory
// from the system, which the other program's process has done already.
const warmIterations = 3

func run(dir, method, solver string, opt factor.Options, target float64, trace bool) error {
	x, err := data(dir)
	if err != nil {
		return err
	}
	var known factor.Known
	var labels []int64
	if err := problem.Read(dir, "labels", &labels); err == nil {
		known.Labels = problem.Ints(labels)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if opt.Rank == 0 {
		opt.Start = &factor.Start{Basis: &mat.Dense{}, Coefficients: &mat.Dense{}}
		if err := errors.Join(problem.Read(dir, "u", opt.Start.Basis), problem.Read(dir, "v", opt.Start.Coefficients)); err != nil {
			return err
		}
		_, opt.Rank = opt.Start.Basis.Dims()
	}
	info, ok := factor.Lookup(method)
	by, found := factor.LookupSolver(solver)
	if !ok || !found {
		return fmt.Errorf("no method %q or no solver %q", method, solver)
	}
	fitter, err := info.New(nil)
	if err != nil {
		return err
	}
	opt.Solver = by.Solver
	warm := opt
	warm.Iterations = warmIterations
	if _, err := fitter.Fit(context.Background(), x, known, warm); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	begin, cpu := time.Now(), problem.Processor()
	var last string
	opt.OnIteration = func(i int, objective float64) {
		last = fmt.Sprintln(time.Since(begin).Seconds(), problem.Processor()-cpu, i, objective)
		if trace {
			fmt.Print(last)
		}
		if objective <= target {
			cancel()
		}
	}
	if _, err := fitter.Fit(ctx, x, known, opt); err != nil && ctx.Err() == nil {
		return err
	}
	fmt.Print(last)
	return nil
}

// data reads x.npy, or the rows of a sparse matrix.
func data(dir string) (mat.Matrix, error) {
	var x mat.Dense
	err := problem.Read(dir, "x", &x)
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return &x, err
	}
	var shape []int64
	if err := problem.Read(dir, "shape", &shape); err != nil {
		return nil, err
	}
	return problem.Sparse(dir, int(shape[1]))
}
