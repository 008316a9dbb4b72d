//go:build unix

// Command scale fits methods to random samples of 784 features, of which a share has labels, and
// prints for each number of samples how many seconds of a processor an iteration takes,
// and in the end the slope of their logarithms on those of the numbers of samples and
// how much memory the process held at most, data and results among it.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/problem"
)

func main() {
	methods := flag.String("methods", "nmf,ccf,cf", "methods")
	samples := flag.String("samples", "15000,30000,60000", "numbers of samples")
	rank := flag.Int("rank", 11, "rank")
	iterations := flag.Int("iterations", 20, "iterations")
	solver := flag.String("solver", "mu", "solver")
	labelled := flag.Int("labelled", 30, "percent of the samples that have labels, for methods that take them")
	flag.Parse()
	for _, method := range strings.Split(*methods, ",") {
		if err := run(method, *solver, strings.Split(*samples, ","), *rank, *iterations, *labelled); err != nil {
			fmt.Fprintln(os.Stderr, "scale:", err)
			os.Exit(1)
		}
	}
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err == nil {
		fmt.Printf("at most %.2f GB\n", float64(r.Maxrss)/1e6) // kilobytes on Linux
	}
}

func run(method, solver string, samples []string, rank, iterations, labelled int) error {
	const features, classes = 784, 10
	info, ok := factor.Lookup(method)
	by, found := factor.LookupSolver(solver)
	if !ok || !found {
		return fmt.Errorf("no method %q or no solver %q", method, solver)
	}
	var sizes, times []float64
	for _, s := range samples {
		n, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		random := rand.New(rand.NewPCG(1, 1))
		x := mat.NewDense(n, features, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return random.Float64() }, x)
		fitter, err := info.New(nil)
		if err != nil {
			return err
		}
		var known factor.Known
		if factor.NeedsOf(fitter).Labels {
			known.Labels = make([]int, n)
			for i := range known.Labels {
				if known.Labels[i] = -1; i%100 < labelled {
					known.Labels[i] = i / 100 % classes
				}
			}
		}
		begin, cpu := time.Now(), problem.Processor()
		if _, err := fitter.Fit(context.Background(), x, known, factor.Options{Rank: rank, Iterations: iterations, Solver: by.Solver}); err != nil {
			return err
		}
		took := problem.Processor() - cpu
		fmt.Printf("%s, %d samples, %d iterations: %.2f s, %.2f s of a processor\n", method, n, iterations, time.Since(begin).Seconds(), took)
		sizes, times = append(sizes, math.Log(float64(n))), append(times, math.Log(took))
	}
	if len(sizes) > 1 {
		_, slope := stat.LinearRegression(sizes, times, nil, false)
		fmt.Printf("%s: the logarithm of the time has the slope %.2f\n", method, slope)
	}
	return nil
}
