// Package fitting runs one method on some samples for experiments and groupings. It builds the method from its
// settings, fits it, clusters or classifies its representation, chooses ranks and numbers of groups, and estimates
// memory.
package fitting

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/logistic"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Method is a method built from its settings.
type Method struct {
	spec.Method
	Needs      spec.Needs
	Factoriser factor.Method // nil for a method that uses the features directly, and for results from elsewhere
	// Cluster is the clustering of the method's representation, or of the features themselves.
	Cluster spec.Cluster
	// Recodes reports whether training samples are represented as test samples are. The description of the settings then
	// says so, even if it is the default.
	Recodes bool
	// Fixed digests the fixed basis vectors; it is empty if there are none.
	Fixed string
	// Candidates are the methods among which Tune chooses; nil without a choice.
	Candidates []*Method
}

// Resolve builds the method for an experiment with the given task and clustering.
func Resolve(m spec.Method, task spec.Task, how spec.Cluster) (_ *Method, err error) {
	defer guard.Catch(&err)
	r := &Method{Method: m, Needs: m.Needs(), Cluster: how}
	if m.Tune != nil {
		for _, c := range m.Tune.Candidates {
			candidate := guard.Must(Resolve(c, task, how))
			r.Candidates = append(r.Candidates, candidate)
		}
	}
	if r.Recodes = r.Needs.Concept; m.Recode != nil {
		r.Recodes = *m.Recode
	}
	r.Recodes = r.Recodes && task == spec.Classification
	if r.Recodes {
		r.Recode = &r.Recodes
	}
	if spec.OnFeatures(m.Name) {
		r.Cluster.By = m.Name
		return r, nil
	}
	if r.Cluster.By = m.ClusteredBy(how); m.Results != "" {
		return r, nil
	}
	r.Factoriser, err = m.Build()
	if p, ok := r.Factoriser.(factor.Parts); ok && p.Fixed != nil {
		sum := sha256.New()
		guard.Check(binary.Write(sum, binary.LittleEndian, p.Fixed.RawMatrix().Data))
		r.Fixed = hex.EncodeToString(sum.Sum(nil))
	}
	return r, err
}

// Work is one method on some samples with their labels and links. It fits the method, and then clusters the samples or
// classifies others.
type Work struct {
	*Method
	In    *input.Inputs
	Rows  []int             // rows of the inputs, nil for all
	X     func() mat.Matrix // one sample a row
	Known factor.Known
	// Seed returns the seed of a step.
	Seed func(step string) uint64
	// Best uses the library's default solver if the settings name none. Otherwise the default is the multiplicative
	// rule of the papers.
	Best bool
	// The remaining fields are as in factor.Options.
	OnIteration func(i int, objective float64)
	Trace       func(i int) bool
	Shared      *factor.Shared
	Start       *factor.Start
	// Clusters is the number of clusters of each restart, whose agreement Group returns; 0 if they are not needed.
	Clusters int

	runs [][]int // the clusters of each restart
	kept int     // the restart with the lowest objective
}

// bestTolerance is the default tolerance of the solver fast: it needs few iterations, and smaller improvements change
// the result little.
const bestTolerance = 1e-5

// Fit returns the method's result with the lowest objective of its restarts, nil for a method that uses the features
// directly. The first restart is the fit without further ones.
func (w *Work) Fit(ctx context.Context, rank int) (*factor.Result, error) {
	if w.Factoriser == nil {
		return nil, nil
	}
	method, err := w.forInputs(w.In)
	if err != nil {
		return nil, err
	}
	opt := factor.Options{
		Rank: rank, Seed: w.Seed("initial factors"), Init: w.Init, Solver: w.Solver.Solver(), Iterations: w.Iterations, Tolerance: w.Tolerance,
		Start: w.Start, OnIteration: w.OnIteration, Trace: w.Trace, Shared: w.Shared,
	}
	if opt.Solver == nil && factor.Serves(factor.Multiplicative{}, method) == nil {
		switch {
		case !w.Best:
			opt.Solver = factor.Multiplicative{}
		case opt.Tolerance == 0 && opt.Iterations == 0 && factor.Serves(factor.Fast{}, method) == nil:
			opt.Tolerance = bestTolerance
		}
	}
	var best *factor.Result
	w.runs = nil
	for restart := range max(w.Restarts, 1) {
		if restart > 0 {
			opt.Seed = rng.Seed(w.Seed("initial factors"), "restart", restart)
		}
		done := timing.Start(ctx, timing.Factorising)
		res, err := factor.ForImages(method, w.In.ImageShape()).Fit(ctx, w.X(), w.Known, opt)
		done()
		if err == nil && w.Restarts > 1 && w.Clusters > 0 {
			var run []int
			run, err = w.cluster(ctx, res, w.Clusters)
			w.runs = append(w.runs, run)
		}
		if err != nil {
			return nil, w.In.NameRows(err, w.Rows)
		}
		if best == nil || res.Objective[res.Iterations()] < best.Objective[best.Iterations()] {
			best, w.kept = res, restart
		}
	}
	return best, nil
}

// Points returns the rows to cluster or to classify: the representation, or the features if res is nil.
func (w *Work) Points(res *factor.Result) mat.Matrix {
	if res == nil {
		return w.X()
	}
	return res.Coefficients
}

// Group puts the samples into k clusters. If Fit has clustered restarts, it returns their consensus or the clusters of the
// best one, and their stability: the correlation and the dispersion of all samples or, without Consensus, of 1,000
// random ones.
func (w *Work) Group(ctx context.Context, res *factor.Result, k int) (found []int, s *cluster.Stability, err error) {
	if w.runs == nil {
		found, err = w.cluster(ctx, res, k)
		return found, nil, err
	}
	defer timing.Start(ctx, timing.Grouping)()
	if w.Consensus {
		found, s = cluster.Consensus(w.runs, k)
		return found, s, nil
	}
	found = w.runs[w.kept]
	rows, some := SomeRows(len(found), CountSamples, nil, false, w.Seed("stability")), make([][]int, len(w.runs))
	for i, run := range w.runs {
		some[i] = matrix.Take(run, rows)
	}
	_, s = cluster.Consensus(some, k)
	return slices.Clone(found), s, nil
}

// MeanConsensus is [cluster.MeanConsensus] of the restarts that Fit clustered, or nil.
func (w *Work) MeanConsensus(groups []int) []float64 {
	if w.runs == nil {
		return nil
	}
	return cluster.MeanConsensus(w.runs, groups)
}

func (w *Work) cluster(ctx context.Context, res *factor.Result, k int) ([]int, error) {
	defer timing.Start(ctx, timing.Grouping)()
	return ClusterRows(ctx, w.Cluster, w.Points(res), k, cluster.Known(w.Known), w.Seed("k-means"))
}

// Classify trains the classifier of the experiment on the samples, whose classes are truth, and returns the classes of
// other rows of the inputs, whose features are test.
func (w *Work) Classify(ctx context.Context, e *spec.Experiment, res *Represented, truth []int, test func() mat.Matrix, rows []int) (_ []int, err error) {
	defer guard.Catch(&err)
	defer timing.Start(ctx, timing.Grouping)()
	if res == nil {
		return classify(ctx, e, w.X(), truth, test())
	}
	guard.FailIf(res.Model == nil && res.Test == nil, "%s cannot represent test samples; use it for clustering", w.Label())
	transform := func(x mat.Matrix, rows []int) *mat.Dense {
		v, err := res.Model.Transform(ctx, x)
		guard.Check(w.In.NameRows(err, rows))
		return v
	}
	train, coefficients := res.Coefficients, res.Test
	if w.Recodes {
		train = transform(w.X(), w.Rows)
	}
	if coefficients == nil {
		coefficients = transform(test(), rows)
	}
	return res.classes.Get(ctx, func() ([]int, error) { return classify(ctx, e, train, truth, coefficients) })
}

// forInputs returns the factorisation for the inputs, or an error if they have missing values or weights, which the method
// or its solver does not support.
func (m *Method) forInputs(in *input.Inputs) (factor.Method, error) {
	if p, ok := m.Factoriser.(factor.Parts); ok && p.Fixed != nil && in.X != nil {
		rows, _ := p.Fixed.Dims()
		if _, features := in.X.Dims(); rows != features {
			return nil, fmt.Errorf("%s: its vectors have %d values; the samples have %d", m.FixedBasis, rows, features)
		}
	}
	if c, ok := m.Factoriser.(factor.Composition); ok {
		_, features := in.Dims()
		if err := c.AsParts().CheckFeatures(features); err != nil {
			return nil, err
		}
	}
	x, ok := in.X.(*factor.Weighted)
	switch {
	case !ok, m.Results != "":
		return m.Factoriser, nil
	case m.Factoriser == nil:
		return nil, errors.New("missing values and weights need a factorisation, such as nmf")
	}
	weighted, err := factor.ForWeights(m.Factoriser, in.Set.Missing || x.Entries != nil)
	if s := m.Solver.Solver(); err == nil && s != nil {
		err = factor.Serves(s, weighted)
	}
	return weighted, err
}

// CheckValues returns an error for methods that do not support the missing values or weights of the inputs, and one
// with the first negative value, and its column from 1, for methods that need non-negative data.
func CheckValues(in *input.Inputs, methods []*Method) error {
	for _, m := range methods {
		if _, err := m.forInputs(in); err != nil {
			return fmt.Errorf("%s: %w", m.Label(), err)
		}
	}
	row, column, value, found := in.FirstNegative()
	if !found {
		return nil
	}
	if v := in.Set.Vectors; v != nil && in.Features.Joined == nil {
		if _, m := v.Dims(); column < m && v.At(in.Rows[row], column) < 0 {
			value = v.At(in.Rows[row], column)
		}
	}
	for _, m := range methods {
		if !m.Needs.Signed {
			return fmt.Errorf("%s: %s, column %d: value %v is negative, but %s needs values of 0 or more",
				in.Set.Name, in.Set.Names[in.Rows[row]], column+1, value, m.Label())
		}
	}
	return nil
}

// Represented is a method's result on a draw, and optionally the coefficients of the test samples, tested×k. Found is set
// for a method that itself gives the groups of the samples, or the classes of the test samples.
type Represented struct {
	*factor.Result
	Test    *mat.Dense
	Found   []int
	classes Once[[]int] // the classes of the test samples, if the ranks of several trials exceed the number of directions
}

// Leading returns the result with the first k directions, or all if there are fewer.
func (r *Represented) Leading(k int) *Represented {
	l, ok := r.Model.(*factor.Linear)
	if !ok || k >= l.Projection.RawMatrix().Cols {
		return r
	}
	first := func(x *mat.Dense) *mat.Dense {
		n, _ := x.Dims()
		return mat.DenseCopyOf(x.Slice(0, n, 0, k))
	}
	res := *r.Result
	res.Basis, res.Coefficients = first(l.Projection), first(r.Coefficients)
	res.Model = &factor.Linear{Mean: l.Mean, Projection: res.Basis}
	out := &Represented{Result: &res}
	if r.Test != nil {
		out.Test = first(r.Test)
	}
	return out
}

// NewClusterer returns the clustering algorithm with its settings. Tests replace it.
var NewClusterer = func(c spec.Cluster) (cluster.Clusterer, error) {
	by, _ := cluster.Lookup(cmp.Or(c.By, spec.KMeans))
	params := settings.Encode(c)
	maps.DeleteFunc(params, func(name string, _ any) bool {
		return !slices.ContainsFunc(by.Settings(), func(s settings.Setting) bool { return s.Name == name })
	})
	return by.New(params)
}

// ClusterRows puts the rows of x into k clusters, with their labels and links.
func ClusterRows(ctx context.Context, c spec.Cluster, x mat.Matrix, k int, known cluster.Known, seed uint64) (_ []int, err error) {
	defer guard.Catch(&err)
	if c.By == spec.Largest {
		n, r := x.Dims()
		out, row := make([]int, n), make([]float64, r)
		for i := range n {
			out[i] = floats.MaxIdx(mat.Row(row, i, x))
		}
		return out, nil
	}
	by := guard.Must(NewClusterer(c))
	res := guard.Must(by.Cluster(ctx, x, k, known, seed))
	return res.Labels, nil
}

// Once is a value that the first of several trials computes, while the others wait.
type Once[V any] struct {
	mu    sync.Mutex // held while the value is computed
	done  bool
	value V
	err   error
}

// Get returns the value, which the first call computes with build. A panic of build becomes an error of all callers.
// ctx is the caller's.
func (o *Once[V]) Get(ctx context.Context, build func() (V, error)) (V, error) {
	parallel.Wait(ctx, o.mu.Lock)
	defer o.mu.Unlock()
	if !o.done {
		o.done = true
		o.err = guard.Call(func() (err error) {
			o.value, err = build()
			return err
		})
	}
	return o.value, o.err
}

// Problem is the size of a trial.
type Problem struct {
	// N samples are represented and Tested ones classified, by their M features. Stored is the mean number of stored
	// values of a sparse sample.
	N, Tested, M int
	Sparse       bool
	Stored       float64
	Classes      int
	Labelled     int
	Links        int
	Ordered      float64 // bytes of the random order of pairs from which links are drawn
	Signed       bool
	Weighted     bool
	Rank         int
	Auto         *spec.AutoRank // the choice of the rank, or nil
	Groups       int            // the number of groups
	Counted      bool           // whether Groups is chosen by the samples
}

// Input is the size of the features in bytes.
func (s Problem) Input() float64 {
	if s.Sparse {
		return 16 * s.Stored * float64(s.N+s.Tested)
	}
	return 8 * float64(s.M) * float64(s.N+s.Tested)
}

// Need estimates the bytes of memory that a trial of the method takes: representation, clustering or classification,
// scores, and the features of the draw.
func (m *Method) Need(s Problem, task spec.Task, by spec.Classifier) (most int64) {
	if m.Tune != nil {
		copies := 8 * float64(s.M) * float64(s.N) // of the samples, dense
		s.Weighted = s.Weighted || m.Tune.By == spec.TuneHeldOut
		for _, c := range m.Candidates {
			most = max(most, c.rated(m.Tune.By).Need(s, task, by))
		}
		return most + int64(min(copies, math.MaxInt64/4))
	}
	total := s.Input() + s.Ordered + 16*float64(s.Links)
	columns, isSparse := s.M, s.Sparse
	if m.Factoriser != nil {
		size := factor.Size{Samples: s.N, Features: s.M, Rank: s.Rank, Labelled: s.Labelled, Links: s.Links, Signed: s.Signed, Weighted: s.Weighted, Init: m.Init}
		if s.Sparse {
			size.Stored = int(min(max(s.Stored*float64(s.N), 1), math.MaxInt/2))
		}
		total += float64(factor.Memory(m.Factoriser, size))
		columns, isSparse = s.Rank, false
		if m.Restarts > 1 { // the best result so far
			total += 8 * float64(s.Rank) * float64(2*s.N+s.M)
		}
	}
	if s.Auto != nil && m.Factoriser != nil {
		total += float64(RankMemory(*s.Auto, s))
	}
	n, k := float64(s.N), float64(s.Classes)
	scoring := 48*k*k + 100*n
	if task == spec.Classification {
		// The representation of the test samples, and the distances of a panel.
		total += 24*float64(s.Rank)*float64(s.Tested) + 16*n
		if by.Linear() {
			// The standardised samples, scores, and the weights with the 15 steps that L-BFGS stores.
			m := float64(columns)
			total += 8 * ((n+float64(s.Tested))*(m+2*k) + 40*k*(m+1))
		}
	} else {
		if m.Cluster.By == spec.Largest {
			total += 8 * n
		} else {
			by, _ := cluster.Lookup(cmp.Or(m.Cluster.By, spec.KMeans))
			total += float64(by.Memory(cluster.Size{N: s.N, M: columns, K: s.Groups, Links: s.Links, Sparse: isSparse}))
		}
		if m.Restarts > 1 {
			of := s.N
			if !m.Consensus {
				of = min(of, CountSamples)
			}
			total += float64(cluster.ConsensusMemory(of)) + 8*n*float64(m.Restarts)
		}
		if s.Counted {
			n, pieces := min(s.N, lengthSamples), float64(cluster.MostCounted)
			by, _ := cluster.Lookup("propagated-kmeans")
			total += float64(by.Memory(cluster.Size{N: n, M: s.M, K: cluster.MostCounted})) + 16*pieces*pieces + 160*float64(n)
		}
	}
	return int64(min(total+scoring, math.MaxInt64/2))
}

const (
	rankSamples  = 1000 // the most samples for the choice of a rank
	CountSamples = 1000 // the most samples for the silhouette and the stability of a number of groups

	lengthSamples = 10_000 // the most samples for the choice of a number of groups
	filledRank    = 10     // the most basis vectors that fill in missing values for this choice
)

// CountLengths returns the description lengths of 1 to most groups for the rows of x or 10,000 random ones.
func CountLengths(ctx context.Context, x mat.Matrix, most int, seed uint64) (lengths []float64, err error) {
	err = guard.Try(func() {
		if n, _ := x.Dims(); n > lengthSamples {
			x = matrix.SelectRows(x, SomeRows(n, lengthSamples, nil, false, seed))
		}
		if weighted, ok := x.(*factor.Weighted); ok {
			x = guard.Must(filled(ctx, weighted, seed))
		}
		n, _ := x.Dims()
		guard.FailIf(most >= n, "up to %d groups of %d samples", most, n)
		lengths = guard.Must(cluster.DescriptionLengths(ctx, x, most, seed))
	})
	return lengths, guard.Wrap(err, "choosing the number of groups")
}

// filled returns the samples with missing values filled in by a factorisation of low rank.
func filled(ctx context.Context, x *factor.Weighted, seed uint64) (mat.Matrix, error) {
	if _, dense := x.Matrix.(*mat.Dense); !dense {
		return x.Matrix, nil
	}
	n, m := x.Dims()
	p := factor.Parts{}
	if _, _, _, negative := matrix.FirstNegative(x, matrix.AllRows(x)); negative {
		p.Basis = factor.BasisSemi
	}
	res, err := p.Fit(ctx, x, factor.Known{}, factor.Options{Rank: max(1, min(filledRank, n/2, m/2)), Tolerance: bestTolerance, Seed: seed})
	if err != nil {
		return nil, err
	}
	return factor.Impute(ctx, res.Model, x, res.Coefficients)
}

// ChooseCount chooses the number of groups by description length.
func ChooseCount(ctx context.Context, x mat.Matrix, from, to int, seed uint64) (*spec.CountChoice, error) {
	lengths, err := CountLengths(ctx, x, to, seed)
	if err != nil {
		return nil, err
	}
	k := cluster.ChooseCount(lengths, from)
	return &spec.CountChoice{K: k, From: from, Length: lengths[from-1 : min(to, max(2*k, 30))]}, nil
}

// ChooseRank chooses the rank for the rows of x, or for 1,000 random ones.
func ChooseRank(ctx context.Context, a spec.AutoRank, x mat.Matrix, seed uint64, progress func(done, total int)) (*spec.RankChoice, error) {
	n, m := x.Dims()
	var rows []int
	if n > rankSamples {
		rows = SomeRows(n, rankSamples, nil, false, seed)
		x, n = matrix.SelectRows(x, rows), rankSamples
	}
	s := factor.RankSearch{By: a.By, From: a.Among.From, To: min(a.Among.To, n, m), Seed: seed, Progress: progress}
	rank, curve, err := factor.ChooseRank(ctx, x, s)
	var bad *factor.SampleError
	if errors.As(err, &bad) && rows != nil {
		bad.Sample = rows[bad.Sample]
	} else if err != nil && rows != nil {
		err = fmt.Errorf("among %d random samples, %w", n, err)
	}
	if err != nil {
		return nil, fmt.Errorf("choosing the rank: %w", err)
	}
	return &spec.RankChoice{Rank: rank, By: a.By, Curve: curve}, nil
}

// RankMemory estimates the bytes of memory that ChooseRank takes.
func RankMemory(a spec.AutoRank, s Problem) int64 {
	size := factor.Size{Samples: min(s.N, rankSamples), Features: s.M, Rank: a.Most(), Weighted: s.Weighted}
	if s.Sparse {
		size.Stored = int(max(s.Stored*float64(size.Samples), 1))
	}
	return factor.RankMemory(size)
}

// SomeRows returns up to most of n rows at random. With labelled, labelled rows come first.
func SomeRows(n, most int, labels []int, labelled bool, seed uint64) []int {
	order := rng.New(seed, "samples looked at").Perm(n)
	if labelled {
		slices.SortStableFunc(order, func(i, j int) int { return min(labels[j], 0) - min(labels[i], 0) })
	}
	rows := order[:min(n, most)]
	slices.Sort(rows)
	return rows
}

// standard scales columns to mean 0 and standard deviation 1 (divisor n), as learned from some samples. Sparse samples
// are only divided, so that they stay sparse. Constant columns become 0.
type standard struct {
	mean, Factor []float64
}

func newStandard(x mat.Matrix) standard {
	n, m := x.Dims()
	most, mean := make([]float64, m), make([]float64, m)
	rows := matrix.AllRows(x)
	matrix.EachValue(x, rows, func(_, j int, v float64) { most[j] = max(most[j], math.Abs(v)) })
	// Dividing by the largest value keeps sums and squares from overflowing.
	matrix.EachValue(x, rows, func(_, j int, v float64) {
		if most[j] > 0 {
			mean[j] += v / most[j] / float64(n)
		}
	})
	square, stored := make([]float64, m), make([]int, m)
	matrix.EachValue(x, rows, func(_, j int, v float64) {
		if most[j] > 0 {
			d := v/most[j] - mean[j]
			square[j] += d * d
			stored[j]++
		}
	})
	s := standard{mean, make([]float64, m)}
	for j := range m {
		zeros := float64(n - stored[j]) // zeros that a sparse row does not store
		deviation := math.Sqrt((square[j] + zeros*mean[j]*mean[j]) / float64(n))
		s.mean[j] *= most[j]
		if factor := 1 / deviation / most[j]; deviation > 1e-12 && !math.IsInf(factor, 0) {
			s.Factor[j] = factor
		}
	}
	return s
}

// Of returns the standardised rows of x.
func (s standard) Of(x mat.Matrix) mat.Matrix {
	if x, ok := x.(*sparse.CSR); ok {
		out := x.Clone()
		n, _ := out.Dims()
		for i := range n {
			columns, values := out.Row(i)
			for p, j := range columns {
				values[p] *= s.Factor[j]
			}
		}
		return out
	}
	out := mat.DenseCopyOf(x)
	n, _ := out.Dims()
	for i := range n {
		row := out.RawRowView(i)
		for j, v := range row {
			row[j] = (v - s.mean[j]) * s.Factor[j]
		}
	}
	return out
}

// classify trains the classifier of the experiment on train, n×m, with the classes truth, and returns the predicted
// classes of test, t×m.
func classify(ctx context.Context, e *spec.Experiment, train mat.Matrix, truth []int, test mat.Matrix) ([]int, error) {
	if !e.Classifier.Linear() {
		return eval.KNN{K: e.Neighbours.K, Distance: e.Neighbours.Distance}.Classify(ctx, train, truth, test)
	}
	if e.Classifier.Scale != "none" {
		s := newStandard(train)
		train, test = s.Of(train), s.Of(test)
	}
	model, err := logistic.Regression{C: e.Classifier.C}.Fit(ctx, train, truth, slices.Max(truth)+1)
	if err != nil {
		return nil, err
	}
	return model.Classify(test), nil
}
