package factor

import (
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
)

// keptData is dense data that is laid out once for the products with factors, in either
// order of which it holds a copy, once one is asked for.
type keptData struct {
	denseData
	basis, coefficients func() *blas.Kept[float64]
}

// mostKept is how many numbers a matrix has at most that is laid out once. Of larger ones it
// takes less to lay out a part anew, while it is in the cache, than to hold it twice.
const mostKept = 1 << 21

// kept says whether an n×m matrix is laid out once.
func kept(n, m int) bool { return n <= mostKept/m }

func newKeptData(d denseData) keptData {
	x := raw(d.x)
	return keptData{d, laidOut(x, trans), laidOut(x, noTrans)}
}

// laidOut returns what lays out op(x) when it is called first.
func laidOut[T blas.Number](x blas.Of[T], t blas.Transpose) func() *blas.Kept[T] {
	return sync.OnceValue(func() *blas.Kept[T] { return blas.Keep(t, x) })
}

func (d keptData) timesBasis(dst, u *mat.Dense) { timesKept(dst, u, d.basis()) }

func (d keptData) timesCoefficients(dst, v *mat.Dense) { timesKept(dst, v, d.coefficients()) }

// timesKept writes a·b to dst.
func timesKept(dst, a *mat.Dense, b *blas.Kept[float64]) {
	b.Multiply(noTrans, raw(a), raw(dst))
}
