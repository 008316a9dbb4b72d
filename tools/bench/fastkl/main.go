//go:build unix

// Command fastkl times two solvers of nmf-kl from the same initial factors: the
// multiplicative rule for a number of iterations, and fast until its objective is no more
// than the rule's. They run one after the other, and again; printed are the medians.
//
//	PARTWISE_DATA=folder go run ./bench/fastkl [-rank 20] [-iterations 200] [-repeats 5] [-only coil,news]
//
// The sets are coil (COIL-20, 1440×1024), mnist (its 10,000 test images, 784 pixels) and news
// (20 Newsgroups, sparse, 18,846×26,214) in the folder PARTWISE_DATA, and generated ones:
// zipf (sparse, 18,846×26,000, words by Zipf's law of 20 topics) and parts (dense, 1000×900).
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/problem"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/row"
)

func main() {
	only := flag.String("only", "coil,mnist,news,zipf,parts", "sets, with commas between them")
	rank := flag.Int("rank", 20, "rank")
	iterations := flag.Int("iterations", 200, "iterations of the multiplicative rule")
	repeats := flag.Int("repeats", 5, "repeats")
	trace := flag.Bool("trace", false, "print the objective of each iteration of fast")
	asJSON := flag.Bool("json", false, "print rows for bench/main.go, and leave out sets that are not there")
	flag.Parse()
	for name := range strings.SplitSeq(*only, ",") {
		err := run(name, *rank, *iterations, *repeats, *trace, *asJSON)
		if *asJSON && errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "fastkl: %s is left out: %v\n", name, err)
			continue
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "fastkl: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

// titles are what tables call the sets.
var titles = map[string]string{"coil": "COIL-20", "mnist": "MNIST 10k", "news": "20 Newsgroups", "zipf": "texts by Zipf's law", "parts": "parts with noise"}

// took is what a run took: iterations, seconds, and seconds of a processor.
type took struct{ iterations, seconds, processor float64 }

func run(name string, rank, iterations, repeats int, trace, asJSON bool) error {
	if titles[name] == "" {
		return errors.New("there is no such set")
	}
	x, err := load(name)
	if err != nil {
		return err
	}
	n, m := x.Dims()
	var rule, fast []took
	var objective float64
	for round := range repeats {
		src := rand.New(rand.NewPCG(uint64(round), 1))
		start := &factor.Start{Basis: random(src, m, rank), Coefficients: random(src, n, rank)}
		t, history, err := fit(x, factor.Options{Rank: rank, Iterations: iterations, Start: start}, factor.Multiplicative{}, math.Inf(-1), false)
		if err != nil {
			return err
		}
		rule, objective = append(rule, t), history[len(history)-1]
		t, history, err = fit(x, factor.Options{Rank: rank, Iterations: 10 * iterations, Start: start}, factor.Fast{}, objective, trace)
		if err != nil {
			return err
		}
		if last := history[len(history)-1]; last > objective {
			return fmt.Errorf("fast stays at %v, above %v of the multiplicative rule", last, objective)
		}
		fast = append(fast, t)
	}
	each := func(of func(i int) float64) []float64 {
		all := make([]float64, repeats)
		for i := range all {
			all[i] = of(i)
		}
		return all
	}
	median := func(of func(i int) float64) float64 { return row.Median(each(of)) }
	if asJSON {
		return row.Row{
			Problem: fmt.Sprintf("nmf-kl %s, %d×%d, k=%d", titles[name], n, m, rank), Beside: fmt.Sprintf("%d iterations of `mu`", iterations),
			Theirs: each(func(i int) float64 { return rule[i].seconds }), TheirsProcessor: each(func(i int) float64 { return rule[i].processor }),
			Ours: each(func(i int) float64 { return fast[i].seconds }), OursProcessor: each(func(i int) float64 { return fast[i].processor }),
			Note: fmt.Sprintf("%.0f iterations", median(func(i int) float64 { return fast[i].iterations })),
		}.Write(os.Stdout)
	}
	fmt.Printf("%-6s %d×%d rank %d: rule %d iterations %.2f s, fast %.0f iterations %.2f s; rule/fast %.1f of time, %.1f of processors\n", name, n, m, rank,
		iterations, median(func(i int) float64 { return rule[i].seconds }),
		median(func(i int) float64 { return fast[i].iterations }), median(func(i int) float64 { return fast[i].seconds }),
		median(func(i int) float64 { return rule[i].seconds / fast[i].seconds }),
		median(func(i int) float64 { return rule[i].processor / fast[i].processor }))
	return nil
}

// fit runs a solver until the objective is no more than enough.
func fit(x mat.Matrix, opt factor.Options, solver factor.Solver, enough float64, trace bool) (t took, history []float64, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	begin, cpu := time.Now(), problem.Processor()
	opt.Solver = solver
	opt.OnIteration = func(i int, now float64) {
		t = took{float64(i), time.Since(begin).Seconds(), problem.Processor() - cpu}
		history = append(history, now)
		if trace {
			fmt.Println(i, now, t.processor)
		}
		if now <= enough {
			stop()
		}
	}
	_, err = factor.NMFKL{}.Fit(ctx, x, factor.Known{}, opt)
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return t, history, err
}

func random(src *rand.Rand, r, c int) *mat.Dense {
	a := mat.NewDense(r, c, nil)
	a.Apply(func(int, int, float64) float64 { return 1 - src.Float64() }, a)
	return a
}

func load(name string) (mat.Matrix, error) {
	src := rand.New(rand.NewPCG(1, 2))
	switch name {
	case "zipf":
		return texts(src, 18846, 26000, 20)
	case "parts":
		var x mat.Dense
		x.Mul(random(src, 1000, 20), random(src, 20, 900))
		x.Apply(func(_, _ int, x float64) float64 { return x * src.ExpFloat64() }, &x)
		return &x, nil
	}
	dir := os.Getenv("PARTWISE_DATA")
	if dir == "" {
		return nil, fmt.Errorf("PARTWISE_DATA names no folder: %w", fs.ErrNotExist)
	}
	read, file := vectorfile.MAT, filepath.Join(dir, "mat", map[string]string{"coil": "COIL20.mat", "news": "20Newsgroups.mat"}[name])
	if name == "mnist" {
		read, file = vectorfile.IDX, filepath.Join(dir, "mnist", "t10k-images-idx3-ubyte.gz")
	}
	s, err := read(file, vectorfile.Options{})
	if err != nil {
		return nil, err
	}
	return withValues(s.Vectors), nil
}

// withValues leaves out samples of zeros, of sparse data.
func withValues(x mat.Matrix) mat.Matrix {
	s, ok := x.(*factor.CSR)
	if !ok {
		return mat.DenseCopyOf(x)
	}
	n, _ := s.Dims()
	var keep []int
	for i := range n {
		if cols, _ := s.Row(i); len(cols) > 0 {
			keep = append(keep, i)
		}
	}
	return s.SelectRows(keep)
}

// texts draws samples of some 150 words each, of the words of one topic and of all.
func texts(src *rand.Rand, n, m, topics int) (mat.Matrix, error) {
	starts, columns, values := []int{0}, []int(nil), []float64(nil)
	for range n {
		topic, count := src.IntN(topics), map[int]int{}
		for range 30 + src.IntN(240) {
			word := int(math.Pow(float64(m), src.Float64())) - 1 // of all by Zipf's law
			if src.IntN(2) == 0 {
				word = (word*topics + topic*7919) % m
			}
			count[word]++
		}
		words := make([]int, 0, len(count))
		for w := range count {
			words = append(words, w)
		}
		slices.SortFunc(words, cmp.Compare[int])
		for _, w := range words {
			columns, values = append(columns, w), append(values, float64(count[w]))
		}
		starts = append(starts, len(columns))
	}
	return factor.NewCSR(n, m, starts, columns, values)
}
