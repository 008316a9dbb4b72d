package factor

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/lasso"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// SparseCoding learns a dictionary B of atoms and codes V of which most are 0
// (Lee, Battle, Raina and Ng 2006):
//
//	min ‖X − BVᵀ‖² + λ·Σ|v_ij|, ‖b_j‖ ≤ 1
//
// Each iteration moves V to its minimum and then each atom in turn to its own.
// The data may have any sign. The atoms start as samples drawn by the seed,
// brought to unit length, as [Options].Init says otherwise, or as
// [Start].Basis, of any sign, which is shortened to unit length where it is
// longer; the codes start at 0. On exit the samples are coded once more with the
// last dictionary, unless KeepScale says not to.
type SparseCoding struct {
	// Lambda is the weight λ; 0 means 0.1, WeightNone means 0. It is to be seen
	// against the length of the samples: of those of unit length, one whose
	// cosine with every atom is λ/2 or less is coded by zeros.
	Lambda float64 `setting:"lambda" default:"0.1" help:"weight λ of the codes' size"`
}

// Needs says what the method needs.
func (SparseCoding) Needs() Needs { return Needs{Signed: true} }

// Memory returns about how many bytes the method takes.
func (SparseCoding) Memory(s Size) int64 { return Parts{}.Memory(s) }

// Fit implements [Method].
func (s SparseCoding) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	lambda := orDefault(s.Lambda, 0.1)
	if err := view.CheckWeight("lambda", lambda); err != nil {
		return nil, err
	}
	d, err := newOwnRuleData(x, known, opt)
	if err != nil {
		return nil, err
	}
	n, _ := d.Dims()
	b, err := initialDictionary(ctx, x, d, opt)
	if err != nil {
		return nil, err
	}
	codes := mat.NewDense(n, opt.Rank, nil)
	size := view.SumSquares(d)
	last, penalty := size, []float64{0}
	keptCodes, keptAtoms := algebra.Like(codes), algebra.Like(b)
	history, stop, err := descend(ctx, opt, size, func(bool) (float64, error) {
		keptCodes.Copy(codes)
		keptAtoms.Copy(b)
		if err := encode(ctx, d, b, lambda, codes); err != nil {
			return 0, err
		}
		v := algebra.Transpose(codes)
		stepAtoms(d, b, v)
		share := lambda * sumAbs(codes)
		if now := d.Residual(b, v) + share; now <= last*(1+1e-12)+1e-13*size {
			last, penalty = now, append(penalty, share)
			return now, nil
		}
		// Atoms that nearly depend on each other have lost the digits: nothing moves.
		codes.Copy(keptCodes)
		b.Copy(keptAtoms)
		penalty = append(penalty, penalty[len(penalty)-1])
		return last, nil
	})
	if err != nil {
		return nil, err
	}
	model := &SparseCode{Dictionary: algebra.Transpose(b), Lambda: lambda}
	if !opt.KeepScale {
		if codes, err = model.Transform(ctx, x); err != nil {
			return nil, err
		}
	}
	return &Result{Basis: model.Dictionary, Model: model, Coefficients: codes, Objective: history, Penalty: penalty, Stop: stop}, nil
}

// sumAbs returns Σ|a_ij|.
func sumAbs(a *mat.Dense) (sum float64) {
	n, _ := a.Dims()
	for i := range n {
		for _, x := range a.RawRowView(i) {
			sum += math.Abs(x)
		}
	}
	return sum
}

// initialDictionary returns the atoms at the start, transposed: k×m.
func initialDictionary(ctx context.Context, x mat.Matrix, d view.Data, opt Options) (*mat.Dense, error) {
	n, m := d.Dims()
	if opt.Start != nil && opt.Start.Basis != nil {
		given := opt.Start.Basis
		if r, c := given.Dims(); r != m || c != opt.Rank {
			return nil, fmt.Errorf("the initial atoms are %d×%d, want %d×%d", r, c, m, opt.Rank)
		}
		for i := range m {
			for j, x := range given.RawRowView(i) {
				if !(math.Abs(x) <= view.LargestValue) {
					return nil, fmt.Errorf("the initial atoms hold %v at row %d, column %d", x, i+1, j+1)
				}
			}
		}
		b := algebra.Transpose(given)
		for r := range opt.Rank {
			shorten(b.RawRowView(r))
		}
		return b, nil
	}
	if opt.Init != InitRandom && opt.Init != "" {
		none, err := newCondensation(n, TieNone, nil, nil, CostFrobenius)
		if err != nil {
			return nil, err
		}
		opt.Start = nil
		first, err := Parts{}.initial(ctx, x, d, none, opt)
		if err != nil {
			return nil, err
		}
		algebra.DivideRows(first.u, algebra.Lengths(first.u))
		return first.u, nil
	}
	atom := make([]int, n) // that a sample becomes, or -1
	for at, i := range rng.New(opt.Seed, "dictionary").Perm(n) {
		if atom[i] = at; at >= opt.Rank {
			atom[i] = -1
		}
	}
	b := mat.NewDense(opt.Rank, m, nil)
	d.Each(func(i, j int, x float64) {
		if atom[i] >= 0 {
			b.Set(atom[i], j, x)
		}
	})
	algebra.DivideRows(b, algebra.Lengths(b))
	return b, nil
}

// stepAtoms moves each atom, a row of b, to its minimum while the others and
// the codes v, k×n, are held: with A = VᵀV and C = XV it is b_j + (c_j − B·a_j)/a_jj,
// shortened to unit length where it is longer. Atoms that no code uses stay.
func stepAtoms(x view.Data, b, v *mat.Dense) {
	k, m := b.Dims()
	a, c := algebra.SelfGram(v), algebra.Like(b)
	x.TimesCoefficients(c, v)
	rest := make([]float64, m)
	for j := range k {
		weights := a.RawRowView(j)
		if weights[j] < algebra.Floor*algebra.Floor {
			continue
		}
		copy(rest, c.RawRowView(j))
		for i, w := range weights {
			algebra.Axpy(-w, b.RawRowView(i), rest)
		}
		atom := b.RawRowView(j)
		algebra.Axpy(1/weights[j], rest, atom)
		shorten(atom)
	}
}

// shorten brings x to unit length if it is longer.
func shorten(x []float64) {
	if length := elementary.Norm(x); length > 1 {
		for i := range x {
			x[i] /= length
		}
	}
}

// SparseCode is a [Model] that represents a sample x by the s that is
// argmin ‖x − B·s‖² + λ·Σ|s_j|.
type SparseCode struct {
	// Dictionary holds the k atoms as columns: B, m×k.
	Dictionary *mat.Dense
	// Lambda is λ itself: 0 means 0.
	Lambda float64
}

// Vectors implements [Model]: the dictionary.
func (s *SparseCode) Vectors() *mat.Dense { return s.Dictionary }

// Transform implements [Model]. Where several s are minima, which can be when
// atoms depend on each other, it is one of them.
func (s *SparseCode) Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	d, err := view.New(x)
	if err != nil {
		return nil, err
	}
	p, features := d.Dims()
	rows, k := s.Dictionary.Dims()
	if features != rows {
		return nil, fmt.Errorf("the samples have %d features, the atoms %d", features, rows)
	}
	if err := view.CheckWeight("lambda", s.Lambda); err != nil {
		return nil, err
	}
	codes := mat.NewDense(p, k, nil)
	if err := encode(ctx, d, algebra.Transpose(s.Dictionary), s.Lambda, codes); err != nil {
		return nil, err
	}
	if !algebra.Finite(codes) {
		return nil, errors.New("the codes have outgrown what numbers can hold")
	}
	return codes, nil
}

// encode moves the codes of the samples, n×k, to their minima for the
// dictionary, transposed: k×m.
func encode(ctx context.Context, x view.Data, dictionary *mat.Dense, lambda float64, codes *mat.Dense) error {
	n, k := codes.Dims()
	products := mat.NewDense(k, n, nil)
	x.TimesBasis(products, dictionary)
	products = algebra.Transpose(products) // XᵀB
	l := lasso.New(dictionary, lambda)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.Solve(codes.RawRowView(i), products.RawRowView(i))
	}
	return nil
}
