package main

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/experimentfile"
)

// trials makes experiments of real trials: NMF and k-means on a small set of vectors, under
// several names. Under each name the columns of the set stand in another order, which is all
// the same to NMF but for the random basis that it starts from.
type trials struct {
	names int
	ks    []int
}

const (
	trialClasses  = 6
	trialSamples  = 8 // of each class
	trialFeatures = 20
)

func (t trials) maker(ctx context.Context) func(int) (experiment, error) {
	return func(i int) (experiment, error) { return t.experiment(ctx, i) }
}

func (t trials) experiment(ctx context.Context, i int) (experiment, error) {
	e := experiment{classes: trialClasses}
	vectors := trialVectors(i)
	for name := range t.names {
		order := rng.New(1, "columns", i, name).Perm(trialFeatures)
		records, err := t.run(ctx, i, vectors, order)
		if err != nil {
			return e, err
		}
		e.methods = append(e.methods, string(rune('A'+name)))
		for _, r := range records {
			r.Method = e.methods[name]
			e.records = append(e.records, r)
		}
	}
	return e, nil
}

// trialVectors are the samples of classes that overlap.
func trialVectors(i int) *mat.Dense {
	random := rng.New(1, "trial", i)
	x := mat.NewDense(trialClasses*trialSamples, trialFeatures, nil)
	for c := range trialClasses {
		mean := make([]float64, trialFeatures)
		for j := range mean {
			mean[j] = random.ExpFloat64()
		}
		for s := range trialSamples {
			for j := range mean {
				x.Set(c*trialSamples+s, j, mean[j]*random.ExpFloat64()+0.01)
			}
		}
	}
	return x
}

func (t trials) run(ctx context.Context, i int, vectors *mat.Dense, order []int) ([]pipeline.Record, error) {
	n, m := vectors.Dims()
	set := &datasets.Set{Name: "small", Vectors: mat.NewDense(n, m, nil), Labels: make([]int, n)}
	for c := range trialClasses {
		set.Classes = append(set.Classes, fmt.Sprint(c))
	}
	for row := range n {
		set.Names, set.Labels[row] = append(set.Names, fmt.Sprint(row)), row/trialSamples
		for to, from := range order {
			set.Vectors.(*mat.Dense).Set(row, to, vectors.At(row, from))
		}
	}
	e, err := experimentfile.Parse([]byte("{name: small, data: small, methods: [{name: nmf, iterations: 30}], repeats: 10, cluster: {restarts: 2}, rank: k+1}"))
	if err != nil {
		return nil, err
	}
	if e.Seed = uint64(i); t.ks == nil {
		t.ks = []int{4}
	}
	e.Classes = pipeline.Classes(t.ks)
	in, err := e.PrepareSet(ctx, set, pipeline.PrepareOptions{})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	plan, err := pipeline.NewPlan(ctx, e, in)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx, nil, pipeline.RunOptions{Workers: 1})
}
