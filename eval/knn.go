package eval

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
)

// defaultNeighbours is the papers' number of neighbours.
const defaultNeighbours = 10

// KNN classifies samples by their nearest training samples.
type KNN struct {
	// K is how many of them vote; 0 means 10. Where there are fewer training
	// samples, all of them do.
	K int
	// Distance says which are nearest.
	Distance cluster.Distance
}

// Classify returns for each row of test, t×m, the commonest label among the K
// nearest rows of train, n×m, whose labels are given. A tie goes to the label
// whose nearest sample is the nearest, and of samples at the same distance the
// lower row is the nearer. Both matrices are dense or a *sparse.CSR; others are
// copied. A training sample without a label, or a value that is not finite, is
// an error.
func (k KNN) Classify(ctx context.Context, train mat.Matrix, labels []int, test mat.Matrix) ([]int, error) {
	n, _ := train.Dims()
	if len(labels) != n {
		return nil, fmt.Errorf("k-nn: %d labels of %d training samples", len(labels), n)
	}
	for i, l := range labels {
		if l < 0 {
			return nil, fmt.Errorf("k-nn: training sample %d has no label", i+1)
		}
	}
	if k.K < 0 {
		return nil, fmt.Errorf("k-nn: %d neighbours", k.K)
	}
	voters := k.K
	if voters == 0 {
		voters = defaultNeighbours
	}
	nearest, err := cluster.Nearest(ctx, k.Distance, test, train, min(voters, n))
	if err != nil {
		return nil, fmt.Errorf("k-nn: %w", err)
	}
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
