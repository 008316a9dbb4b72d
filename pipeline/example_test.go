package pipeline_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// An experiment on the generated set runs two methods on two draws of three classes. The log in the folder has the same
// records, for reports.
func Example() {
	ctx := context.Background()
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
	in, err := input.Prepare(ctx, e, input.PrepareOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	plan, err := pipeline.NewPlan(ctx, e, in)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "partwise-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if _, err := results.Run(ctx, plan, dir, pipeline.RunOptions{}); err != nil {
		log.Fatal(err)
	}

	summary, err := results.ReadSummary(dir)
	if err != nil {
		log.Fatal(err)
	}
	records, err := results.Records(dir, summary)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range records {
		ac, ok := r.Scores["AC free"]
		fmt.Printf("%-6s repeat %d: %d samples of %d classes, %d labelled, scored %v\n",
			r.Method, r.Repeat, r.Samples, r.Classes, r.Labelled, ok && 0 < ac && ac <= 1)
	}
	// Output:
	// kmeans repeat 0: 108 samples of 3 classes, 33 labelled, scored true
	// cnmf   repeat 0: 108 samples of 3 classes, 33 labelled, scored true
	// kmeans repeat 1: 108 samples of 3 classes, 33 labelled, scored true
	// cnmf   repeat 1: 108 samples of 3 classes, 33 labelled, scored true
}
