package eval

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
)

func TestKNN(t *testing.T) {
	train := mat.NewDense(6, 1, []float64{0, 1, 2, 10, 11, 30})
	labels := []int{0, 0, 1, 1, 1, 4}
	for _, test := range []struct {
		k    KNN
		test []float64
		want []int
	}{
		{KNN{K: 1}, []float64{0.1, 1.6, 9, 99}, []int{0, 1, 1, 4}},
		{KNN{K: 3}, []float64{0.1, 2.4, 12, 99}, []int{0, 0, 1, 1}},
		// Two votes for each class: the nearest of the tied samples decides.
		{KNN{K: 4}, []float64{1.4, 1.6}, []int{0, 1}},
		// At equal distances, the lower row counts as nearer.
		{KNN{K: 2}, []float64{1.5}, []int{0}},
		// All six vote.
		{KNN{}, []float64{0, 30}, []int{1, 1}},
		{KNN{K: 1, Distance: cluster.DistanceCosine}, []float64{5, -5}, []int{0, 0}},
	} {
		got, err := test.k.Classify(context.Background(), train, labels, mat.NewDense(len(test.test), 1, test.test))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v: labels (-want +got):\n%s", test.k, diff)
		}
	}
}

func TestKNNErrors(t *testing.T) {
	train := mat.NewDense(2, 1, []float64{0, 1})
	for _, test := range []struct {
		k      KNN
		labels []int
		test   *mat.Dense
		want   string
	}{
		{KNN{}, []int{0}, train, "k-nn: 1 labels for 2 training samples"},
		{KNN{}, []int{0, -1}, train, "training sample 2 has no label"},
		{KNN{K: -1}, []int{0, 1}, train, "-1 neighbours"},
		{KNN{}, []int{0, 1}, mat.NewDense(1, 2, nil), "2 columns"},
		{KNN{}, []int{0, 1}, mat.NewDense(1, 1, []float64{math.NaN()}), "row 1: value NaN is not finite"},
	} {
		_, err := test.k.Classify(context.Background(), train, test.labels, test.test)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "k-nn: ") {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
	}
}

func ExampleKNN() {
	train := mat.NewDense(4, 2, []float64{0, 0, 0, 1, 5, 5, 5, 6})
	test := mat.NewDense(2, 2, []float64{1, 1, 4, 4})
	predicted, err := KNN{K: 3}.Classify(context.Background(), train, []int{0, 0, 1, 1}, test)
	fmt.Println(predicted, err)
	fmt.Println(Accuracy([]int{0, 0}, predicted))
	// Output:
	// [0 1] <nil>
	// 0.5
}
