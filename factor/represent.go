package factor

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

const (
	// representRounds of up to mostSweeps sweeps of coordinate descent bring coefficients
	// to their minimum.
	representRounds = 20
	// representSteps multiplicative steps bring those of the divergence there.
	representSteps = 5 * TransformIterations
)

// Represent represents the rows of x, p×m, by p×k coefficients that are the best for the
// model, where Transform ends after steps that many experiments share. Under the Frobenius
// cost and with a kernel that is the least squares problem min ‖x − U·v‖², v ≥ 0 (coordinate
// descent: Cichocki and Phan 2009), under the divergence min D(x‖U·v), v ≥ 0 (multiplicative
// steps: Lee and Seung 2001). Other models find the best in Transform. Each sample's answer
// depends on nothing but the sample.
func Represent(ctx context.Context, m Model, x mat.Matrix) (*mat.Dense, error) {
	switch m := m.(type) {
	case *Additive:
		return m.represent(ctx, x, true)
	case *KernelModel:
		return m.represent(ctx, x, true)
	}
	return m.Transform(ctx, x)
}

// solveBest moves v, k×p, to the minimum of a quadratic block.
func solveBest(ctx context.Context, b Block, v *mat.Dense) error {
	for range representRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := minimiseRows(ctx, v, v, b.Linear, b.Quadratic, mostSweeps); err != nil {
			return err
		}
	}
	if !finite(v) {
		return errOutgrown
	}
	return nil
}

// Misfit returns ‖X − V·Uᵀ‖²/‖X‖² for samples x, p×m, and the coefficients v, p×k, that
// represent them, where the model has basis vectors U among the features; of a [Linear]
// model its mean is added. The same is 0 for samples of zeros.
func Misfit(ctx context.Context, m Model, x mat.Matrix, v *mat.Dense) (float64, error) {
	u := m.Vectors()
	if u == nil {
		return 0, errors.New("the model has no basis vectors among the features")
	}
	p, features := x.Dims()
	rows, k := u.Dims()
	if r, c := v.Dims(); r != p || c != k || features != rows {
		return 0, fmt.Errorf("%d×%d coefficients of %d×%d samples, for %d basis vectors of %d features", r, c, p, features, k, rows)
	}
	var mean []float64
	if l, ok := m.(*Linear); ok {
		mean = l.Mean
	}
	var off, whole float64
	const atOnce = 256
	row := make([]float64, features)
	near := mat.NewDense(min(atOnce, p), features, nil)
	for from := 0; from < p; from += atOnce {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		to := min(from+atOnce, p)
		part := near.Slice(0, to-from, 0, features).(*mat.Dense)
		gemm(part, v.Slice(from, to, 0, k).(*mat.Dense), noTrans, u, trans)
		for i := from; i < to; i++ {
			copyRow(row, x, i)
			by := part.RawRowView(i - from)
			for j, value := range row {
				if mean != nil {
					by[j] += mean[j]
				}
				off += (value - by[j]) * (value - by[j])
				whole += value * value
			}
		}
	}
	if whole == 0 {
		return 0, nil
	}
	return off / whole, nil
}
