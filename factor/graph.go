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
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// Edges is the weighting of the edges of a neighbourhood graph.
type Edges int

const (
	EdgesBinary Edges = iota // weight 1
	EdgesHeat                // weight exp(−d²/2t²) for samples at distance d
	// EdgesCosine finds neighbours by cosine similarity and uses the cosine, or 0 if it is negative, as the weight.
	EdgesCosine
)

var edgesNames = enum.Of[Edges]("edges", "binary", "heat", "cosine")

// String returns the name of the edges in settings.
func (e Edges) String() string                   { return edgesNames.String(e) }
func (e *Edges) UnmarshalText(name []byte) error { return edgesNames.UnmarshalText(e, name) }
func (e Edges) MarshalText() ([]byte, error)     { return edgesNames.MarshalText(e) }
func (Edges) Values() []string                   { return edgesNames.Values() }

// Neighbourhood describes a symmetric p-nearest-neighbour graph: it joins two samples if either is among the other's p
// nearest. It has no self-loops. Equal distances are ordered by row.
type Neighbourhood struct {
	// Neighbours is p; 0 means 5.
	Neighbours int `setting:"neighbours" default:"5" help:"number of nearest neighbours of each sample"`
	// Edges is the weighting of the edges.
	Edges Edges `setting:"edges" help:"edge weights"`
	// Width is t of EdgesHeat; 0 means the mean of the n² pairwise distances.
	Width float64 `setting:"width" default:"mean distance" help:"width t of the heat kernel exp(-d²/2t²)"`
}

func (h Neighbourhood) neighbours() int { return cmp.Or(h.Neighbours, 5) }

// graph returns the symmetric n×n weight matrix S of the graph over the samples x. It calls guard.Fail.
func (h Neighbourhood) graph(ctx context.Context, x view.Data) *CSR {
	n, _ := x.Dims()
	p := h.neighbours()
	guard.FailIf(p < 1, "neighbours %d: expected 1 or more", p)
	guard.Check(cmp.Or(checkEnums(h.Edges), view.CheckWeight("the width of the heat kernel", h.Width)))
	nearest, mean := nearestSamples(ctx, x, min(p, n-1), h.Edges == EdgesCosine)
	t := cmp.Or(h.Width, mean)
	var entries []sparse.Entry
	for i, list := range nearest {
		for _, q := range list {
			back := func(r topk.Scored) bool { return r.Row == i }
			if q.Row < i && slices.ContainsFunc(nearest[q.Row], back) {
				continue // added with sample q.Row
			}
			w := 1.0
			if h.Edges == EdgesHeat && t > 0 {
				w = elementary.Exp(-q.Score / (2 * t * t))
			} else if h.Edges == EdgesCosine {
				w = max(-q.Score, 0)
			}
			entries = append(entries, sparse.Entry{Row: i, Col: q.Row, Value: w}, sparse.Entry{Row: q.Row, Col: i, Value: w})
		}
	}
	return sparse.FromEntries(n, n, entries)
}

// squaredDistance returns ‖a − b‖² from ‖a‖², ‖b‖² and aᵀb. It is exactly 0 for identical samples, despite rounding.
func squaredDistance(a, b, product float64) float64 {
	if d := panel.Squared(a, b, product); d > 1e-13*(a+b) {
		return d
	}
	return 0
}

// labelEdges replaces the edges of s between labelled samples: weight 1 between samples of the same class, none
// between different classes.
func labelEdges(s *CSR, labels []int) *CSR {
	var entries []sparse.Entry
	for i, class := range labels {
		cols, vals := s.Row(i)
		for p, j := range cols {
			if class < 0 || labels[j] < 0 {
				entries = append(entries, sparse.Entry{Row: i, Col: j, Value: vals[p]})
			}
		}
		if class < 0 {
			continue
		}
		for j, other := range labels {
			if class == other && i != j {
				entries = append(entries, sparse.Entry{Row: i, Col: j, Value: 1})
			}
		}
	}
	return sparse.FromEntries(len(labels), len(labels), entries)
}

// comparedWork is the cost of comparing two samples, in multiplications.
const comparedWork = 64

// nearestSamples returns the p nearest samples of each sample, scored by minus the cosine or by the squared distance, and
// the mean of the n² distances. It holds only a block of the Gram matrix in memory. It calls guard.Fail.
func nearestSamples(ctx context.Context, x view.Data, p int, cosine bool) (nearest [][]topk.Scored, mean float64) {
	n, _ := x.Dims()
	square, sums := make([]float64, n), make([]float64, n) // ‖x_i‖², and sums of distances
	x.Each(func(i, _ int, v float64) { square[i] += v * v })
	nearest = make([][]topk.Scored, n)
	guard.Check(view.EachGram(ctx, x, func(from int, part *mat.Dense) {
		algebra.EachRow(part, comparedWork, func(a int, products []float64) {
			i, found := from+a, make([]topk.Scored, 0, p)
			for j, g := range products {
				if j == i {
					continue
				}
				d := -g / math.Sqrt(square[i]*square[j])
				if !cosine {
					d = squaredDistance(square[i], square[j], g)
					sums[i] += math.Sqrt(d)
				}
				if len(found) < p || p > 0 && !(d >= found[p-1].Score) { // ties keep the lower row
					found = topk.Insert(found, p, topk.Scored{Row: j, Score: d}, topk.Scored.Compare)
				}
			}
			nearest[i] = found
		})
	}))
	return nearest, elementary.Sum(sums) / float64(n) / float64(n)
}

// Nearest returns, for each row of x, n×m, dense or sparse, its p nearest other rows by Euclidean distance and these
// distances, in increasing order; ties are ordered by row. It takes n²·m multiplications. A row of zeros is an error.
func Nearest(ctx context.Context, x mat.Matrix, p int) (rows [][]int, distances [][]float64, err error) {
	defer guard.Catch(&err)
	guard.FailIf(p < 1, "factor: neighbours %d: expected 1 or more", p)
	d := guard.Must(view.New(x))
	n, _ := x.Dims()
	nearest, _ := nearestSamples(ctx, d, min(p, n-1), false)
	rows, distances = make([][]int, n), make([][]float64, n)
	for i, list := range nearest {
		for _, q := range list {
			rows[i], distances[i] = append(rows[i], q.Row), append(distances[i], math.Sqrt(max(q.Score, 0)))
		}
	}
	return rows, distances, nil
}

// Graph is the graph regularisation penalty λ·tr(VᵀLV) = λ/2·Σ S_ij·‖v_i − v_j‖² (Cai et al. 2011, eq. 6): it keeps
// neighbours in X close in V. The objective has no minimum: shrinking V and growing the basis keeps the fit and lowers
// the penalty. The result therefore depends on the number of iterations.
type Graph struct {
	// Lambda is λ; 0 means 100, WeightNone means 0. It is in the scale of the data: 100 is strong for samples
	// of unit length and negligible for pixels from 0 to 255.
	Lambda float64 `setting:"lambda" default:"100" help:"weight λ of the graph"`
	Neighbourhood
	// LabelEdges sets the edges between labelled samples to 1 within a class and 0 between classes (Semi-GNMF).
	LabelEdges bool `setting:"label-edges" help:"join samples of the same label instead of nearest neighbours"`
}

func (Graph) OnBasis() bool         { return false }
func (g Graph) Needs() Needs        { return Needs{Labels: g.LabelEdges, TiesLabels: g.LabelEdges} }
func (g Graph) Memory(s Size) int64 { return view.Bytes(s.graph(g.Neighbourhood)) }

// Bind implements [Penalty].
func (g Graph) Bind(ctx context.Context, p Problem) (_ BoundPenalty, err error) {
	defer guard.Catch(&err)
	lambda := orDefault(g.Lambda, 100)
	guard.Check(view.CheckWeight("lambda", lambda))
	s := g.Neighbourhood.graph(ctx, p.data)
	if g.LabelEdges {
		guard.FailIf(len(p.Known.Labels) == 0, "label edges need labelled samples; none are given")
		s = labelEdges(s, p.Known.Labels)
	}
	return newLaplacian(s, lambda), nil
}

// laplacian is the penalty λ·tr(θLθᵀ), L = D − S, for a graph S over the columns of θ.
type laplacian struct {
	s      *CSR
	degree []float64
	lambda float64
}

func newLaplacian(s *CSR, lambda float64) *laplacian {
	n, _ := s.Dims()
	l := &laplacian{s: s, degree: make([]float64, n), lambda: lambda}
	for i := range n {
		_, vals := s.Row(i)
		l.degree[i] = elementary.Sum(vals)
	}
	return l
}

// edgeWork is the cost of one sample's edges, in multiplications.
const edgeWork = 64

// Gradient is λ·θ·D − λ·θ·S.
func (l *laplacian) Gradient(positive, negative, theta *mat.Dense, scale float64) {
	w := scale * l.lambda
	algebra.EachRow(theta, edgeWork, func(r int, row []float64) {
		neg, pos := negative.RawRowView(r), positive.RawRowView(r)
		for i, degree := range l.degree {
			neg[i] += w * l.s.AddDot(0, i, row)
			pos[i] += w * degree * row[i]
		}
	})
}

func (l *laplacian) Root(c Cost) bool { return !c.Quadratic() }

func (l *laplacian) Value(theta *mat.Dense) float64 {
	k, _ := theta.Dims()
	sums := make([]float64, k)
	algebra.EachRow(theta, edgeWork, func(r int, row []float64) {
		for i, x := range row {
			cols, vals := l.s.Row(i)
			for p, j := range cols {
				sums[r] += vals[p] * (x - row[j]) * (x - row[j])
			}
		}
	})
	return l.lambda * elementary.Sum(sums) / 2
}

func (l *laplacian) Row(row []float64) PenaltyRow {
	return PenaltyRow{
		Gradient: func(i int) float64 {
			var sum float64
			cols, vals := l.s.Row(i)
			for p, j := range cols {
				sum += vals[p] * (row[i] - row[j])
			}
			return l.lambda * sum
		},
		Curvature: func(i int) float64 { return l.lambda * l.degree[i] },
	}
}

// Smooth is the penalty λ·Σ (u_p − u_q)² over all pairs of adjacent pixels p, q of the basis images (Zdunek and
// Cichocki 2008, with first differences). The objective has no minimum: shrinking the basis and growing the
// coefficients lowers it. The result therefore depends on the number of iterations.
type Smooth struct {
	// Weight is λ, in the scale of the coefficients; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"smooth-weight" default:"0.1" help:"weight λ of the squared differences of neighbouring pixels"`
}

func (Smooth) OnBasis() bool { return true }
func (Smooth) Needs() Needs  { return Needs{Images: true} }

// Bind implements [Penalty].
func (s Smooth) Bind(_ context.Context, p Problem) (BoundPenalty, error) {
	return bindPixels(s, s.Weight, p, func(l *laplacian) BoundPenalty { return l })
}

// bindPixels returns the penalty that bound makes from the Laplacian of adjacent pixels with the given weight.
func bindPixels(of Penalty, weight float64, p Problem, bound func(*laplacian) BoundPenalty) (BoundPenalty, error) {
	_, m := p.data.Dims()
	if err := p.Image.validate(m, "a penalty on neighbouring pixels"); err != nil {
		return nil, err
	}
	return bindWeight(of, weight, func(weight float64) BoundPenalty {
		return bound(newLaplacian(p.Image.resolve(m).grid(), weight))
	})
}

// grid returns the graph that joins horizontally and vertically adjacent pixels.
func (i Image) grid() *CSR {
	var pairs [][2]int
	for y := range i.rows() {
		for x := range i.Width {
			p := y*i.Width + x
			if x > 0 {
				pairs = append(pairs, [2]int{p - 1, p})
			}
			if y%i.Height > 0 { // the first row of a channel has no neighbour above
				pairs = append(pairs, [2]int{p - i.Width, p})
			}
		}
	}
	return binaryGraph(i.rows()*i.Width, pairs)
}

// Variation is the total variation λ·Σ √((u_p − u_q)² + ε²) − ε over all pairs of adjacent pixels p, q of the basis
// images (Yin and Liu 2017), ε = 1e-3. Unlike [Smooth] it keeps edges. A step uses its quadratic majoriser.
type Variation struct {
	// Weight is λ, in the scale of the coefficients; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"variation-weight" default:"0.1" help:"weight λ of the total variation of basis images"`
}

func (Variation) OnBasis() bool { return true }
func (Variation) Needs() Needs  { return Needs{Images: true} }

// Bind implements [Penalty].
func (v Variation) Bind(_ context.Context, p Problem) (BoundPenalty, error) {
	return bindPixels(v, v.Weight, p, func(l *laplacian) BoundPenalty { return boundVariation{l} })
}

// boundVariation has the neighbours and the weight of a Laplacian.
type boundVariation struct{ grid *laplacian }

// variationEdge is ε.
const variationEdge = 1e-3

func (b boundVariation) Value(theta *mat.Dense) (sum float64) {
	b.eachPair(theta, func(_, _, _ int, difference, root float64) {
		sum += difference / (root + variationEdge) * difference // √(d² + ε²) − ε without cancellation
	})
	return b.grid.lambda * sum / 2
}

func (b boundVariation) Gradient(positive, negative, theta *mat.Dense, scale float64) {
	b.eachPair(theta, func(r, p, q int, _, root float64) {
		w := scale * b.grid.lambda / (2 * root)
		positive.RawRowView(r)[p] += w * theta.At(r, p)
		negative.RawRowView(r)[p] += w * theta.At(r, q)
	})
}

// Root is true because the majoriser has negative values.
func (boundVariation) Root(Cost) bool { return true }

// eachPair calls f for each row r and each ordered pair of adjacent pixels, with θ_rp − θ_rq and the root of its square
// plus ε².
func (b boundVariation) eachPair(theta *mat.Dense, f func(r, p, q int, difference, root float64)) {
	for r := range theta.RawMatrix().Rows {
		row := theta.RawRowView(r)
		for p, x := range row {
			columns, _ := b.grid.s.Row(p)
			for _, q := range columns {
				f(r, p, q, x-row[q], math.Hypot(x-row[q], variationEdge))
			}
		}
	}
}

// Links is the penalty tr(VᵀCV) = Σ C_ij·v_iᵀv_j with C_ij = −Must for must-links and C_ij = Cannot for cannot-links
// (Ambai et al. 2011, eq. 6). The links are Known.MustLink, Known.CannotLink and all pairs of labelled samples.
// The objective is bounded below only if the weights of each sample's must-links sum to less than 1. Otherwise the
// coefficients may diverge, which is an error.
type Links struct {
	// Must and Cannot are the weights, ≥ 0; 0 means the D-SNMF paper's 0.005 and 1, WeightNone means 0.
	Must   float64 `setting:"must" default:"0.005" help:"weight of a must-link, −C_ij"`
	Cannot float64 `setting:"cannot" default:"1" help:"weight of a cannot-link, C_ij"`
}

func (Links) OnBasis() bool { return false }
func (Links) Needs() Needs  { return Needs{Labels: true, Links: true} }

// Bind implements [Penalty].
func (l Links) Bind(_ context.Context, p Problem) (_ BoundPenalty, err error) {
	defer guard.Catch(&err)
	n, _ := p.data.Dims()
	b := &boundLinks{must: orDefault(l.Must, 0.005), cannot: orDefault(l.Cannot, 1)}
	b.labels, b.classes = p.Known.Classes(n)
	guard.Check(cmp.Or(view.CheckWeight("the weight of must-links", b.must), view.CheckWeight("the weight of cannot-links", b.cannot)))
	must, cannot, err := p.Known.BeyondLabels(n)
	guard.Check(err)
	b.mustPairs, b.cannotPairs = binaryGraph(n, must), binaryGraph(n, cannot)
	guard.FailIf(b.classes == 0 && len(must) == 0 && len(cannot) == 0, "the link penalty needs links or labelled samples; none are given")
	return b, nil
}

// boundLinks does not form the n×n matrix C. It needs, for each sample, the sums over the other samples of its class and
// over all other classes. It adds a prefix sum and a suffix sum: subtracting from the total would lose small
// values to cancellation.
type boundLinks struct {
	must, cannot           float64
	labels                 []int // from 0 to classes-1, or -1 if unlabelled
	classes                int
	mustPairs, cannotPairs *CSR // 1 for a link that does not follow from the labels
}

func (b *boundLinks) Root(Cost) bool { return true }

// sums writes, for a row of v, each sample's sum over its must-linked samples and over its cannot-linked samples.
func (b *boundLinks) sums(row, together, apart []float64) {
	clear(together)
	clear(apart)
	class, others := make([]float64, b.classes), make([]float64, b.classes)
	for i, c := range b.labels {
		if c >= 0 {
			together[i] = class[c]
			class[c] += row[i]
		}
	}
	var sum float64
	for c, x := range class {
		others[c] = sum
		sum += x
	}
	sum = 0
	for c, x := range slices.Backward(class) {
		others[c] += sum
		sum += x
	}
	clear(class)
	for i, c := range slices.Backward(b.labels) {
		if c >= 0 {
			together[i] += class[c]
			class[c] += row[i]
			apart[i] = others[c]
		}
	}
	for i := range row {
		together[i] = b.mustPairs.AddDot(together[i], i, row)
		apart[i] = b.cannotPairs.AddDot(apart[i], i, row)
	}
}

// Gradient is C⁺V − C⁻V.
func (b *boundLinks) Gradient(positive, negative, v *mat.Dense, scale float64) {
	k, n := v.Dims()
	together, apart := make([]float64, n), make([]float64, n)
	for r := range k {
		b.sums(v.RawRowView(r), together, apart)
		algebra.Axpy(scale*b.must, together, negative.RawRowView(r))
		algebra.Axpy(scale*b.cannot, apart, positive.RawRowView(r))
	}
}

func (b *boundLinks) Value(v *mat.Dense) float64 {
	k, n := v.Dims()
	together, apart := make([]float64, n), make([]float64, n)
	var sum float64
	for r := range k {
		row := v.RawRowView(r)
		b.sums(row, together, apart)
		sum += b.cannot*algebra.Dot(row, apart) - b.must*algebra.Dot(row, together)
	}
	return sum
}

// Row has no curvature: no sample is linked to itself. Between samples of one label the second derivative is −must ≤ 0.
func (b *boundLinks) Row(row []float64) PenaltyRow {
	class := make([]float64, b.classes) // sums over the samples of each class
	for i, c := range b.labels {
		if c >= 0 {
			class[c] += row[i]
		}
	}
	return PenaltyRow{
		Gradient: func(i int) float64 {
			var together, apart float64
			if c := b.labels[i]; c >= 0 {
				for d, x := range class {
					if d != c {
						apart += x
					}
				}
				together = max(class[c]-row[i], 0)
			}
			return b.cannot*b.cannotPairs.AddDot(apart, i, row) - b.must*b.mustPairs.AddDot(together, i, row)
		},
		Moved: func(i int, delta float64) {
			if c := b.labels[i]; c >= 0 {
				class[c] = max(class[c]+delta, 0)
			}
		},
	}
}

// LearnedGraph is the penalty of a graph that is learned together with the factors (Shu et al. 2019):
//
//	‖Q − W₀‖² + β·tr(FᵀL_QF) + λ·tr(VᵀL_QV)
//
// minimised over Q, n×n, whose rows lie on the simplex with q_ii = 0, and F, n×c, with FᵀF = I. L_Q is the Laplacian of
// (Q + Qᵀ)/2. The term tr(FᵀL_QF) favours c connected components. Each iteration computes c eigenvectors of L_Q.
type LearnedGraph struct {
	// Lambda and Beta are λ and β; 0 means 1, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"1" help:"weight λ of the graph on the coefficients"`
	Beta   float64 `setting:"beta" default:"1" help:"weight β of the graph's spectral embedding"`
	// Parts is c; 0 means the rank.
	Parts         int `setting:"parts" default:"rank" help:"number c of connected components that the graph approaches"`
	Neighbourhood     // W₀ is its graph with rows scaled to sum 1
	// Rule is the update of Q.
	Rule GraphRule `setting:"rule" help:"update: exact (minimises the objective) or printed (eq. 17 of the paper)"`
}

// GraphRule is the update rule for the rows of a learned graph.
type GraphRule int

const (
	// GraphRuleExact minimises the objective: q_i is the projection of w_i − (β/4)·d^F_i − (λ/4)·d^V_i onto the
	// simplex, where d holds squared distances between rows.
	GraphRuleExact   GraphRule = iota
	GraphRulePrinted           // the paper's eq. 17, the projection of w_i − (β/2)·d^F_i; the objective can rise
)

var graphRuleNames = enum.Of[GraphRule]("rule", "exact", "printed")

// String returns the name of the rule in settings.
func (r GraphRule) String() string                   { return graphRuleNames.String(r) }
func (r *GraphRule) UnmarshalText(name []byte) error { return graphRuleNames.UnmarshalText(r, name) }
func (g GraphRule) MarshalText() ([]byte, error)     { return graphRuleNames.MarshalText(g) }
func (GraphRule) Values() []string                   { return graphRuleNames.Values() }
func (LearnedGraph) OnBasis() bool                   { return false }

func (g LearnedGraph) Memory(s Size) int64 {
	n := float64(s.Samples)
	return view.Bytes(s.graph(g.Neighbourhood) + 80*n*n + eigen.Memory(s.Samples, cmp.Or(g.Parts, s.Rank)))
}

// Bind implements [Penalty].
func (g LearnedGraph) Bind(ctx context.Context, p Problem) (_ BoundPenalty, err error) {
	defer guard.Catch(&err)
	n, _ := p.data.Dims()
	b := &boundLearnedGraph{lambda: orDefault(g.Lambda, 1), beta: orDefault(g.Beta, 1), parts: cmp.Or(g.Parts, p.Rank), rule: g.Rule}
	guard.Check(cmp.Or(checkEnums(g.Rule), view.CheckWeight("lambda", b.lambda), view.CheckWeight("beta", b.beta)))
	guard.FailIf(b.parts < 1 || b.parts > n, "learned graph: %d components for %d samples", b.parts, n)
	// Nine matrices: Q, W₀, S, L, the next Q, S and L, and the two of distances.
	guard.Check(view.CheckMemory(ctx, fmt.Sprintf("the learned graph of %d samples", n), 9, n, n))
	s := g.Neighbourhood.graph(ctx, p.data)
	initial := mat.NewDense(n, n, nil)
	for i := range n {
		cols, vals := s.Row(i)
		sum := elementary.Sum(vals)
		for p, j := range cols {
			if sum > 0 {
				initial.Set(i, j, vals[p]/sum)
			}
		}
	}
	return b.from(ctx, initial), nil
}

// from returns b at the start, with W₀. Rows off the simplex are projected onto it. It calls guard.Fail.
func (b *boundLearnedGraph) from(ctx context.Context, initial *mat.Dense) *boundLearnedGraph {
	b.initial, b.q = initial, mat.DenseCopyOf(initial)
	for i := range b.initial.RawMatrix().Rows {
		row := b.q.RawRowView(i)
		if row[i] != 0 || math.Abs(elementary.Sum(row)-1) > 1e-9 {
			projectOthers(row, i)
		}
	}
	b.s, b.degree = symmetricPart(b.q)
	b.f = b.embed(ctx)
	return b
}

// projectOthers sets row[i] to 0 and projects the other entries onto the simplex.
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

func symmetricPart(q *mat.Dense) (s *mat.Dense, degree []float64) {
	n, _ := q.Dims()
	s, degree = mat.NewDense(n, n, nil), make([]float64, n)
	s.Apply(func(i, j int, x float64) float64 { return (x + q.At(j, i)) / 2 }, q)
	for i := range n {
		degree[i] = elementary.Sum(s.RawRowView(i))
	}
	return s, degree
}

// embed returns the c eigenvectors of L_Q with the smallest eigenvalues as rows, c×n. It calls guard.Fail.
func (b *boundLearnedGraph) embed(ctx context.Context) *mat.Dense {
	n, _ := b.s.Dims()
	l := mat.NewDense(n, n, nil)
	l.Scale(-1, b.s)
	for i, d := range b.degree {
		l.Set(i, i, d+l.At(i, i))
	}
	_, vectors, err := eigen.Smallest(ctx, mat.NewSymDense(n, l.RawMatrix().Data), b.parts)
	guard.Check(guard.Wrap(err, "the embedding of the learned graph"))
	return mat.DenseCopyOf(vectors.T())
}

// Learn minimises over F, then over Q. With GraphRuleExact it rejects a step that raises the objective: with a large
// β or λ, rounding errors of zero eigenvalues or distances can outweigh the gain.
func (b *boundLearnedGraph) Learn(ctx context.Context, v *mat.Dense) (err error) {
	defer guard.Catch(&err)
	f := b.embed(ctx)
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

// objective returns the penalty at Q and its symmetric part s, given the squared distances df and dv between rows of F
// and of V: tr(aᵀL_Qa) = ½·Σ s_ij·‖a_i − a_j‖².
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
	sv := algebra.Times(v, b.s) // s is symmetric
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

// projectSimplex writes to dst the projection of y onto the simplex, x ≥ 0 and Σ x = 1: max(y − shift, 0) with the
// shift that makes the sum 1. Subtracting y's maximum first keeps precision for large y. dst may alias y.
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
