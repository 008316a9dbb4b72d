package passes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// A rule learns a method in passes.
type rule interface {
	// begin sets the first vectors and Step, given a sample of the rows.
	begin(ctx context.Context, s *State, sample *mat.Dense) error
	// sum adds the rows of a shard to sums.
	sum(ctx context.Context, s *State, x Rows, sums *Sums) error
	// update changes the vectors of next, a copy of the state of the sums of all shards, and returns the objective before.
	update(ctx context.Context, next *State, all *Sums) (objective float64, err error)
	// result sets the result or groups of the model of a state after its start.
	result(s *State)
	// shape is the size of the vectors of a state; 0 rows mean any number.
	shape(s *State) (rows, columns int)
}

// Check returns an error with the reason if a method cannot learn in passes.
func Check(m spec.Method) error {
	_, err := ruleOf(m)
	return err
}

// ruleOf returns the rule of a method, or an error with the reason why there is none.
func ruleOf(m spec.Method) (_ rule, err error) {
	defer guard.Catch(&err)
	guard.FailIf(m.FixedBasis != "" || m.Restarts > 1 || m.Consensus || m.Tune != nil,
		"%s: passes support no fixed-basis, restarts, consensus and tune", m.Name)
	if m.Name == spec.KMeans {
		return kmeans{m}, nil
	}
	method := guard.Must(m.Build())
	switch method.(type) {
	case factor.NMF, factor.NMFKL, factor.CNMF, factor.CNMFKL:
		b, err := grouping.MiniBatch(m, factor.DefaultBlock)
		if b.Samples = 0; err == nil && b.Cost == factor.CostHuber && b.Threshold == 0 {
			err = fmt.Errorf("%s: passes need a threshold of the cost huber", m.Label())
		}
		return nmf{b, m.Needs().TiesLabels}, err
	case factor.PCA:
		return pca{}, nil
	}
	reason := "it has no sums over samples that suffice for its basis"
	parts, composed := method.(factor.Composition)
	switch of := m.Needs(); {
	case of.Concept:
		reason = "its basis consists of samples, whose n×n inner products it needs"
	case of.NoModel, of.Memberships:
		reason = "it needs the similarities of all n×n pairs of samples"
	case of.TakesLinks, of.TiesLabels, composed && parts.AsParts().Penalties != nil:
		reason = "it needs links between any two samples, or their graph"
	}
	return nil, fmt.Errorf("%s cannot learn in passes: %s. Learn it from a sample of the rows, then use partwise assign or apply with --shard (passes learn nmf, nmf-kl, cnmf, cnmf-kl, kmeans and pca)", m.Label(), reason)
}

// inMemory are rows in memory.
type inMemory struct{ *mat.Dense }

func (x inMemory) Read(_ context.Context, from int, dst *mat.Dense) error {
	p, m := dst.Dims()
	dst.Copy(x.Slice(from, from+p, 0, m))
	return nil
}

func dims(x *mat.Dense) (r, c int) {
	if x == nil {
		return 0, 0
	}
	return x.Dims()
}

// nmf is NMF from the sums of factor.MiniBatch. With labels, its first pass adds up the labelled samples of each class.
// They are then weighted samples, one for each class, and passes add only unlabelled samples (see the tie of Parts).
type nmf struct {
	factor.MiniBatch
	labels bool
}

func (r nmf) begin(ctx context.Context, s *State, sample *mat.Dense) error {
	if r.labels {
		if s.Step = 0; len(s.Classes) == 0 {
			return errors.New("the method needs labels: write them into the shards by partwise features --labels")
		}
	}
	// Without rescaling, coefficients have a size of about 1, from which a pass starts.
	r.Samples = max(factor.DefaultBlock, s.Rank)
	res, err := r.Fit(ctx, inMemory{sample}, factor.Options{Rank: s.Rank, Seed: s.Seed, KeepScale: true})
	if err != nil {
		return fmt.Errorf("the start from a sample: %w", err)
	}
	s.Vectors = res.Basis
	return nil
}

// unlabelled are the rows of a shard without a label.
type unlabelled struct {
	Rows
	rows []int
}

func (u unlabelled) Dims() (n, m int) {
	_, m = u.Rows.Dims()
	return len(u.rows), m
}

func (u unlabelled) Read(ctx context.Context, from int, dst *mat.Dense) error {
	p, m := dst.Dims()
	for at := 0; at < p; {
		first, end := u.rows[from+at], at+1
		for end < p && u.rows[from+end] == first+end-at {
			end++
		}
		if err := u.Rows.Read(ctx, first, dst.Slice(at, end, 0, m).(*mat.Dense)); err != nil {
			return err
		}
		at = end
	}
	return nil
}

func (r nmf) sum(ctx context.Context, s *State, x Rows, sums *Sums) (err error) {
	if !r.labels {
		sums.Values, err = r.Sums(ctx, s.Vectors, x)
		return err
	}
	if !slices.Equal(x.Classes, s.Classes) {
		return fmt.Errorf("shard %s has the classes %q, but the first shard has %q: write all shards from one set of labels", x.Shard, x.Classes, s.Classes)
	}
	if s.Step == Learning {
		free := unlabelled{Rows: x}
		for i, l := range x.Labels {
			if l < 0 {
				free.rows = append(free.rows, i)
			}
		}
		sums.Values, err = r.Sums(ctx, s.Vectors, free)
		return err
	}
	m, c := s.Model.Columns, len(s.Classes)
	sums.Values = make([]float64, c*m+c+1) // the sum of each class, its size, and the own cost of all labelled samples
	return factor.EachBlock(ctx, x, m, func(from int, rows *mat.Dense) error {
		for i := range rows.RawMatrix().Rows {
			if l := x.Labels[from+i]; l >= 0 {
				row := rows.RawRowView(i)
				floats.Add(sums.Values[l*m:(l+1)*m], row)
				sums.Values[c*m+l]++
				sums.Values[c*m+c] += r.own(row, 1)
			}
		}
		return nil
	})
}

// own returns the part of the cost of weight equal samples with this sum that does not depend on the basis, except a part
// that is linear in the samples. Under Frobenius, row is the sum divided by √weight.
func (r nmf) own(row []float64, weight float64) (cost float64) {
	if r.Cost != factor.CostKL {
		return elementary.Dot(row, row)
	}
	for _, x := range row {
		if x > 0 {
			cost += x * elementary.Log(x/weight)
		}
	}
	return cost
}

func (r nmf) update(ctx context.Context, next *State, all *Sums) (objective float64, err error) {
	defer guard.Catch(&err)
	if next.Step != Learning {
		next.Step = Learning
		m, c := next.Model.Columns, len(next.Classes)
		next.Constant = all.Values[c*m+c]
		var rows []float64
		for l, size := range all.Values[c*m : c*m+c] {
			if size > 0 {
				row := all.Values[l*m : (l+1)*m]
				if r.Cost != factor.CostKL { // which is linear in the weight of a sample, as its sum is
					floats.Scale(1/math.Sqrt(size), row)
				}
				next.Constant -= r.own(row, size)
				rows = append(rows, row...)
			}
		}
		guard.FailIf(rows == nil, "no sample of the shards has a label")
		next.Fixed = mat.NewDense(len(rows)/m, m, rows)
		return 0, nil
	}
	if next.Fixed != nil {
		fixed := guard.Must(r.Sums(ctx, next.Vectors, inMemory{next.Fixed}))
		floats.Add(all.Values, fixed)
	}
	next.Vectors, err = r.Update(ctx, next.Vectors, all.Values)
	return all.Values[len(all.Values)-1] + next.Constant, err
}

func (r nmf) result(s *State) {
	s.Model.Result = &factor.Result{Basis: s.Vectors, Objective: s.Objective,
		Model: &factor.Additive{Cost: r.Cost, Exponent: r.Exponent, Threshold: r.Threshold, Basis: s.Vectors}}
}

func (r nmf) shape(s *State) (rows, columns int) { return s.Model.Columns, s.Rank }

// pca is PCA from the moments of the samples about the mean of the sample of rows, in one pass.
type pca struct{ factor.PCA }

func (pca) begin(_ context.Context, s *State, sample *mat.Dense) error {
	n, m := sample.Dims()
	s.Step, s.Vectors = 0, mat.NewDense(1, m, nil)
	for i := range n {
		floats.AddScaled(s.Vectors.RawRowView(0), 1/float64(n), sample.RawRowView(i))
	}
	return nil
}

func (r pca) sum(ctx context.Context, s *State, x Rows, sums *Sums) (err error) {
	if s.Step == Learning {
		return errors.New("PCA needs one pass only, which is done")
	}
	sums.Values, err = r.Moments(ctx, s.Vectors.RawRowView(0), x)
	return err
}

func (r pca) update(ctx context.Context, next *State, all *Sums) (float64, error) {
	model, left, err := r.FromMoments(ctx, next.Rank, next.Vectors.RawRowView(0), all.Values)
	if err != nil {
		return 0, err
	}
	next.Step, next.Done, next.Passes, next.Objective = Learning, true, 1, []float64{left}
	next.Fixed, next.Vectors = model.Projection, mat.NewDense(1, len(model.Mean), model.Mean)
	return left, nil
}

func (pca) result(s *State) {
	s.Model.Result = &factor.Result{Basis: s.Fixed, Objective: s.Objective,
		Model: &factor.Linear{Mean: s.Vectors.RawRowView(0), Projection: s.Fixed}}
}

func (pca) shape(s *State) (rows, columns int) { return 1, s.Model.Columns }

// kmeans is Lloyd's algorithm from a start by k-means|| (Bahmani et al. 2012): each of startPasses passes draws k samples
// with probabilities proportional to their costs, and another pass counts the samples near each drawn one; k-means++ on
// the means of these, weighted by the counts, gives the centres. A sample is drawn by a random number of its own, so that
// the draw does not depend on shards that are read at the same time.
type kmeans struct{ spec.Method }

const startPasses = 5

func (kmeans) begin(_ context.Context, s *State, _ *mat.Dense) error {
	s.Step = 0
	return nil
}

func (kmeans) sum(ctx context.Context, s *State, x Rows, sums *Sums) error {
	m := s.Model.Columns
	k, _ := dims(s.Vectors)
	values := make([]float64, cluster.SumsLength(k, m))
	draws := s.Step != Learning && s.Step < startPasses
	if sums.Keep = s.Rank; !draws {
		sums.Values, sums.Keep = values, 0
	}
	random := rng.New(s.Seed, "k-means||", s.Step, x.Shard)
	return factor.EachBlock(ctx, x, m, func(from int, rows *mat.Dense) (err error) {
		costs := slices.Repeat([]float64{1}, rows.RawMatrix().Rows)
		if s.Vectors != nil {
			if costs, err = s.Distance.AddSums(ctx, values, rows, s.Vectors, nil, s.typical()); err != nil {
				return fmt.Errorf("the samples from %d: %w", from+1, err)
			}
		}
		largest := math.Inf(1) // key of a sample that can be kept
		if draws && len(sums.Keys) == sums.Keep {
			largest = slices.Max(sums.Keys)
		}
		for i := 0; draws && i < len(costs); i++ {
			// The smallest of exponential numbers divided by costs is a draw by costs.
			if key := -elementary.Log(1-random.Float64()) / costs[i]; costs[i] > 0 && key < largest {
				sums.Keys, sums.Drawn = append(sums.Keys, key), append(sums.Drawn, rows.RawRowView(i)...)
			}
		}
		sums.prune()
		return nil
	})
}

// typical is the mean cost of a sample in the last pass, or 0.
func (r *Run) typical() float64 {
	if len(r.Objective) == 0 {
		return r.Constant
	}
	return r.Objective[len(r.Objective)-1] / float64(r.Samples)
}

func (kmeans) update(ctx context.Context, next *State, all *Sums) (cost float64, err error) {
	m := next.Model.Columns
	switch {
	case next.Step == Learning:
		typical := next.typical()
		c, spread := next.Distance.FromSums(all.Values, next.Vectors, typical)
		cost = all.Values[len(all.Values)-1]
		next.Vectors, next.Fixed = c.Points, mat.NewDense(next.Rank, cluster.SpreadLevels+1, nil)
		for j, size := range c.Sizes {
			copy(next.Fixed.RawRowView(j), spread.RawRowView(j))
			next.Fixed.Set(j, cluster.SpreadLevels, float64(size))
		}
		return cost, nil
	case next.Step < startPasses:
		drawn := all.Drawn
		if next.Vectors != nil {
			drawn = append(slices.Clone(next.Vectors.RawMatrix().Data), drawn...)
		}
		next.Step++
		next.Vectors = mat.NewDense(len(drawn)/m, m, drawn)
		return 0, nil
	}
	c, _ := next.Distance.FromSums(all.Values, next.Vectors, 0)
	weights := make([]float64, len(c.Sizes))
	for j, size := range c.Sizes {
		weights[j] = float64(size)
	}
	next.Step, next.Constant = Learning, all.Values[len(all.Values)-1]/float64(all.Samples)
	next.Vectors, err = next.Distance.Reduce(ctx, c.Points, weights, next.Rank, next.Seed)
	return 0, err
}

func (r kmeans) result(s *State) {
	if s.Fixed == nil || s.Words {
		return
	}
	g := &models.ModelGroups{Method: r.Method, Names: make([]string, s.Rank),
		Centres: &cluster.Centres{Distance: s.Distance, Points: s.Vectors}, Spread: mat.DenseCopyOf(s.Fixed.Slice(0, s.Rank, 0, cluster.SpreadLevels))}
	for j := range s.Rank {
		g.Centres.Sizes = append(g.Centres.Sizes, int(s.Fixed.At(j, cluster.SpreadLevels)))
	}
	s.Model.Groups = g
}

func (kmeans) shape(s *State) (rows, columns int) {
	switch s.Step {
	case Learning:
		return s.Rank, s.Model.Columns
	case 0:
		return 0, 0
	}
	return 0, s.Model.Columns
}
