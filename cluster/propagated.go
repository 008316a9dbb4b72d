package cluster

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/neighbours"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Parameters of PropagatedKMeans: see docs/results.md.
const (
	whitenedDirections = 256
	whitenedRidge      = 3
	plainRidge         = 1e9 // leaves the directions as they are
	propagatedShare    = 0.9
	propagatedSteps    = 30
	propagatedGuidance = 10
	fewPerCluster      = 15 // samples per cluster up to which a sample has 5 neighbours

	probedCells = 16 // searched for the approximate neighbours of a sample
)

// exactNeighbours is the largest number of samples whose nearest neighbours are found exactly. Tests lower it.
var exactNeighbours = 15_000

// PropagatedKMeans is k-means on whitened features that are averaged over a graph of nearest neighbours. The average
// makes clusters of any shape compact, as the eigenvectors of spectral clustering do.
//
// The rows z_i are the samples scaled to unit length, centred, and scaled to unit length again. V holds them whitened
// with a ridge, in at most 256 leading directions, with rows scaled to unit length:
//
//	V = Z·(C + r·I)^-½, C = ZᵀZ, r = 3·tr(C)/min(n, m)
//
// A_ij is 1 if sample i is among the p nearest neighbours of sample j or the reverse, and D holds the row sums of A. p
// is 10, or 5 for at most 15 samples per cluster. Personalised PageRank averages V over the graph (Gasteiger,
// Bojchevski and Günnemann 2019), 30 times from Y = V:
//
//	Y ← 0.9·D^-½AD^-½·Y + 0.1·V
//
// Cosine k-means with k-means++ clusters the rows of Y, or guided k-means with labels or links; its regression uses Y
// and V, and its guidance is 10. Neighbours are found once among the rows of V and once among the rows of Z; the result
// with the smaller mean normalised cut is used. Whitening may harm clusters of different sizes. Unless all clusters have
// labels, a third result, with neighbours among the rows of Z and without whitening, is used if its modularity in the
// graph of V is higher.
type PropagatedKMeans struct {
	Restarts int `setting:"restarts" default:"20" help:"number of starts; the result with the smallest objective is used"`
}

// Cluster implements [Clusterer]. It takes O(n²m) time for up to 15,000 samples. The neighbours of more samples are
// approximate, and the time is about linear in n. Result.Centres are the unit directions of the sums of the
// samples scaled to unit length.
func (p PropagatedKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (_ *Result, err error) {
	defer guard.CatchWithin(&err, "propagated k-means")
	s := guard.Must(readSamples(x, DistanceCosine))
	by := KMeans{K: clusters, Distance: DistanceCosine, Init: InitPlusPlus, Restarts: p.Restarts, Seed: seed}
	guard.Check(checkSizes(s.n, clusters, by.restarts(), 0))
	z := s.centred()
	leading := principalOf(ctx, z)
	v := leading.whitened(whitenedRidge)
	var graphs [2]graph
	for at, points := range []*mat.Dense{v, z} {
		graphs[at] = nearestGraph(ctx, points, neighboursOf(s.n, clusters))
	}
	ofV, ofZ := graphs[0], graphs[1]
	candidates := []struct {
		graph
		points *mat.Dense
	}{{ofV, v}, {ofZ, v}}
	isFree := func(c int) bool { return !slices.Contains(known.Labels, c) }
	if slices.ContainsFunc(matrix.Range(clusters), isFree) {
		candidates = append(candidates, candidates[1])
		candidates[2].points = leading.whitened(plainRidge)
	}
	var results []*Result
	for _, c := range candidates {
		y := c.propagate(ctx, c.points, propagatedShare)
		result := guard.Must(GuidedKMeans{by, propagatedGuidance}.fit(ctx, y, known, c.points))
		results = append(results, result)
	}
	found := results[0]
	if ofZ.meanCut(results[1].Labels, clusters) < ofV.meanCut(found.Labels, clusters) {
		found = results[1]
	}
	for _, plain := range results[2:] {
		if ofV.modularity(plain.Labels, clusters) > ofV.modularity(found.Labels, clusters) {
			found = plain
		}
	}
	found.Centres = mat.NewDense(clusters, s.m, nil)
	directions(found.Centres, found.Labels, func(dst []float64, i int) { s.addTo(dst, s.weights[i], i) })
	return found, nil
}

func (p PropagatedKMeans) Memory(s Size) float64 {
	n, m, d := float64(s.N), float64(s.M), float64(min(s.N, s.M))
	s.M, s.Sparse = 2*whitenedDirections, false
	searched := 0.0 // copies of samples in single precision
	if s.N > exactNeighbours {
		searched = float64(parallel.Cores()) * 4 * m * 512 * probedCells
	}
	return 8*(n*m+d*d+4*n*whitenedDirections) + 500*n + searched + eigen.Memory(int(d), min(int(d), whitenedDirections)) + GuidedKMeans{}.Memory(s)
}

// principal holds the leading principal directions of centred rows z, n×m.
type principal struct {
	z       *mat.Dense
	values  []float64  // the largest eigenvalues of zᵀz
	vectors *mat.Dense // the eigenvectors of zᵀz, or of zzᵀ if n < m
	mean    float64    // of all eigenvalues
}

// principalOf calls guard.Fail.
func principalOf(ctx context.Context, z *mat.Dense) *principal {
	n, m := z.Dims()
	raw := z.RawMatrix()
	size, left, right := m, blas.Trans, blas.NoTrans // zᵀz
	if n < m {
		size, left, right = n, blas.NoTrans, blas.Trans // zzᵀ has the same eigenvalues
	}
	products := mat.NewSymDense(size, nil)
	out := products.RawSymmetric()
	guard.Check(blas.MultiplyUpper(ctx, left, right, 1, raw, raw, 0, blas.Matrix{Rows: size, Cols: size, Stride: out.Stride, Data: out.Data}))
	// If all samples are equal, any ridge above 0 will do.
	mean := cmp.Or(mat.Trace(products)/float64(size), 1)
	values, vectors, err := eigen.Largest(ctx, products, min(size, whitenedDirections))
	guard.Check(err)
	return &principal{z, values, vectors, mean}
}

// scales returns the factors of the columns of vectors, for n < m, or else of z·vectors.
func (p *principal) scales(ridge float64) []float64 {
	n, m := p.z.Dims()
	scales := make([]float64, len(p.values))
	for j, l := range p.values {
		l = max(l, 0)
		if scales[j] = 1 / math.Sqrt(l+ridge*p.mean); n < m {
			scales[j] *= math.Sqrt(l)
		}
	}
	return scales
}

// whitened returns V, with simd.Width columns: see PropagatedKMeans.
func (p *principal) whitened(ridge float64) *mat.Dense {
	n, m := p.z.Dims()
	c := min(n, m, whitenedDirections)
	v := mat.NewDense(n, simd.Width(c), nil)
	if n < m {
		v.Slice(0, n, 0, c).(*mat.Dense).Copy(p.vectors)
	} else {
		blas.Gemm(blas.NoTrans, blas.NoTrans, 1, p.z.RawMatrix(), p.vectors.RawMatrix(), 0, v.Slice(0, n, 0, c).(*mat.Dense).RawMatrix())
	}
	scales := p.scales(ridge)
	for i := range n {
		row := v.RawRowView(i)
		for j, scale := range scales {
			row[j] *= scale
		}
		toUnit(row)
	}
	return v
}

// whitened returns V: see PropagatedKMeans. It calls guard.Fail.
func (s *samples) whitened(ctx context.Context) *mat.Dense {
	return principalOf(ctx, s.centred()).whitened(whitenedRidge)
}

// multiplier returns the matrix whose product with rows as in z has the directions of V.
func (p *principal) multiplier(ridge float64) *mat.Dense {
	n, m := p.z.Dims()
	w := mat.NewDense(m, min(n, m, whitenedDirections), nil)
	if n < m { // direction j of the features is Zᵀu_j/√λ_j
		blas.Gemm(blas.Trans, blas.NoTrans, 1, p.z.RawMatrix(), p.vectors.RawMatrix(), 0, w.RawMatrix())
	} else {
		w.Copy(p.vectors)
	}
	scales := p.scales(ridge)
	w.Apply(func(_, j int, value float64) float64 {
		switch least := 1e-10 * p.values[0]; {
		case p.values[j] <= least && n < m:
			return 0 // rounding errors
		case n < m:
			value /= p.values[j]
		}
		return value * scales[j]
	}, w)
	return w
}

// neighboursOf returns the number of nearest neighbours for n samples in this many clusters.
func neighboursOf(n, clusters int) int {
	if n <= fewPerCluster*clusters {
		return graphNeighbours / 2
	}
	return graphNeighbours
}

// graph holds the neighbours of each sample, in increasing order.
type graph [][]int

// nearestGraph joins each row of x, of length 1 or 0, with its p nearest rows by cosine. Rows without a positive cosine
// are not joined. It calls guard.Fail.
func nearestGraph(ctx context.Context, x *mat.Dense, p int) graph {
	n, _ := x.Dims()
	g := make(graph, n)
	nearestRows(ctx, x, p, func(i, j int) { g[i], g[j] = append(g[i], j), append(g[j], i) })
	for i := range g {
		slices.Sort(g[i])
		g[i] = slices.Compact(g[i])
	}
	return g
}

// nearestRows calls join with each row of x, of length 1 or 0, and each of its p nearest other rows that has a positive
// cosine with it. It calls guard.Fail.
func nearestRows(ctx context.Context, x *mat.Dense, p int, join func(row, other int)) {
	n, m := x.Dims()
	near := func(i, j int) {
		if mat.Dot(x.RowView(i), x.RowView(j)) > 0 {
			join(i, j)
		}
	}
	if n > exactNeighbours {
		points := neighbours.Points{N: n, D: m, Copy: func(dst []float32, i int) {
			for j, v := range x.RawRowView(i) {
				dst[j] = float32(v)
			}
		}}
		order, lists, err := neighbours.Find(ctx, points, p, probedCells)
		guard.Check(err)
		for at, list := range lists {
			for _, other := range list {
				near(int(order[at]), int(order[other.Place]))
			}
		}
		return
	}
	for i, list := range guard.Must(Nearest(ctx, DistanceCosine, x, x, min(p+1, n))) {
		list = slices.DeleteFunc(list, func(j int) bool { return j == i })
		for _, j := range list[:min(p, len(list))] {
			near(i, j)
		}
	}
}

// propagate averages the rows of v over the graph, with the weight share for neighbours. It calls guard.Fail.
func (g graph) propagate(ctx context.Context, v *mat.Dense, share float64) *mat.Dense {
	n, c := v.Dims()
	weights := make([][]float64, n)
	for i, list := range g {
		for _, j := range list {
			weights[i] = append(weights[i], share/math.Sqrt(float64(len(list)*len(g[j]))))
		}
	}
	y, next := mat.DenseCopyOf(v), mat.NewDense(n, c, nil)
	for range propagatedSteps {
		guard.Check(parallel.Blocks(ctx, 0, n, 64, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				row := next.RawRowView(i)
				for j, value := range v.RawRowView(i) {
					row[j] = (1 - share) * value
				}
				if len(g[i]) > 0 {
					simd.AddRows(row, weights[i], y.RawMatrix().Data, g[i])
				}
			}
		}))
		y, next = next, y
	}
	return y
}

// ends returns for each cluster the number of ends of its edges inside the cluster, and of all its edges.
func (g graph) ends(labels []int, clusters int) (inside, all []float64) {
	inside, all = make([]float64, clusters), make([]float64, clusters)
	for i, list := range g {
		for _, j := range list {
			if all[labels[i]]++; labels[j] == labels[i] {
				inside[labels[i]]++
			}
		}
	}
	return inside, all
}

// meanCut returns the mean over the clusters of the share of edges that leave the cluster (Shi and Malik 2000).
func (g graph) meanCut(labels []int, clusters int) float64 {
	inside, all := g.ends(labels, clusters)
	sum := 0.0
	for c, ends := range all {
		sum += (ends - inside[c]) / max(ends, 1)
	}
	return sum / float64(clusters)
}

// modularity returns the share of edges inside clusters minus the share expected at random (Newman and Girvan 2004).
func (g graph) modularity(labels []int, clusters int) float64 {
	inside, all := g.ends(labels, clusters)
	total := max(floats.Sum(all), 1)
	return floats.Sum(inside)/total - floats.Dot(all, all)/(total*total)
}
