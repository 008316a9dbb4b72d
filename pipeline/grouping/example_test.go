package grouping_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Objects of the generated set are put into groups. Their known classes score the groups.
func ExampleGroups_Find() {
	ctx := context.Background()
	e := spec.Experiment{
		Data:     spec.Data{Set: "generated", Largest: 4},
		Features: spec.Features{Extractor: features.Pixels{Size: features.Size{Height: 8, Width: 8}}},
	}
	in, err := input.Prepare(ctx, &e, input.PrepareOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	nmf := spec.Method{Name: "nmf", Iterations: 50}
	found, err := grouping.Groups{K: 4, Method: nmf}.Find(ctx, in, nil)
	if err != nil {
		log.Fatal(err)
	}
	sizes := make([]int, 4)
	for _, group := range found.Groups {
		sizes[group]++
	}
	slices.Reverse(sizes)
	fmt.Printf("%d samples by %d coefficients of %s\n", len(found.Groups), found.Rank, found.Method)
	fmt.Println("the largest group first:", slices.IsSorted(sizes))
	fmt.Println("more than a guess:", found.Scores["AC"] > 0.25)
	// Output:
	// 144 samples by 8 coefficients of nmf
	// the largest group first: true
	// more than a guess: true
}
