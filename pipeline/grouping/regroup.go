package grouping

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Regroup suggests other groups for the same samples under more labels and links, by [cluster.Corrected].
type Regroup struct {
	in        *input.Inputs
	model     *models.Model
	res       *factor.Result // of the model, or nil
	points    mat.Matrix
	corrected *cluster.Corrected
}

// NewRegroup returns a Regroup of the inputs, which must be the samples of the model. The model must have groups.
func NewRegroup(ctx context.Context, in *input.Inputs, m *models.Model) (*Regroup, error) {
	if m.Groups == nil {
		return nil, errors.New("the model has no groups")
	}
	r := &Regroup{in: in, model: m}
	var err error
	if r.points, err = m.Represent(ctx, in); err != nil {
		return nil, err
	}
	if v, ok := r.points.(*mat.Dense); ok && m.Represents() {
		r.res = &factor.Result{Model: m.Result.Model, Basis: m.Result.Basis, Coefficients: v}
	}
	r.corrected, err = cluster.NewCorrected(r.points)
	return r, err
}

// Points returns the representation of the samples, one a row, by which they are compared.
func (r *Regroup) Points() mat.Matrix { return r.points }

// Covariance returns the covariance of rows i and j: how much a correction of one counts for the other.
func (r *Regroup) Covariance(i, j int) float64 { return r.corrected.Covariance(i, j) }

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
		_, out.Rank = r.res.Coefficients.Dims()
	}
	var given classLabels
	if useLabels {
		given = newClassLabels(r.in.Labels(), len(r.in.Set.Classes))
	}
	return out, g.addScores(ctx, r.in, out, r.points, given)
}
