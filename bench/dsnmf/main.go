//go:build unix

// Command dsnmf fits one problem that compare.py has written and prints how
// many seconds that took, how many of a processor, and what objective it came
// to.
package main

import (
	"context"
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
	var starts, columns, labels []int64
	var values []float64
	var u, v mat.Dense
	for name, to := range map[string]any{"starts": &starts, "columns": &columns, "values": &values, "labels": &labels, "u": &u, "v": &v} {
		if err := read(filepath.Join(dir, name+".npy"), to); err != nil {
			return err
		}
	}
	m, k := u.Dims()
	sparse, err := factor.NewCSR(len(starts)-1, m, ints(starts), ints(columns), values)
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
	begin, cpu := time.Now(), processor()
	res, err := fitter.Fit(context.Background(), x, factor.Known{Labels: ints(labels)}, factor.Options{
		Rank: k, Iterations: iterations, Start: &factor.Start{Basis: &u, Coefficients: &v}, KeepScale: true,
	})
	if err != nil {
		return err
	}
	fmt.Println(time.Since(begin).Seconds(), processor()-cpu, res.Objective[len(res.Objective)-1])
	return nil
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
