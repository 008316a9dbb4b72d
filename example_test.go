package partwise_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed4492f2cd/partwise"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// The generated set is grouped with all defaults. The path of a folder can replace its name.
func ExampleCluster() {
	found, err := partwise.Cluster(context.Background(), "generated", partwise.ClusterOptions{
		Data: spec.Data{Largest: 4},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d samples by %s, rank %d\n", len(found.Groups), found.Method, found.Rank)
	fmt.Println("better than chance:", found.Scores["AC"] > 0.25)
	// Output:
	// 144 samples by nmf, rank 8
	// better than chance: true
}

// Two methods are compared on two draws of three classes.
func ExampleRun() {
	e, err := spec.Parse([]byte(`
name: example
data: generated
features: {pixels: 8}
methods: [kmeans, {name: cnmf, iterations: 30}]
classes: 3
repeats: 2
labels: 30%
`))
	if err != nil {
		log.Fatal(err)
	}
	records, err := partwise.Run(context.Background(), e, partwise.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range records {
		fmt.Printf("%-6s repeat %d: %d samples\n", r.Method, r.Repeat, r.Samples)
	}
	// Output:
	// kmeans repeat 0: 108 samples
	// cnmf   repeat 0: 108 samples
	// kmeans repeat 1: 108 samples
	// cnmf   repeat 1: 108 samples
}

// A program's own method is registered, and an experiment compares it under its name.
func ExampleRun_ownMethod() {
	factor.Register(factor.Info{Name: "sparse-kl", Title: "Sparse NMF by divergence", Family: "NMF"},
		factor.Parts{Cost: factor.CostKL, UnitNorm: true, Penalties: []factor.Penalty{factor.L1{Weight: 0.1}}})
	e, err := spec.Parse([]byte(`
name: own
data: generated
features: {pixels: 8}
methods: [{name: sparse-kl, restarts: 3}, {name: gnmf, tune: {lambda: [1, 100], by: held-out}}]
classes: 3
repeats: 1
`))
	if err != nil {
		log.Fatal(err)
	}
	records, err := partwise.Run(context.Background(), e, partwise.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range records {
		fmt.Println(r.Method, r.Rank, r.Tuned != nil)
	}
	// Output:
	// sparse-kl 3 false
	// gnmf 3 true
}
