package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// LearnedGraph is a graph that is learned with the factors (Shu et al. 2019):
//
//	‖Q − W₀‖² + β·tr(FᵀL_QF) + λ·tr(VᵀL_QV)
//
// over Q, whose rows lie on the simplex with q_ii = 0, and over F, n×c with FᵀF = I. L_Q is the Laplacian of
// (Q + Qᵀ)/2; a small tr(FᵀL_QF) makes c parts. Every iteration takes c eigenvectors of an n×n matrix.
type LearnedGraph struct {
	// Lambda and Beta are λ and β; 0 means 1, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"1" help:"weight λ of the graph on the coefficients"`
	Beta   float64 `setting:"beta" default:"1" help:"weight β of the graph's own embedding"`
	// Parts is c; 0 means the rank.
	Parts int `setting:"parts" default:"rank" help:"c, how many parts the graph is drawn to have"`
	// Neighbourhood gives W₀: its graph with rows that sum to 1.
	Neighbourhood
	// Initial is W₀ itself, n×n, if it is set.
	Initial *mat.Dense
	// Rule says how Q moves.
	Rule GraphRule `setting:"rule" help:"exact minimises the objective, printed is the paper's eq. 17"`
}

// GraphRule says how the rows of a learned graph move.
type GraphRule int

const (
	// GraphRuleExact minimises the objective: q_i is the projection of w_i − (β/4)·d^F_i − (λ/4)·d^V_i, d being
	// squared distances of rows.
	GraphRuleExact GraphRule = iota
	// GraphRulePrinted is the paper's eq. 17, the projection of w_i − (β/2)·d^F_i: the objective can rise.
	GraphRulePrinted
)

var graphRuleNames = enum.Of[GraphRule]("rule", "exact", "printed")

func (r GraphRule) String() string                   { return graphRuleNames.String(r) }
func (r *GraphRule) UnmarshalText(name []byte) error { return graphRuleNames.UnmarshalText(r, name) }
func (g GraphRule) MarshalText() ([]byte, error)     { return graphRuleNames.MarshalText(g) }
func (GraphRule) Values() []string                   { return graphRuleNames.Values() }
func (LearnedGraph) OnBasis() bool                   { return false }

func (g LearnedGraph) Memory(s Size) int64 {
	n := float64(s.Samples)
	return view.Bytes(s.graph(g.Neighbourhood) + 80*n*n + eigen.Memory(s.Samples, cmp.Or(g.Parts, s.Rank)))
}

func (g LearnedGraph) Bind(ctx context.Context, p Problem) (BoundPenalty, error) {
	n, _ := p.data.Dims()
	b := &boundLearnedGraph{lambda: orDefault(g.Lambda, 1), beta: orDefault(g.Beta, 1), parts: cmp.Or(g.Parts, p.Rank), rule: g.Rule}
	if err := cmp.Or(named(g.Rule), view.CheckWeight("lambda", b.lambda), view.CheckWeight("beta", b.beta)); err != nil {
		return nil, err
	}
	if b.parts < 1 || b.parts > n {
		return nil, fmt.Errorf("a learned graph of %d parts and %d samples", b.parts, n)
	}
	// Q, W₀, S, L, the next of each but W₀, and distances.
	if err := view.CheckMemory(ctx, fmt.Sprintf("the learned graph of %d samples", n), 9, n, n); err != nil {
		return nil, err
	}
	if b.initial = g.Initial; b.initial == nil {
		s, err := g.Neighbourhood.graph(ctx, p.data)
		if err != nil {
			return nil, err
		}
		b.initial = mat.NewDense(n, n, nil)
		for i := range n {
			cols, vals := s.Row(i)
			sum := elementary.Sum(vals)
			for p, j := range cols {
				if sum > 0 {
					b.initial.Set(i, j, vals[p]/sum)
				}
			}
		}
	} else if r, c := b.initial.Dims(); r != n || c != n || !algebra.Finite(b.initial) || mat.Min(b.initial) < 0 {
		return nil, fmt.Errorf("the initial graph is %d×%d, or holds values that no weights are, for %d samples", r, c, n)
	}
	// Rows that are not on the simplex are brought to the nearest point of it.
	b.q = mat.DenseCopyOf(b.initial)
	for i := range n {
		row := b.q.RawRowView(i)
		if row[i] != 0 || math.Abs(elementary.Sum(row)-1) > 1e-9 {
			projectOthers(row, i)
		}
	}
	b.s, b.degree = symmetricPart(b.q)
	var err error
	b.f, err = b.embed(ctx)
	return b, err
}

// projectOthers brings all of a row but its own place i, which becomes 0, to the nearest point of the simplex.
func projectOthers(row []float64, i int) {
	others := slices.Delete(slices.Clone(row), i, i+1)
	projectSimplex(others, others)
	copy(row[:i], others[:i])
	row[i] = 0
	copy(row[i+1:], others[i:])
}

type boundLearnedGraph struct {
	lambda, beta float64
	parts        int
	rule         GraphRule
	initial, q   *mat.Dense
	s            *mat.Dense // (Q + Qᵀ)/2
	degree       []float64
	f            *mat.Dense // c×n
}

func (b *boundLearnedGraph) Root(c Cost) bool { return !c.Quadratic() }

func (b *boundLearnedGraph) Diagonal(dst []float64, scale float64) {
	algebra.Axpy(scale*b.lambda, b.degree, dst)
}

func symmetricPart(q *mat.Dense) (s *mat.Dense, degree []float64) {
	n, _ := q.Dims()
	s, degree = mat.NewDense(n, n, nil), make([]float64, n)
	s.Apply(func(i, j int, x float64) float64 { return (x + q.At(j, i)) / 2 }, q)
	for i := range n {
		degree[i] = elementary.Sum(s.RawRowView(i))
	}
	return s, degree
}

// embed returns the eigenvectors of the smallest eigenvalues of L_Q, c×n.
func (b *boundLearnedGraph) embed(ctx context.Context) (*mat.Dense, error) {
	n, _ := b.s.Dims()
	l := mat.NewDense(n, n, nil)
	l.Scale(-1, b.s)
	for i, d := range b.degree {
		l.Set(i, i, d+l.At(i, i))
	}
	_, vectors, err := eigen.Smallest(ctx, mat.NewSymDense(n, l.RawMatrix().Data), b.parts)
	if err != nil {
		return nil, fmt.Errorf("the embedding of the learned graph: %w", err)
	}
	return mat.DenseCopyOf(vectors.T()), nil
}

// Learn moves F, then Q, each to its minimum. Under the exact rule a move that raises the objective is not made:
// with a large β or λ the rounding of an eigenvalue or distance of 0 counts more than the move gains.
func (b *boundLearnedGraph) Learn(ctx context.Context, v *mat.Dense) error {
	f, err := b.embed(ctx)
	if err != nil {
		return err
	}
	n, _ := b.q.Dims()
	df := squaredDistances(f)
	if b.rule == GraphRuleExact {
		if before := squaredDistances(b.f); algebra.Inner(b.s, before) < algebra.Inner(b.s, df) {
			f, df = b.f, before
		}
	}
	b.f = f
	dv, toF, toV := mat.NewDense(n, n, nil), b.beta/2, 0.0
	if b.rule == GraphRuleExact {
		dv, toF, toV = squaredDistances(v), b.beta/4, b.lambda/4
	}
	q := mat.NewDense(n, n, nil)
	for i := range n {
		row, initial, ofF, ofV := q.RawRowView(i), b.initial.RawRowView(i), df.RawRowView(i), dv.RawRowView(i)
		for j, w := range initial {
			row[j] = w - toF*ofF[j] - toV*ofV[j]
		}
		projectOthers(row, i)
	}
	s, degree := symmetricPart(q)
	if b.rule == GraphRuleExact && b.objective(b.q, b.s, df, dv) < b.objective(q, s, df, dv) {
		return nil
	}
	b.q, b.s, b.degree = q, s, degree
	return nil
}

// objective is the penalty at Q and its symmetric part, given the squared distances of F and of V: tr(aᵀL_Qa) is
// ½·Σ s_ij·‖a_i − a_j‖².
func (b *boundLearnedGraph) objective(q, s, df, dv *mat.Dense) float64 {
	var d mat.Dense
	d.Sub(q, b.initial)
	return algebra.Inner(&d, &d) + b.beta*algebra.Inner(s, df)/2 + b.lambda*algebra.Inner(s, dv)/2
}

func squaredDistances(a *mat.Dense) *mat.Dense {
	_, n := a.Dims()
	rows := algebra.Transpose(a)
	out := mat.NewDense(n, n, nil)
	for i := range n {
		x := rows.RawRowView(i)
		for j := range i {
			var sum float64
			for r, y := range rows.RawRowView(j) {
				sum += (x[r] - y) * (x[r] - y)
			}
			out.Set(i, j, sum)
			out.Set(j, i, sum)
		}
	}
	return out
}

// Gradient is λDV − λSV.
func (b *boundLearnedGraph) Gradient(positive, negative, v *mat.Dense, scale float64) {
	sv := algebra.Times(v, b.s) // which is symmetric
	k, _ := v.Dims()
	for r := range k {
		algebra.Axpy(scale*b.lambda, sv.RawRowView(r), negative.RawRowView(r))
		pos := positive.RawRowView(r)
		for i, x := range v.RawRowView(r) {
			pos[i] += scale * b.lambda * b.degree[i] * x
		}
	}
}

func (b *boundLearnedGraph) Value(v *mat.Dense) float64 {
	return b.objective(b.q, b.s, squaredDistances(b.f), squaredDistances(v))
}

// projectSimplex writes to dst the point of the simplex, x ≥ 0 and Σ x = 1, nearest to y: y less the number that
// makes the sum of the positive parts 1. Without its largest value y does not lose the 1 beside it. dst may be y.
func projectSimplex(dst, y []float64) {
	if len(y) == 0 {
		return
	}
	largest := slices.Max(y)
	falling := make([]float64, len(y))
	for i, x := range y {
		falling[i] = x - largest
	}
	slices.SortFunc(falling, func(a, b float64) int { return cmp.Compare(b, a) })
	var sum, shift float64
	for i, x := range falling {
		sum += x
		if t := (sum - 1) / float64(i+1); x > t {
			shift = t
		}
	}
	for i, x := range y {
		dst[i] = max(x-largest-shift, 0)
	}
}
