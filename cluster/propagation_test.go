package cluster

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestPropagationOfKMeans checks that k-means on whitened and propagated features finds the clusters of
// PropagatedKMeans.
func TestPropagationOfKMeans(t *testing.T) {
	x, _ := parallelRings(4, 12)
	y, _, err := Propagation{DefaultRidge, DefaultShare, 4}.Fit(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := KMeans{K: 4, Distance: DistanceCosine, Init: InitPlusPlus, Seed: 3}.Fit(t.Context(), y)
	if err != nil {
		t.Fatal(err)
	}
	want, err := PropagatedKMeans{}.Cluster(t.Context(), x, 4, Known{}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Labels, want.Labels) {
		t.Errorf("got\n%v, want\n%v", got.Labels, want.Labels)
	}
}

// TestPropagationOfNewSamples checks, for more and for fewer samples than features, that a training sample gets its
// row, that a sample nearby gets nearly this row, and that features that are not whitened stay non-negative.
func TestPropagationOfNewSamples(t *testing.T) {
	const columns = 41 // rows without padding
	for _, n := range []int{30, 100} {
		for _, by := range []Propagation{{Ridge: 3}, {Share: 0.9}, {Ridge: 1, Share: 0.8, Clusters: 4}} {
			src := rand.New(rand.NewPCG(1, 2))
			x, near := mat.NewDense(n, columns, nil), mat.NewDense(n, columns, nil)
			for i := range n {
				for j := range columns {
					v := 2 * src.Float64()
					if j%4 == i%4 {
						v += 5
					}
					x.Set(i, j, v)
					near.Set(i, j, 3*v+0.01*src.Float64())
				}
			}
			y, made, err := by.Fit(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			rows, found := y.Dims()
			if want := by.Columns(n, columns); rows != n || found != want {
				t.Fatalf("%+v: got %d×%d features, want %d×%d", by, rows, found, n, want)
			}
			if by.Ridge == 0 && mat.Min(y) < 0 {
				t.Errorf("%+v: the smallest value is %v", by, mat.Min(y))
			}
			for _, c := range []struct {
				x    *mat.Dense
				most float64
			}{{x, 1e-9}, {near, 0.05}} {
				z, err := made.Transform(t.Context(), c.x)
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					if cosine := mat.Dot(y.RowView(i), z.RowView(i)); 1-cosine > c.most {
						t.Fatalf("%+v, %d samples: row %d has a cosine of %v, want 1", by, n, i, cosine)
					}
				}
			}
			if _, err := made.Transform(t.Context(), mat.NewDense(1, 3, nil)); err == nil {
				t.Error("new samples with other columns: no error")
			}
		}
	}
}
