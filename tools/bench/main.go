//go:build unix

// Command bench runs one problem from bench.py and prints the wall time, the CPU seconds, the iterations and the
// objective. Its argument is the problem as JSON; arrays are .npy files in the folder Dir.
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/network"
)

type problem struct {
	Dir string
	// Method and Solver fit until the objective is at most Target, from arrays u and v, or by Rank and Seed.
	Method, Solver string
	Rank           int
	Seed           uint64
	Iterations     int
	Target         float64
	Clusters       int    // the number of clusters for k-means with 20 starts
	Model          string // a network that runs on Images copies of an image, on one core
	Images         int
}

func main() {
	var p problem
	err := json.Unmarshal([]byte(os.Args[1]), &p)
	if err == nil {
		switch {
		case p.Clusters > 0:
			err = p.kmeans()
		case p.Images > 0:
			err = p.network()
		default:
			err = p.fit()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// stopwatch returns a function that returns the elapsed seconds and CPU seconds.
func stopwatch() (since func() string) {
	processor := func() float64 {
		var r syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
		return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
	}
	begin, used := time.Now(), processor()
	return func() string { return fmt.Sprint(time.Since(begin).Seconds(), processor()-used) }
}

func (p problem) kmeans() error {
	x := &mat.Dense{}
	if err := p.read("x", x); err != nil {
		return err
	}
	k := cluster.KMeans{K: p.Clusters, Seed: p.Seed, Restarts: 20, Init: cluster.InitPlusPlus}
	since := stopwatch()
	r, err := k.Fit(context.Background(), x)
	if err != nil {
		return err
	}
	fmt.Println(since(), r.Iterations, r.Objective)
	return nil
}

func (p problem) network() error {
	runtime.GOMAXPROCS(1)
	model, err := os.ReadFile(p.Model)
	if err != nil {
		return err
	}
	n, err := network.Compile(model, network.Options{})
	if err != nil {
		return err
	}
	image := make([]float32, n.Height*n.Width*n.Channels)
	if err := p.read("image", &image); err != nil {
		return err
	}
	out := make([]float32, n.OutHeight*n.OutWidth*n.OutChannels)
	since := stopwatch()
	for i := -p.Images / 4; i < p.Images; i++ {
		if i == 0 { // the images before warm up
			since = stopwatch()
		}
		if err := n.Run(out, image); err != nil {
			return err
		}
	}
	fmt.Println(since(), 0, 0)
	content, err := binary.Append(nil, binary.LittleEndian, out)
	return errors.Join(err, os.WriteFile(filepath.Join(p.Dir, "out"), content, 0o600))
}

// fit times a fit after an untimed one of three iterations. The first fit of a process allocates memory from the
// system, which the other program's process has done already.
func (p problem) fit() error {
	x, err := p.data()
	if err != nil {
		return err
	}
	var known factor.Known
	var labels []int64
	if err := p.read("labels", &labels); err == nil {
		known.Labels = ints(labels)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	opt := factor.Options{Rank: p.Rank, Seed: p.Seed, Iterations: 3, KeepScale: true}
	if opt.Rank == 0 {
		opt.Start = &factor.Start{Basis: &mat.Dense{}, Coefficients: &mat.Dense{}}
		if err := errors.Join(p.read("u", opt.Start.Basis), p.read("v", opt.Start.Coefficients)); err != nil {
			return err
		}
		_, opt.Rank = opt.Start.Basis.Dims()
	}
	info, ok := factor.Lookup(p.Method)
	by, found := factor.LookupSolver(p.Solver)
	if !ok || !found {
		return fmt.Errorf("no method %q or no solver %q", p.Method, p.Solver)
	}
	opt.Solver = by.Solver
	fitter, err := info.New(nil)
	if err != nil {
		return err
	}
	if _, err := fitter.Fit(context.Background(), x, known, opt); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	since, last := stopwatch(), ""
	opt.Iterations = p.Iterations
	opt.OnIteration = func(i int, objective float64) {
		last = fmt.Sprintln(since(), i, objective)
		if objective <= p.Target {
			cancel()
		}
	}
	if _, err := fitter.Fit(ctx, x, known, opt); err != nil && ctx.Err() == nil {
		return err
	}
	fmt.Print(last)
	return nil
}

// data reads the dense matrix x, or the sparse one of starts, columns and values.
func (p problem) data() (mat.Matrix, error) {
	x := &mat.Dense{}
	if err := p.read("x", x); err == nil || !errors.Is(err, os.ErrNotExist) {
		return x, err
	}
	var shape, starts, columns []int64
	var values []float64
	if err := errors.Join(p.read("shape", &shape), p.read("starts", &starts), p.read("columns", &columns), p.read("values", &values)); err != nil {
		return nil, err
	}
	return factor.NewCSR(int(shape[0]), int(shape[1]), ints(starts), ints(columns), values)
}

func (p problem) read(name string, to any) error {
	f, err := os.Open(filepath.Join(p.Dir, name+".npy"))
	if err != nil {
		return err
	}
	defer f.Close()
	return npyio.Read(f, to)
}

func ints(x []int64) []int {
	out := make([]int, len(x))
	for i, v := range x {
		out[i] = int(v)
	}
	return out
}
