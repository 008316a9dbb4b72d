//go:build unix

// Command fast fits one problem that compare.py has written and prints how many seconds
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
	"path/filepath"
	"syscall"
	"time"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
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

func run(dir, method, solver string, opt factor.Options, target float64, trace bool) error {
	x, err := data(dir)
	if err != nil {
		return err
	}
	var known factor.Known
	var labels []int64
	if err := read(filepath.Join(dir, "labels.npy"), &labels); err == nil {
		known.Labels = ints(labels)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if opt.Rank == 0 {
		opt.Start = &factor.Start{Basis: &mat.Dense{}, Coefficients: &mat.Dense{}}
		if err := errors.Join(read(filepath.Join(dir, "u.npy"), opt.Start.Basis), read(filepath.Join(dir, "v.npy"), opt.Start.Coefficients)); err != nil {
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
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	begin, cpu := time.Now(), processor()
	var last string
	opt.Solver = by.Solver
	opt.OnIteration = func(i int, objective float64) {
		last = fmt.Sprintln(time.Since(begin).Seconds(), processor()-cpu, i, objective)
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
	err := read(filepath.Join(dir, "x.npy"), &x)
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return &x, err
	}
	var starts, columns, shape []int64
	var values []float64
	for name, to := range map[string]any{"starts": &starts, "columns": &columns, "values": &values, "shape": &shape} {
		if err := read(filepath.Join(dir, name+".npy"), to); err != nil {
			return nil, err
		}
	}
	return factor.NewCSR(int(shape[0]), int(shape[1]), ints(starts), ints(columns), values)
}

// processor returns how many seconds of processor the program has taken.
func processor() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return math.NaN()
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

func read(path string, to any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := npyio.Read(f, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func ints(x []int64) []int {
	out := make([]int, len(x))
	for i, v := range x {
		out[i] = int(v)
	}
	return out
}
