package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// A Penalty adds to the cost a term in the coefficients V. The zero value of
// each is what its paper uses.
type Penalty interface {
	// bind makes the penalty ready for the n samples of x.
	bind(ctx context.Context, x data, known Known) (boundPenalty, error)
}

// A boundPenalty is a penalty on the coefficients v, k×n, of certain samples.
// It is not told of ties: v is expanded for it and what it adds is pulled back.
type boundPenalty interface {
	// add adds share times the two parts of half the gradient at v.
	add(t *terms, v *mat.Dense, share float64)
	// root tells whether v must move by the square root of its ratio for the
	// objective not to rise. With the divergence, which is of another degree in
	// v than a penalty of squares, it always does.
	root() bool
	// value is the penalty at v.
	value(v *mat.Dense) float64
}

// A learningPenalty has parameters of its own, which it moves once v has.
type learningPenalty interface {
	boundPenalty
	learn(ctx context.Context, v *mat.Dense) error
}

// None, as the value of a weight such as Graph.Lambda, means that the term is
// left out, where 0 means the paper's default.
const None = -1

// orDefault reads a weight: 0 stands for the default, None for 0.
func orDefault(x, def float64) float64 {
	switch x {
	case 0:
		return def
	case None:
		return 0
	}
	return x
}
