package cluster

import (
	"cmp"
	"context"
	"errors"
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
				// One column has two directions only: despite rounding, equal distances must stay equal.
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
					t.Fatalf("trial %d, %s, %v, row %d: got %v, want %v", trial, name, d, i, got[i], want[i])
				}
			}
		}
	}
}

// TestNearestFarFromOrigin hides the nearest points in a panel whose products are rounded far more coarsely than the
// last panel's.
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
		t.Errorf("got %v, want %v", got[0], want)
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
		{DistanceEuclidean, x, y, 0, "nearest points: 0 neighbours requested of 4 points"},
		{DistanceEuclidean, x, y, 5, "5 neighbours requested of 4"},
		{DistanceEuclidean, x, mat.NewDense(4, 3, nil), 1, "samples have 2 columns, but points have 3"},
		{DistanceEuclidean, bad, y, 1, "samples: row 2: value NaN is not finite"},
		{DistanceCosine, x, bad, 1, "points: row 2: value NaN is not finite"},
		{-1, x, y, 1, "unknown distance"},
	} {
		_, err := Nearest(context.Background(), test.d, test.x, test.points, test.k)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Nearest(ctx, DistanceEuclidean, x, y, 1); err != context.Canceled {
		t.Errorf("got error %v, want the error of the context", err)
	}
}

func ExampleNearest() {
	words := mat.NewDense(3, 2, []float64{0, 0, 1, 0, 5, 5})
	patches := mat.NewDense(2, 2, []float64{0.9, 0.2, 4, 4})
	nearest, err := Nearest(context.Background(), DistanceEuclidean, patches, words, 2)
	fmt.Println(nearest, err)
	// Output: [[1 0] [2 1]] <nil>
}

// TestMembershipsMatchPlain compares with distances that are computed one by one.
func TestMembershipsMatchPlain(t *testing.T) {
	random := rng.New(1, "memberships")
	for trial := range 40 {
		n, m, k := 2+random.IntN(120), 2+random.IntN(9), 1+random.IntN(8) // one column has two directions
		d := bothDistances[trial%2]
		x, _ := blobs(n, m, 3, 1, uint64(trial))
		if trial%5 == 0 {
			clear(x.RawRowView(0)) // a row of zeros
		}
		groups := make([]int, n)
		for i := range groups {
			groups[i] = random.IntN(min(k, n))
		}
		centres, sizes := mat.NewDense(k, m, nil), make([]float64, k)
		for i, g := range groups {
			length := 1.0
			if d == DistanceCosine {
				length = max(norm(x.RawRowView(i)), 1e-300)
			}
			for j, v := range x.RawRowView(i) {
				centres.Set(g, j, centres.At(g, j)+v/length)
			}
			sizes[g]++
		}
		for g, size := range sizes {
			for j := range m {
				centres.Set(g, j, centres.At(g, j)/max(size, 1))
			}
		}
		far := func(i, g int) float64 {
			cost := plainCost(d, x.RawRowView(i), centres.RawRowView(g))
			if d == DistanceEuclidean {
				return math.Sqrt(cost)
			}
			return cost
		}
		for name, x := range map[string]mat.Matrix{"dense": x, "sparse": toSparse(x)} {
			got, err := Memberships(t.Context(), d, x, groups)
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range groups {
				a, b := far(i, g), math.Inf(1)
				for other, size := range sizes {
					if other != g && size > 0 {
						b = min(b, far(i, other))
					}
				}
				want := 1.0
				if !math.IsInf(b, 1) {
					if want = 0; b > a {
						want = (b - a) / b
					}
				}
				is := got[i]
				if is.Group != g || math.Abs(is.Distance-a) > 1e-7 || math.Abs(is.Confidence-want) > 1e-6 || (is.Other < 0) != math.IsInf(b, 1) ||
					is.Other >= 0 && math.Abs(is.OtherDistance-b) > 1e-7 {
					t.Fatalf("trial %d, %s, %v, row %d in group %d: %+v; want distances %v and %v, confidence %v", trial, name, d, i, g, is, a, b, want)
				}
			}
		}
	}
}

// TestMembershipsOfNewRows checks that rows without a group join the group of the nearest centre, and that a group
// without samples gets no rows.
func TestMembershipsOfNewRows(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{1, 0, 3, 0, 0, 10, 0, 12})
	c, err := NewCentres(DistanceEuclidean, x, []int{0, 0, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Memberships(t.Context(), mat.NewDense(3, 2, []float64{2, 0, 0, 0, 0, 11}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Membership{{0, 0, 2, math.Sqrt(125), 1}, {0, 2, 2, 11, 9.0 / 11}, {2, 0, 0, math.Sqrt(125), 1}} {
		if got[i] != want {
			t.Errorf("row %d: got %+v, want %+v", i+1, got[i], want)
		}
	}
}

// TestMembershipsWithoutNumbers checks that nothing is NaN if all rows are equal, are zeros, or are in one group.
func TestMembershipsWithoutNumbers(t *testing.T) {
	for _, d := range bothDistances {
		for _, value := range []float64{0, 1} {
			x := mat.NewDense(4, 3, nil)
			x.Apply(func(int, int, float64) float64 { return value }, x)
			for _, c := range []struct {
				groups []int
				want   float64
			}{{[]int{0, 0, 1, 1}, 0}, {[]int{0, 0, 0, 0}, 1}} {
				got, err := Memberships(t.Context(), d, x, c.groups)
				if err != nil {
					t.Fatal(err)
				}
				for i, m := range got {
					if m.Confidence != c.want || math.IsNaN(m.Distance) || math.IsNaN(m.OtherDistance) {
						t.Errorf("%v, rows of %v, row %d: got %+v, want confidence %v", d, value, i+1, m, c.want)
					}
				}
			}
		}
	}
}

func TestMembershipsMistakes(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{1, 2})
	for want, groups := range map[string][]int{
		"2 samples, but groups has 1 entries":                          {0},
		"row 2 is in group -1; expected 0 to the number of samples, 2": {0, -1},
		"row 1 is in group 2; expected 0 to the number of samples, 2":  {2, 0},
	} {
		if _, err := Memberships(t.Context(), DistanceEuclidean, x, groups); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
	c, err := NewCentres(DistanceEuclidean, x, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Memberships(t.Context(), x, []int{0, 2}); err == nil || !strings.Contains(err.Error(), "row 2 is in group 2, which has no centre") {
		t.Errorf("error %v", err)
	}
	if _, err := c.Memberships(t.Context(), mat.NewDense(1, 2, []float64{1, 2}), nil); err == nil || !strings.Contains(err.Error(), "1×2 samples") {
		t.Errorf("error %v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Memberships(stopped, DistanceEuclidean, x, []int{0, 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the error of the context", err)
	}
}

// TestSpread checks the distances of samples from the centre of the other samples of their group.
func TestSpread(t *testing.T) {
	x := mat.NewDense(5, 2, []float64{0, 0, 3, 0, 0, 6, 50, 50, 9, 9})
	groups := []int{0, 0, 0, 1, 2}
	c, err := NewCentres(DistanceEuclidean, x, groups)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Spread(x, groups)
	if err != nil {
		t.Fatal(err)
	}
	far := []float64{math.Hypot(1.5, 3), math.Hypot(3, 3), math.Hypot(1.5, 6)}
	for level, want := range map[int]float64{0: far[0], 25: (far[0] + far[1]) / 2, 50: far[1], 100: far[2]} {
		for g := range 3 { // groups of one sample have what all have
			if math.Abs(got.At(g, level)-want) > 1e-12 {
				t.Errorf("group %d, level %d: got %v, want %v", g+1, level, got.At(g, level), want)
			}
		}
	}
	cosine, err := NewCentres(DistanceCosine, x, []int{0, 0, 0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if got, err = cosine.Spread(x, []int{0, 0, 0, 0, 0}); err != nil || got.At(0, 100) != 1 || got.At(0, 0) > 0.2 {
		t.Errorf("cosine: %v, %v; want 1 of the row of zeros", mat.Formatted(got), err)
	}
	alone, err := NewCentres(DistanceEuclidean, x, []int{0, 1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	if got, err = alone.Spread(x, []int{0, 1, 2, 3, 4}); err != nil || got.At(2, 0) != math.MaxFloat64 {
		t.Errorf("groups of one sample: %v, %v", got, err)
	}
	if _, err := alone.Spread(x, groups[:4]); err == nil {
		t.Error("groups with a wrong number of samples are accepted")
	}
}
