package cluster_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

var update = flag.Bool("update", false, "write the digests of TestSameBytes")

// TestSameBytes: every processor finds the clusters of every algorithm that testdata/digests.json names.
func TestSameBytes(t *testing.T) {
	const n, m, k = 120, 37, 4
	src := rand.New(rand.NewPCG(1, 6))
	x := mat.NewDense(n, m, nil)
	x.Apply(func(i, j int, _ float64) float64 {
		v := src.Float64()
		if i%k == j%k {
			v += 0.4
		}
		return v
	}, x)
	labels := make([]int, n)
	for i := range labels {
		if labels[i] = -1; i < n/4 {
			labels[i] = i % k
		}
	}
	got := map[string]string{}
	for _, info := range cluster.Algorithms() {
		if info.Name == "guided-kmeans" {
			continue // gonum's optimizer of its logistic regression sums in another order on arm64
		}
		res, err := info.Fit(t.Context(), cluster.KMeans{K: k, Seed: 1}, x, cluster.Known{Labels: labels})
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		got[info.Name] = testkit.Digest(res)
	}
	testkit.SameDigests(t, "testdata/digests.json", got, *update)
}
