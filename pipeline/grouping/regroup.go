package grouping

import (
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Regroup groups the same samples again with more labels and links, by [cluster.Corrected]. A method that learns from
// labels or links continues from its factors.
type Regroup struct {
	in        *input.Inputs
	model     *models.Model
	method    *fitting.Method // nil if nothing is factorised again
	res       *factor.Result  // the last result, nil at first
	points    mat.Matrix
	corrected *cluster.Corrected
}

// regroupIterations is the largest number of iterations of a continued method.
const regroupIterations = 20

// NewRegroup returns a Regroup of the inputs, which must be the samples of the model. The model must have groups.
func NewRegroup(ctx context.Context, in *input.Inputs, m *models.Model) (*Regroup, error) {
	if m.Groups == nil {
		return nil, errors.New("the model has no groups")
	}
	points, err := m.Represent(ctx, in)
	if err != nil {
		return nil, err
	}
	r := &Regroup{in: in, model: m}
	method := m.Groups.Method
	if !spec.OnFeatures(method.Name) && method.Name != "" && in.X != nil {
		resolved, err := fitting.Resolve(method, spec.Clustering, spec.Cluster{})
		if err != nil {
			return nil, err
		}
		if needs := resolved.Needs; needs.Labels || needs.TiesLabels || needs.Links {
			r.method = resolved
		}
	}
	if v, ok := points.(*mat.Dense); ok && m.Represents() {
		r.res = &factor.Result{Model: m.Result.Model, Basis: m.Result.Basis, Coefficients: v}
	}
	return r, r.setPoints(points)
}

// setPoints sets the points by which samples are compared.
func (r *Regroup) setPoints(points mat.Matrix) (err error) {
	r.points = points
	r.corrected, err = cluster.NewCorrected(points)
	return err
}

// Points returns the representation of the samples, one a row, by which they are compared.
func (r *Regroup) Points() mat.Matrix { return r.points }

// Covariance returns the covariance of rows i and j: how much a correction of one counts for the other.
func (r *Regroup) Covariance(i, j int) float64 { return r.corrected.Covariance(i, j) }

// Factorise updates the factors of a method that learns from labels or links. known is by rows of the inputs.
func (r *Regroup) Factorise(ctx context.Context, known factor.Known) error {
	if r.method == nil {
		return nil
	}
	given := newClassLabels(known.Labels, slices.Max(append(known.Labels, 0))+1)
	known.Labels = given.labels
	classes, needs := len(given.classes), r.method.Needs
	nothing := classes == 0 && len(known.MustLink)+len(known.CannotLink) == 0
	if nothing || needs.Labels && classes == 0 && !needs.Links || needs.CheckClasses(r.method.Label(), classSizes(given.labels, classes)) != nil {
		return nil
	}
	w := &fitting.Work{
		Method: r.method, In: r.in, X: func() mat.Matrix { return r.in.X }, Known: known, Best: true,
		Seed: func(step string) uint64 { return rng.Seed(0, step) },
	}
	rank := r.rank()
	if w.Start = r.start(); w.Start != nil {
		on := *r.method
		on.Iterations = regroupIterations
		if of, ok := on.Factoriser.(factor.SSNMF); ok {
			of.Initial = r.res.Association
			on.Factoriser = of
		}
		w.Method = &on
	}
	res, err := guard.Interruptible(ctx, func() (*factor.Result, error) { return w.Fit(ctx, rank) })
	if err != nil {
		return err
	}
	r.res = res
	return r.setPoints(res.Coefficients)
}

// rank returns the rank of the last result, or two basis vectors for each group.
func (r *Regroup) rank() int {
	if r.res != nil {
		_, rank := r.res.Coefficients.Dims()
		return rank
	}
	n, _ := r.in.Dims()
	k := len(r.model.Groups.Centres.Sizes)
	if r.model.Groups.By == spec.Largest {
		return k
	}
	return min(2*k, n)
}

// start returns the factors to continue from, or nil if the method cannot start from factors.
func (r *Regroup) start() *factor.Start {
	if r.res == nil || r.method.Needs.Direct {
		return nil
	}
	s := &factor.Start{Coefficients: r.res.Coefficients}
	switch of, parts := r.method.Factoriser.(factor.Composition); {
	case r.res.Association != nil:
	case !parts:
		return nil
	case of.AsParts().Basis == factor.BasisFree && r.res.Basis != nil:
		s.Basis = r.res.Basis
	case of.AsParts().Basis == factor.BasisConcept && r.res.Weights != nil:
		s.Weights = r.res.Weights
	default:
		return nil
	}
	return s
}

// Find corrects groups of the inputs' rows to k groups by labels and links: see [cluster.Corrected].
func (r *Regroup) Find(ctx context.Context, k int, groups []int, known factor.Known) (*cluster.Correction, error) {
	return r.corrected.Fit(ctx, k, groups, cluster.Known(known))
}

// Grouping returns corrected groups, numbered from 0 without gaps. With useLabels the set's classes are labels, and
// each class is one group.
func (r *Regroup) Grouping(ctx context.Context, groups []int, useLabels bool, links datasets.Links) (*Grouping, error) {
	g := Groups{Method: r.model.Groups.Method, UseLabels: useLabels, Links: links}
	how := spec.Cluster{Distance: r.model.Groups.Centres.Distance, By: r.model.Groups.By}
	if how.By == spec.Largest {
		how.By = "" // coefficients no longer name the groups
	}
	out := &Grouping{Groups: groups, Method: r.model.Method, Result: r.res, Cluster: how, Links: links, settings: g.Method}
	if r.res != nil {
		out.Rank = r.rank()
	}
	var given classLabels
	if useLabels {
		given = newClassLabels(r.in.Labels(), len(r.in.Set.Classes))
	}
	return out, g.addScores(ctx, r.in, out, r.points, given)
}
