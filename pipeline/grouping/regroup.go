package grouping

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Regrouped returns other groups of the samples of a model, numbered from 0 without gaps. points is what m.Represent
// returns for the inputs. With useLabels the set's classes are labels, and each class is one group.
func Regrouped(ctx context.Context, in *input.Inputs, m *models.Model, points mat.Matrix, groups []int, useLabels bool, links datasets.Links) (*Grouping, error) {
	g := Groups{Method: m.Groups.Method, UseLabels: useLabels, Links: links}
	how := spec.Cluster{Distance: m.Groups.Centres.Distance, By: m.Groups.By}
	if how.By == spec.Largest {
		how.By = "" // coefficients no longer name the groups
	}
	out := &Grouping{Groups: groups, Method: m.Method, Cluster: how, Links: links, settings: g.Method}
	if v, ok := points.(*mat.Dense); ok && m.Represents() {
		out.Result = &factor.Result{Model: m.Result.Model, Basis: m.Result.Basis, Coefficients: v}
		_, out.Rank = v.Dims()
	}
	var given classLabels
	if useLabels {
		given = newClassLabels(in.Labels(), len(in.Set.Classes))
	}
	return out, g.addScores(ctx, in, out, points, given)
}
