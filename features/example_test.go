package features_test

import (
	"context"
	"fmt"
	"image"
	"image/color"

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

// The descriptors of a white disc on black. They are zero where everything is black.
func ExampleDenseSIFT_Extract() {
	img := image.NewGray(image.Rect(0, 0, 64, 48))
	for y := range 48 {
		for x := range 64 {
			if (x-24)*(x-24)+(y-24)*(y-24) < 15*15 {
				img.SetGray(x, y, color.Gray{Y: 255})
			}
		}
	}
	patches, err := features.DenseSIFT{}.Extract(img)
	if err != nil {
		fmt.Println(err)
		return
	}
	flat := 0
	for i := range patches.Len() {
		var largest uint8
		for _, v := range patches.Vector(i) {
			largest = max(largest, v)
		}
		if largest == 0 {
			flat++
		}
	}
	fmt.Printf("%d patches of %d values, %d of them flat\n", patches.Len(), patches.Dim, flat)
	// Output: 35 patches of 128 values, 5 of them flat
}
