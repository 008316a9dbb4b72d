package grouping

import (
	"context"
	"errors"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// CheckParts rejects settings that Parts does not support.
func (g Groups) CheckParts() error {
	switch {
	case !spec.OnFeatures(g.Method.Name):
		return errors.New("needs a method that clusters features, such as kmeans")
	case g.UseLabels || !g.Links.None():
		return errors.New("not with labels or links, which may join two parts")
	case g.Batch > 0:
		return errors.New("not with batches")
	case g.MinSize > 0:
		return errors.New("not with min-size, whose group Others may join two parts")
	}
	return nil
}

// fewest is the smallest number of images of a part whose number of groups is chosen; smaller parts are one group.
const fewest = 6

// findInParts groups each part by itself. Groups have the order of their parts.
func (g Groups) findInParts(ctx context.Context, all *input.Inputs, progress *input.Reporter) (*Grouping, error) {
	if err := g.CheckParts(); err != nil {
		return nil, err
	}
	w, err := g.work(all, progress)
	if err != nil {
		return nil, err
	}
	out := &Grouping{Groups: make([]int, len(all.Rows)), Method: w.Label(), Cluster: w.Cluster, settings: g.Method}
	total := 0
	for part := range slices.Max(g.Parts) + 1 {
		rows := slices.DeleteFunc(matrix.AllRows(all.X), func(i int) bool { return g.Parts[i] != part })
		if len(rows) == 0 {
			continue
		}
		in := &input.Inputs{Set: all.Set, Features: all.Features, X: matrix.SelectRows(all.X, rows), Images: all.Images, Rows: matrix.Take(all.Rows, rows)}
		of := g
		of.Parts, of.Copies = nil, copiesAmong(rows, g.Copies)
		if g.K == 0 && len(rows) >= fewest {
			count := g.Count
			count.To = min(count.To, len(rows))
			if _, err := of.ChooseCount(ctx, in, count, nil); err != nil {
				return nil, in.NameRows(err, nil)
			}
		}
		of.K = min(of.K, len(rows))
		found := &Grouping{Groups: make([]int, len(rows))}
		if of.K > 1 {
			var err error
			if found, err = of.find(ctx, in, progress); err != nil {
				return nil, in.NameRows(err, nil)
			}
		}
		for at, i := range rows {
			out.Groups[i] = total + found.Groups[at]
		}
		total += slices.Max(found.Groups) + 1
		out.Notes = lists.Unique(append(out.Notes, found.Notes...))
	}
	return out, g.addScores(ctx, all, out, all.X, classLabels{})
}

// copiesAmong returns the copies among some rows, by their index in rows. The original is the first of its copies if it is
// not among them itself.
func copiesAmong(rows, copies []int) (of []int) {
	if copies == nil {
		return nil
	}
	place, original := map[int]int{}, map[int]int{}
	for at, i := range slices.Backward(rows) {
		place[i], original[copies[i]] = at, at
	}
	for _, i := range rows {
		if at, ok := place[copies[i]]; ok {
			of = append(of, at)
		} else {
			of = append(of, original[copies[i]])
		}
	}
	return of
}
