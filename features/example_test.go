package features_test

import (
	"context"
	"fmt"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
)

// The grey values of the generated set, reduced to 16×16 pixels.
func ExampleExtract() {
	set := datasets.Generated(1)
	out, err := features.Extract(context.Background(), set, features.Pixels{Size: features.Size{Height: 16, Width: 16}}, features.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	n, m := out.X.Dims()
	fmt.Printf("%d samples of %d values, images of %d×%d\n", n, m, out.Height, out.Width)
	// Output: 720 samples of 256 values, images of 16×16
}
