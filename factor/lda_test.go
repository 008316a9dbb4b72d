package factor

import (
	"context"
	"errors"
	"fmt"
	"testing"

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

// TestLDAByMeans: the class means alone lead to the directions that the scatters lead to.
func TestLDAByMeans(t *testing.T) {
	compared := 0
	for seed := range uint64(40) {
		p := classProblem(seed)
		d, err := newTraining(t.Context(), p.x, p.known, p.opt, twoClassesOnePair, true)
		if err != nil {
			t.Fatal(err)
		}
		a, y, err := d.reduced(t.Context(), 0.9, len(d.sizes))
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.byMeans(t.Context(), a.Sigma, y, len(d.sizes)-1)
		if errors.Is(err, errNearlySingular) {
			continue
		}
		want, plain := d.byScatters(t.Context(), y, len(d.sizes)-1)
		if err != nil || plain != nil {
			t.Fatal(err, plain)
		}
		sameUpToSigns(t, p.String(), got, want, 1e-9)
		compared++
	}
	if compared < 20 {
		t.Errorf("of 40 problems %d have scatter within classes in all directions", compared)
	}
}
