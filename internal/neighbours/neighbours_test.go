package neighbours

import (
	"reflect"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// blobs returns points in Gaussian clusters of different sizes.
func blobs(n, clusters, d int) Points {
	random := rng.New(1, "blobs")
	data, centres := make([]float32, n*d), make([]float64, clusters*d)
	for i := range centres {
		centres[i] = 3 * random.NormFloat64()
	}
	for i := range n {
		c := min(random.IntN(clusters), random.IntN(clusters))
		for j := range d {
			data[i*d+j] = float32(centres[c*d+j] + random.NormFloat64())
		}
	}
	return Points{n, d, func(dst []float32, i int) { copy(dst, data[i*d:(i+1)*d]) }}
}

func find(t *testing.T, p Points, k, probed int) ([]int32, [][]Neighbour) {
	t.Helper()
	order, near, err := Find(t.Context(), p, k, probed)
	if err != nil {
		t.Fatal(err)
	}
	if sorted := slices.Sorted(slices.Values(order)); len(sorted) != p.N || sorted[0] != 0 || sorted[p.N-1] != int32(p.N-1) {
		t.Fatalf("the order of %d points has %d", p.N, len(sorted))
	}
	return order, near
}

// TestExact checks the neighbours of few points.
func TestExact(t *testing.T) {
	values := []float32{0, 1, 3, 7, 7}
	p := Points{5, 1, func(dst []float32, i int) { dst[0] = values[i] }}
	want := [][]Neighbour{{{1, 1}, {2, 9}}, {{0, 1}, {2, 4}}, {{1, 4}, {0, 9}}, {{4, 0}, {2, 16}}, {{3, 0}, {2, 16}}}
	if _, near := find(t, p, 2, 1); !reflect.DeepEqual(near, want) {
		t.Errorf("got %v, want %v", near, want)
	}
}

// TestRecall checks that nearly all neighbours are found in cells, on any number of cores.
func TestRecall(t *testing.T) {
	p := blobs(exhaustive+1000, 60, 16)
	order, near := find(t, p, 10, 8)
	missed, all := 0, newSet(p, order, nil)
	all.measure(all.squares)
	for i := 0; i < p.N; i += 50 {
		one := newSet(p, order[i:i+1], nil)
		one.eachDistance(all, func(_ int, d []float32) {
			limit, nearer := 0.999*near[i][9].Square-all.squares[i], 0
			for j, v := range d {
				if j != i && v < limit {
					nearer++
				}
			}
			missed += max(0, nearer-9)
		})
	}
	if missed > p.N/50*10/20 {
		t.Errorf("%d of %d neighbours are missed", missed, p.N/50*10)
	}
	defer parallel.SetCores(1)()
	if _, other := find(t, p, 10, 8); !reflect.DeepEqual(other, near) {
		t.Error("other neighbours on one core")
	}
}

// TestEqualPoints checks that many equal points are searched in parts.
func TestEqualPoints(t *testing.T) {
	c, err := newCells(t.Context(), Points{5 * mostInCell, 1, func(dst []float32, i int) { dst[0] = 1 }}, 3)
	if err != nil || len(c.start) != 6 || len(c.near[4]) != 3 || c.near[4][0] != 4 {
		t.Fatalf("%d cells with neighbours %v: %v", len(c.start)-1, c.near, err)
	}
}
