package factor

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Linear is a [Model] that represents a sample by its projection.
type Linear struct {
	// Mean is what is taken from a sample before, m values.
	Mean []float64
	// Projection holds the d directions as columns, m×d.
	Projection *mat.Dense
}

// Vectors implements [Model]: the projection.
func (l *Linear) Vectors() *mat.Dense { return l.Projection }

// Transform implements [Model]: (x − mean)·Projection, p×d.
func (l *Linear) Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	d, err := newData(x)
	if err != nil {
		return nil, err
	}
	return l.project(ctx, d)
}

func (l *Linear) project(ctx context.Context, x data) (*mat.Dense, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, features := x.dims()
	rows, k := l.Projection.Dims()
	if features != rows || len(l.Mean) != rows {
		return nil, fmt.Errorf("the samples have %d features, the projection %d", features, rows)
	}
	projection := transpose(l.Projection)
	y := mat.NewDense(k, p, nil)
	x.timesBasis(y, projection)
	for r := range k {
		offset := dot(projection.RawRowView(r), l.Mean)
		row := y.RawRowView(r)
		for i := range row {
			row[i] -= offset
		}
	}
	if !finite(y) {
		return nil, errors.New("the projections have outgrown what numbers can hold")
	}
	return transpose(y), nil
}
