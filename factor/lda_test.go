package factor

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Two classes that overlap along either feature are parted along one direction,
// onto which a new sample is projected as well.
func ExampleLDA() {
	x := mat.NewDense(6, 2, []float64{
		1, 2,
		2, 3,
		3, 4.5,
		2, 1,
		3, 2,
		4, 3.5,
	})
	res, err := LDA{Variance: 1}.Fit(context.Background(), x, Known{Labels: []int{0, 0, 0, 1, 1, 1}}, Options{Rank: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", res.Coefficients.RawMatrix().Data)
	one, err := res.Model.Transform(context.Background(), mat.NewDense(1, 2, []float64{2, 3.5}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", one.At(0, 0))
	// Output:
	// [-4.23 -3.33 -4.16 3.59 4.48 3.65]
	// -5.06
}
