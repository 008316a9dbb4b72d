package datasets_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
)

func ExampleOpen() {
	set, err := datasets.Open(context.Background(), "generated", datasets.OpenOptions{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	n, m := set.Vectors.Dims()
	fmt.Printf("%s: %d vectors of %d values in %d classes, the first a %s\n",
		set.Name, n, m, len(set.Classes), set.Classes[set.Labels[0]])

	_, err = datasets.Open(context.Background(), "minst", datasets.OpenOptions{})
	fmt.Println(err)
	// Output:
	// generated: 720 vectors of 1024 values in 20 classes, the first a aeroplane
	// no known set, file or folder is called "minst"; did you mean mnist? ("partwise datasets" lists the known sets)
}

func ExampleSet_Content() {
	set := &datasets.Set{Names: []string{"a", "b"}, Classes: []string{"round", "flat"}, Labels: []int{0, -1},
		Vectors: vectorfile.NewBytes(2, 3, []uint8{1, 2, 3, 4, 5, 6})}
	if err := vectorfile.WriteTo(context.Background(), os.Stdout, "set.csv", set.Content()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// name,class,x1,x2,x3
	// a,round,1,2,3
	// b,,4,5,6
}
