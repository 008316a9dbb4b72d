package eval

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

// defaultNeighbours is the number of neighbours in the papers.
const defaultNeighbours = 10

// KNN is the k-nearest-neighbours classifier.
type KNN struct {
	// K is the number of neighbours; 0 means 10. If there are fewer training samples, all of them vote.
	K        int
	Distance cluster.Distance // Euclidean by default
}

// Classify returns, for each row of test, t×m, the most frequent label among the K nearest rows of train, n×m. Ties go
// to the label with the nearest sample; equal distances are ordered by row. Labels must be ≥ 0 and values finite.
// Matrices other than *mat.Dense and *sparse.CSR are copied.
func (k KNN) Classify(ctx context.Context, train mat.Matrix, labels []int, test mat.Matrix) (_ []int, err error) {
	defer guard.Catch(&err)
	n, _ := train.Dims()
	guard.FailIf(len(labels) != n, "k-nn: %d labels for %d training samples", len(labels), n)
	for i, l := range labels {
		guard.FailIf(l < 0, "k-nn: training sample %d has no label", i+1)
	}
	guard.FailIf(k.K < 0, "k-nn: %d neighbours; expected 1 or more", k.K)
	nearest, err := cluster.Nearest(ctx, k.Distance, test, train, min(cmp.Or(k.K, defaultNeighbours), n))
	guard.Check(guard.Wrap(err, "k-nn"))
	predicted := make([]int, len(nearest))
	votes := map[int]int{}
	for i, rows := range nearest {
		clear(votes)
		for _, r := range rows {
			votes[labels[r]]++
		}
		most := 0
		for _, r := range rows {
			if l := labels[r]; votes[l] > most {
				predicted[i], most = l, votes[l]
			}
		}
	}
	return predicted, nil
}
