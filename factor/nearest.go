package factor

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Nearest returns for each row of x, n×m, dense or sparse, the p other rows at the least
// Euclidean distance, all others where there are fewer, and these distances, rising. Of rows
// at one distance those before come first. It takes n²·m multiplications. A row of zeros is an error.
func Nearest(ctx context.Context, x mat.Matrix, p int) (rows [][]int, distances [][]float64, err error) {
	if p < 1 {
		return nil, nil, fmt.Errorf("factor: the nearest %d rows; want 1 or more", p)
	}
	d, err := newData(x)
	if err != nil {
		return nil, nil, err
	}
	n, _ := x.Dims()
	found := neighbours{x: d, n: n, p: min(p, n-1)}
	if err := found.find(ctx); err != nil {
		return nil, nil, err
	}
	rows, distances = make([][]int, n), make([][]float64, n)
	for i, nearest := range found.nearest {
		for _, q := range nearest {
			rows[i], distances[i] = append(rows[i], q.j), append(distances[i], math.Sqrt(max(q.d, 0)))
		}
	}
	return rows, distances, nil
}
