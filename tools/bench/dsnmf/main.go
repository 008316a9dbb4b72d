//go:build unix

// Command dsnmf fits one problem that compare.py has written and prints how
// many seconds that took, how many of a processor, and what objective it came
// to.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/problem"
)

func main() {
	dir := flag.String("dir", ".", "directory of the problem")
	method := flag.String("method", "d-snmf", "method")
	iterations := flag.Int("iterations", 400, "iterations")
	dense := flag.Bool("dense", false, "take the data as a dense matrix")
	flag.Parse()
	if err := run(*dir, *method, *iterations, *dense); err != nil {
		fmt.Fprintln(os.Stderr, "dsnmf:", err)
		os.Exit(1)
	}
}

func run(dir, method string, iterations int, dense bool) error {
	var labels []int64
	var u, v mat.Dense
	for name, to := range map[string]any{"labels": &labels, "u": &u, "v": &v} {
		if err := problem.Read(dir, name, to); err != nil {
			return err
		}
	}
	m, k := u.Dims()
	sparse, err := problem.Sparse(dir, m)
	if err != nil {
		return err
	}
	var x mat.Matrix = sparse
	if dense {
		x = mat.DenseCopyOf(sparse)
	}
	info, ok := factor.Lookup(method)
	if !ok {
		return fmt.Errorf("no method %q", method)
	}
	fitter, err := info.New(nil)
	if err != nil {
		return err
	}
	begin, cpu := time.Now(), problem.Processor()
	res, err := fitter.Fit(context.Background(), x, factor.Known{Labels: problem.Ints(labels)}, factor.Options{
		Rank: k, Iterations: iterations, Start: &factor.Start{Basis: &u, Coefficients: &v}, KeepScale: true,
		Solver: factor.Multiplicative{},
	})
	if err != nil {
		return err
	}
	fmt.Println(time.Since(begin).Seconds(), problem.Processor()-cpu, res.Objective[len(res.Objective)-1])
	return nil
}
