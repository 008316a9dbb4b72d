package vocab_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/vocab"
)

// Words are learned from two images and counted on the left and on the right
// of one of them.
func Example() {
	names := []string{"a.png", "b.png"}
	images := []*features.Descriptors{
		{Vectors: []uint8{0, 1, 250, 250, 2, 1, 252, 254}, Dim: 2,
			X: []float32{1, 3, 14, 12}, Y: []float32{5, 5, 5, 5}, Width: 16, Height: 10},
		{Vectors: []uint8{1, 1, 1, 1}, Dim: 2,
			X: []float32{2, 3}, Y: []float32{4, 8}, Width: 16, Height: 10},
	}

	var sampler vocab.Sampler
	for i, d := range images {
		if err := sampler.Add(names[i], d); err != nil {
			log.Fatal(err)
		}
	}
	sample, dim := sampler.Sample()
	vocabulary, err := vocab.Training{Words: 2}.Train(context.Background(), sample, dim)
	if err != nil {
		log.Fatal(err)
	}

	assigner, err := vocab.NewAssigner(vocabulary, vocab.Assignment{})
	if err != nil {
		log.Fatal(err)
	}
	grid := vocab.Grid{{Rows: 1, Columns: 2}}
	var assigned vocab.Assigned
	var rows []vocab.Histogram
	for _, d := range images {
		if err := assigner.Assign(&assigned, d); err != nil {
			log.Fatal(err)
		}
		h, err := grid.Count(vocabulary.Len(), d, &assigned)
		if err != nil {
			log.Fatal(err)
		}
		rows = append(rows, h)
	}
	counts, err := vocab.Matrix(grid.Len()*vocabulary.Len(), rows)
	if err != nil {
		log.Fatal(err)
	}
	weighted, err := vocab.Weighting{Norm: features.NormL1}.Apply(counts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mat.Formatted(vocabulary.Words))
	fmt.Println(mat.Formatted(weighted))
	// Output:
	// ⎡  1    1⎤
	// ⎣251  252⎦
	// ⎡0.25  0.25  0.25  0.25⎤
	// ⎣   1     0     0     0⎦
}
