//go:build unix

// Command kmeans clusters the points that compare.py has written and prints how many
// seconds that took, how many of a processor, the objective and the iterations of the
// best run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/problem"
)

func main() {
	dir := flag.String("dir", ".", "directory of the points")
	var k cluster.KMeans
	flag.IntVar(&k.K, "k", 10, "clusters")
	flag.Uint64Var(&k.Seed, "seed", 0, "seed")
	flag.IntVar(&k.Restarts, "restarts", 20, "runs")
	flag.BoolVar(&k.Refine, "refine", false, "single samples move where that lowers the objective")
	flag.Parse()
	k.Init = cluster.InitPlusPlus
	var x mat.Dense
	if err := problem.Read(*dir, "x", &x); err != nil {
		fail(err)
	}
	begin, cpu := time.Now(), problem.Processor()
	r, err := k.Fit(context.Background(), &x)
	if err != nil {
		fail(err)
	}
	fmt.Println(time.Since(begin).Seconds(), problem.Processor()-cpu, r.Objective, r.Iterations)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "kmeans:", err)
	os.Exit(1)
}
