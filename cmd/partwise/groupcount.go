package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// groupCount is how many groups there are to be: a number, one to be chosen from a
// range, one to be chosen, or nothing said.
type groupCount struct {
	text     string
	number   int // or 0
	from, to int // or 0
}

func (k *groupCount) String() string { return k.text }
func (k *groupCount) Type() string   { return "k" }

// Set reads "10", "5..30" or "auto".
func (k *groupCount) Set(text string) (err error) {
	*k = groupCount{text: text}
	if text == "auto" {
		return nil
	}
	first, last, isRange := strings.Cut(text, "..")
	if !isRange {
		if k.number, err = strconv.Atoi(text); err == nil && k.number < 2 {
			err = errFewGroups
		}
		return err
	}
	if k.from, err = strconv.Atoi(first); err != nil {
		return err
	}
	if k.to, err = strconv.Atoi(last); err != nil {
		return err
	}
	switch {
	case k.from < 2:
		return errFewGroups
	case k.to < k.from:
		return errNoRange
	}
	return nil
}

var (
	errFewGroups = errors.New("there must be 2 groups or more")
	errNoRange   = errors.New("the range ends before it begins")
)

// chosen tells whether the number is to be chosen. Where nothing was said it is that of the
// classes that the data have, if none are told.
func (k *groupCount) chosen(g pipeline.Groups, classes []string) bool {
	return k.number == 0 && (k.text != "" || g.UseLabels || len(classes) < 2)
}

// check finds what cannot be asked of a set before its features are made.
func (k *groupCount) check(g pipeline.Groups, set *datasets.Set) error {
	if !k.chosen(g, set.Classes) {
		return g.Check(set)
	}
	numbers := []int{k.from, k.to}
	if k.from == 0 {
		rows := make([]int, set.Len())
		for i := range rows {
			rows[i] = i
		}
		least, _ := g.CountRange(set, rows)
		numbers = []int{least}
	}
	for _, n := range numbers {
		g.K = n
		if err := g.Check(set); err != nil {
			return err
		}
	}
	return g.CheckCount(set.Len())
}

// choose chooses the number of groups of g where none is said. The curve is nil where
// it was not chosen.
func (k *groupCount) choose(cmd *cobra.Command, g *pipeline.Groups, in *inputs) (*pipeline.CountCurve, error) {
	if !k.chosen(*g, in.Set.Classes) {
		return nil, nil
	}
	from, to := k.from, k.to
	if from == 0 {
		from, to = g.CountRange(in.Set, in.Rows)
	}
	working := &stages{w: cmd.ErrOrStderr()}
	curve, err := g.CountCurve(cmd.Context(), in.Inputs, from, to, working.show)
	working.end()
	if err != nil {
		return nil, stopped(cmd.Context(), err, "counting groups", in.kept())
	}
	best := curve.Best()
	g.K = curve.K[best]
	fmt.Fprintf(cmd.OutOrStdout(), "%d groups, chosen from %d to %d by the gap of eigenvalues (%.2f; silhouette %.2f, stability %.2f)\n", g.K, from, to, curve.Gap[best], curve.Silhouette[best], curve.Stability[best])
	return curve, nil
}
