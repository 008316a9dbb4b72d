package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// GroupCount is the number of groups of the samples of a draw. Its zero value is the number of classes.
type GroupCount struct {
	// From and To are the same number, or a range to choose from.
	From, To int
	// Auto chooses, without a range from 2 to 30, or a third of the samples.
	Auto bool
}

// DecodeSetting reads a number, a range such as 5..30, or auto.
func (c *GroupCount) DecodeSetting(v *settings.Value) (err error) {
	if *c = (GroupCount{Auto: true}); v.Text == autoText {
		return nil
	}
	c.From, c.To, err = interval(v.Text)
	if err != nil || c.From < 2 || c.To < c.From || c.To > maxClasses {
		return v.Errorf("%q is no number of groups; want one from 2 on, a range such as 5..30 or auto", v.Text)
	}
	c.Auto = strings.Contains(v.Text, "..")
	return nil
}

// String returns the form of an experiment file.
func (c GroupCount) String() string {
	switch {
	case !c.Auto:
		return strconv.Itoa(c.From)
	case c.To == 0:
		return autoText
	}
	return fmt.Sprintf("%d..%d", c.From, c.To)
}

// within returns the range for n samples of classes, which are all labelled or all not.
func (c GroupCount) within(n, classes int, labelled bool) (from, to int) {
	if c == (GroupCount{}) {
		return classes, classes
	}
	if from, to = c.From, c.To; to > 0 {
		return from, to
	}
	if from = 2; labelled {
		from = classes
	}
	return from, max(from, min(mostCounted, n/3))
}

// check returns an error for impossible numbers of groups of n samples.
func (c GroupCount) check(n, classes int, labelled bool) error {
	from, to := c.within(n, classes, labelled)
	switch {
	case labelled && from < classes:
		return fmt.Errorf("cluster: k is %s, and samples of %d classes have labels, each of which has a group of its own", c, classes)
	case c.Auto && n < leastOfCounted:
		return fmt.Errorf("cluster: k is %s, and of the %d samples that there may be no number of groups is chosen", c, n)
	case to >= n:
		return fmt.Errorf("cluster: k is %s, and there may be only %d samples", c, n)
	}
	return nil
}

// mostGap is above the largest difference of eigenvalues, which are from 0 to 2.
const mostGap = 2.01

// CountChoice is a chosen number of groups, and the reason.
type CountChoice struct {
	K int `json:"k"`
	// Gap holds the gaps of eigenvalues of From groups, From + 1, …: see cluster.EigenGaps.
	From int       `json:"from"`
	Gap  []float64 `json:"gap"`
}

// Check returns an error for parts of the choice that do not fit together.
func (c *CountChoice) Check() error {
	if c.From < 2 || len(c.Gap) == 0 || c.K < c.From || c.K-c.From >= len(c.Gap) || c.From+len(c.Gap) > maxClasses+1 || floats.Min(c.Gap) < 0 || floats.Max(c.Gap) > mostGap {
		return errors.New("a choice of the number of groups outside of its range")
	}
	return nil
}

// chooseCount chooses the number of groups of samples, a row each, or of 1,000 drawn ones, by the largest
// gap of eigenvalues.
func chooseCount(ctx context.Context, x mat.Matrix, from, to int, seed uint64) (*CountChoice, error) {
	if n, _ := x.Dims(); n > countSamples {
		x = selectRows(x, someRows(n, countSamples, nil, false, seed))
	}
	if n, _ := x.Dims(); to >= n {
		return nil, fmt.Errorf("choosing the number of groups: up to %d of the %d samples that are looked at", to, n)
	}
	gaps, err := cluster.EigenGaps(ctx, x, to)
	if err != nil {
		return nil, fmt.Errorf("choosing the number of groups: %w", err)
	}
	gaps = gaps[from-1:]
	return &CountChoice{K: from + floats.MaxIdx(gaps), From: from, Gap: gaps}, nil
}

// countGroups returns the number of groups of a draw, the same for all methods, and records it.
func (p *Plan) countGroups(ctx context.Context, d *drawn, seen *view, rec *Record) (int, error) {
	e := p.Experiment
	from, to := e.Cluster.K.within(len(d.rows), d.id.k, !e.Labels.None())
	if e.Cluster.K == (GroupCount{}) {
		return from, nil
	}
	rec.Groups = from
	if !e.Cluster.K.Auto {
		return from, nil
	}
	var err error
	if rec.Count, err = d.count.get(ctx, func() (*CountChoice, error) {
		return chooseCount(ctx, seen.x(), from, to, rng.Seed(e.Seed, "number of groups", d.id.k, d.id.repeat))
	}); err != nil {
		return 0, err
	}
	rec.Groups = rec.Count.K
	return rec.Groups, nil
}
