package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

func TestNearestMatchesPlain(t *testing.T) {
	random := rng.New(1, "nearest")
	for trial := range 60 {
		n, p, m := 1+random.IntN(300), 1+random.IntN(600), 1+random.IntN(12)
		k := 1 + random.IntN(min(p, 15))
		d := bothDistances[trial%2]
		x, _ := blobs(n, m, 3, 1, uint64(trial))
		points, _ := blobs(p, m, 3, 1, uint64(1000+trial))
		if d == DistanceEuclidean && trial%4 == 0 {
			x, points = grid(random, n, m), grid(random, p, m)
		}
		want := make([][]int, n)
		for i := range want {
			costs := make([]float64, p)
			for j := range p {
				costs[j] = plainCost(d, x.RawRowView(i), points.RawRowView(j))
				// One column leaves two directions: rounding must not part ties.
				costs[j] = math.Round(costs[j]*(1<<44)) / (1 << 44)
				want[i] = append(want[i], j)
			}
			slices.SortStableFunc(want[i], func(a, b int) int { return cmp.Compare(costs[a], costs[b]) })
			want[i] = want[i][:k]
		}
		for name, xp := range map[string][2]mat.Matrix{
			"dense":  {x, points},
			"sparse": {toSparse(x), toSparse(points)},
			"mixed":  {x, toSparse(points)},
		} {
			got, err := Nearest(context.Background(), d, xp[0], xp[1], k)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Fatalf("trial %d, %s, %v, row %d: %v, want %v", trial, name, d, i, got[i], want[i])
				}
			}
		}
	}
}

// TestNearestFarFromOrigin hides the nearest points among some whose products
// are rounded far more coarsely than those of the last panel.
func TestNearestFarFromOrigin(t *testing.T) {
	points := mat.NewDense(2*panelRows, 2, nil)
	for i := range panelRows {
		points.SetRow(i, []float64{1e9 / 7, 1e9/3 + 0.37*float64(panelRows-i)})
		points.SetRow(panelRows+i, []float64{float64(i), 1})
	}
	x := mat.NewDense(1, 2, []float64{1e9 / 7, 1e9 / 3})
	got, err := Nearest(context.Background(), DistanceEuclidean, x, points, 3)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{panelRows - 1, panelRows - 2, panelRows - 3}; !slices.Equal(got[0], want) {
		t.Errorf("%v, want %v", got[0], want)
	}
}

func TestNearestErrors(t *testing.T) {
	x, y := mat.NewDense(3, 2, nil), mat.NewDense(4, 2, nil)
	bad := mat.NewDense(2, 2, []float64{0, 0, math.NaN(), 0})
	for _, test := range []struct {
		d         Distance
		x, points mat.Matrix
		k         int
		want      string
	}{
		{DistanceEuclidean, x, y, 0, "the 0 nearest of 4"},
		{DistanceEuclidean, x, y, 5, "the 5 nearest of 4"},
		{DistanceEuclidean, x, mat.NewDense(4, 3, nil), 1, "samples have 2 columns and points 3"},
		{DistanceEuclidean, bad, y, 1, "samples: row 2 holds the value NaN"},
		{DistanceCosine, x, bad, 1, "points: row 2 holds the value NaN"},
		{-1, x, y, 1, "there is no distance"},
	} {
		_, err := Nearest(context.Background(), test.d, test.x, test.points, test.k)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Nearest(ctx, DistanceEuclidean, x, y, 1); err != context.Canceled {
		t.Errorf("error %v, want that of the context", err)
	}
}

func ExampleNearest() {
	words := mat.NewDense(3, 2, []float64{0, 0, 1, 0, 5, 5})
	patches := mat.NewDense(2, 2, []float64{0.9, 0.2, 4, 4})
	nearest, err := Nearest(context.Background(), DistanceEuclidean, patches, words, 2)
	fmt.Println(nearest, err)
	// Output: [[1 0] [2 1]] <nil>
}
