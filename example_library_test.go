package partwise_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
)

func Example_library() {
	ctx := context.Background()

	// Read the images. A folder with one subfolder for each class works the same.
	set, err := datasets.Open(ctx, "generated", datasets.OpenOptions{})
	check(err)
	defer set.Close()
	set = set.Largest(4) // classes

	// Extract the features: X, n×m, one row for each image.
	size := features.Size{Height: 16, Width: 16}
	x, err := features.Extract(ctx, set, features.Pixels{Size: size}, features.Options{})
	check(err)

	// Label every third image. -1 is an unknown class.
	known := factor.Known{Labels: make([]int, set.Len())}
	truth := make([]int, set.Len()) // of the other images
	for i, class := range set.Labels {
		known.Labels[i], truth[i] = -1, class
		if i%3 == 0 {
			known.Labels[i], truth[i] = class, -1
		}
	}

	// Factorise X ≈ V·Uᵀ by CNMF: labelled images of one class share a row of V.
	fit, err := factor.CNMF{}.Fit(ctx, x.X, known, factor.Options{Rank: 8, Seed: 1})
	check(err)

	// Cluster the rows of V, and score the clusters of the unlabelled images.
	kmeans := cluster.KMeans{K: 4, Distance: cluster.DistanceCosine, Seed: 1}
	found, err := kmeans.Fit(ctx, fit.Coefficients)
	check(err)
	n, m := x.X.Dims()
	fmt.Printf("%d images, %d features, %d iterations\n", n, m, fit.Iterations())
	fmt.Printf("AC %.2f, NMI %.2f\n", eval.AC(truth, found.Labels), eval.NMI(truth, found.Labels))

	// Save the factors and the model. factor.LoadModel reads the model.
	file, err := os.Create("model.npz")
	check(err)
	defer os.Remove("model.npz") // test only
	check(fit.Save(file))
	check(file.Close())
	// Output:
	// 144 images, 256 features, 200 iterations
	// AC 1.00, NMI 1.00
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
