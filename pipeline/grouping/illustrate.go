package grouping

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Model returns the model of a grouping of the inputs.
func (g *Grouping) Model(ctx context.Context, in *input.Inputs) (*models.Model, error) {
	m, err := models.NewModel(ctx, in, g.Method, g.Result)
	if err != nil {
		return nil, err
	}
	points := in.X
	switch {
	case in.Blocks != nil:
		points = g.Result.Coefficients // which are the best
	case m.Represents():
		if points, err = factor.Represent(ctx, g.Result.Model, in.X); err != nil {
			return nil, err
		}
	}
	of := &models.ModelGroups{Method: g.settings, By: g.Cluster.By, Groups: g.Groups}
	if of.Centres, err = cluster.NewCentres(g.Cluster.Distance, points, g.Groups); err != nil {
		return nil, err
	}
	if of.Spread, err = of.Centres.Spread(points, g.Groups); err != nil {
		return nil, err
	}
	of.Names = make([]string, len(of.Centres.Sizes))
	for i, class := range g.GroupClasses {
		if class >= 0 {
			of.Names[i] = in.Set.Classes[class]
		}
	}
	if m.Represents() && g.Cluster.By == spec.Largest {
		of.Columns = models.LargestColumns(g.Result.Coefficients, g.Groups)
	}
	of.Samples = models.ContentsOf(in)
	m.Groups = of
	return m, nil
}

// Illustrate shows the visual words and the result on some photographs of each group. It returns nil for
// features that are neither visual words nor those of places.
func (g *Grouping) Illustrate(ctx context.Context, in *input.Inputs) (*models.Illustrations, error) {
	if !models.Illustrates(in) {
		return nil, nil
	}
	var fitted []models.Learned
	if g.Result != nil {
		fitted = []models.Learned{{Method: g.Method, Model: g.Result.Model}}
	}
	return models.Illustrate(ctx, in, &input.View{X: func() mat.Matrix { return in.X }, Learned: in.Learned}, matrix.Range(len(in.Rows)), g.Groups, fitted)
}
