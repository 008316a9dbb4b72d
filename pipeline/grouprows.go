package pipeline

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// clusterMemory returns about how many bytes a clustering takes.
func clusterMemory(c Cluster, s cluster.Size) float64 {
	if c.By == Largest {
		return 8 * float64(s.N)
	}
	by, _ := cluster.Lookup(cmp.Or(c.By, KMeans))
	return float64(by.Memory(s))
}

// newClusterer returns the algorithm with the settings that it follows. Tests replace it.
var newClusterer = func(c Cluster) (cluster.Clusterer, error) {
	by, _ := cluster.Lookup(cmp.Or(c.By, KMeans))
	params := settings.Encode(c)
	maps.DeleteFunc(params, func(name string, _ any) bool {
		return !slices.ContainsFunc(by.Settings(), func(s settings.Setting) bool { return s.Name == name })
	})
	return by.New(params)
}

// clusterRows puts the rows of x, of which this is known, into k clusters.
func clusterRows(ctx context.Context, c Cluster, x mat.Matrix, k int, known cluster.Known, seed uint64) ([]int, error) {
	if c.By == Largest {
		n, r := x.Dims()
		out, row := make([]int, n), make([]float64, r)
		for i := range n {
			out[i] = largest(mat.Row(row, i, x))
		}
		return out, nil
	}
	by, err := newClusterer(c)
	if err != nil {
		return nil, err
	}
	res, err := by.Cluster(ctx, x, k, known, seed)
	if err != nil {
		return nil, err
	}
	return res.Labels, nil
}

// largest returns the place of the largest value, the first of several.
func largest(row []float64) (at int) {
	for j, v := range row {
		if v > row[at] {
			at = j
		}
	}
	return at
}
