package eigen

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// System is a symmetric matrix of which all eigenvalues are known, and any leading
// eigenvectors are found when they are asked for. Nothing changes it: several goroutines may
// ask at once.
type System struct {
	values []float64 // falling
	t      *tridiagonal
	whole  *joined
	order  []int // of the values of whole
}

// Memory returns about how many bytes c eigenvectors of an n×n matrix take beside it.
func Memory(n, c int) float64 {
	return 8 * float64(n) * float64(3*n+2*c+11*panel)
}

// Decompose finds the n eigenvalues of a, to some 1e-15 of its norm, in some 4n³/3 to 8n³/3
// operations. A value that is not finite is an error. It returns soon after ctx ends. The
// bytes do not depend on the number of cores.
func Decompose(ctx context.Context, a *mat.SymDense) (*System, error) {
	return decompose(ctx, a, 1)
}

// decompose is Decompose of sign·a.
func decompose(ctx context.Context, a *mat.SymDense, sign float64) (*System, error) {
	n := a.SymmetricDim()
	work, scale, err := scaled(a, sign)
	if err != nil {
		return nil, err
	}
	s := &System{}
	if s.t, err = reduce(ctx, work); err != nil {
		return nil, err
	}
	if s.whole, err = divide(ctx, slices.Clone(s.t.d), s.t.e, mat.NewDense(n, n, nil)); err != nil {
		return nil, err
	}
	s.order = make([]int, n)
	for i := range s.order {
		s.order[i] = i
	}
	slices.SortFunc(s.order, func(i, j int) int {
		return cmp.Or(cmp.Compare(s.whole.values[j], s.whole.values[i]), j-i)
	})
	s.values = make([]float64, n)
	for p, i := range s.order {
		s.values[p] = s.whole.values[i]
	}
	return s, rescale(s.values, scale)
}

// Values returns the eigenvalues, falling, which are not to be changed.
func (s *System) Values() []float64 { return s.values }

// Len returns n.
func (s *System) Len() int { return s.t.n }

// BlockSize is how many eigenvectors are found at a time.
const BlockSize = 128

// Block returns orthonormal eigenvectors of block b of the eigenvalues, those from b·BlockSize
// on, as rows of n, in some 4n² to 6n² operations for each. A block that is not there is an
// error.
func (s *System) Block(ctx context.Context, b int) (*mat.Dense, error) {
	n, from := s.t.n, b*BlockSize
	if from < 0 || from >= n {
		return nil, fmt.Errorf("block %d of %d eigenvectors", b, n)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	z := s.whole.vectors(s.order[from:min(from+BlockSize, n)])
	rows, _ := z.Dims()
	return z, s.t.rotate(ctx, rows, z.RawMatrix().Data)
}

// Leading returns orthonormal eigenvectors of the c largest eigenvalues as the columns of v,
// n×c, in some 4n²c to 6n²c operations. Column i does not depend on c. A c that is not within 1
// and n is an error.
func (s *System) Leading(ctx context.Context, c int) (v *mat.Dense, err error) {
	n := s.t.n
	if c < 1 || c > n {
		return nil, fmt.Errorf("%d eigenvectors of %d", c, n)
	}
	v = mat.NewDense(n, c, nil)
	raw := v.RawMatrix()
	for b := range parallel.Count(c, BlockSize) {
		z, err := s.Block(ctx, b)
		if err != nil {
			return nil, err
		}
		for p := range min(BlockSize, c-b*BlockSize) {
			at := b*BlockSize + p
			for i, x := range z.RawRowView(p) {
				raw.Data[i*c+at] = x
			}
		}
	}
	return v, nil
}
