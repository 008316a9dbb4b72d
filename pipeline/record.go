package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/factor"
)

// Record is one finished trial, one line of the result log.
type Record struct {
	// Trial identifies the trial by its data, settings and coordinates.
	Trial string `json:"trial"`
	// Row is the rank where the rows of the tables are ranks, and 0 where they
	// are numbers of classes.
	Row int `json:"row,omitempty"`
	// Classes, Rank, Repeat (from 0) and Method are the trial's coordinates.
	// The rank is 0 for methods that have none.
	Classes int    `json:"classes"`
	Rank    int    `json:"rank,omitempty"`
	Repeat  int    `json:"repeat"`
	Method  string `json:"method"`

	// Samples is how many samples there were, Labelled how many of them had
	// their label told, and Tested how many more were classified.
	Samples  int `json:"samples"`
	Labelled int `json:"labelled"`
	Tested   int `json:"tested,omitempty"`

	// Scores holds the scores of eval by their names; those over the unlabelled
	// samples, where some are labelled, have "free" behind the name ("AC free").
	Scores map[string]float64 `json:"scores"`
	// Confusion counts classified samples by class and by what they were taken
	// for, and Drawn says which classes these are where not all were drawn.
	Confusion [][]int `json:"confusion,omitempty"`
	Drawn     []int   `json:"drawn,omitempty"`

	// Choice says how the rank was chosen, where it was not told: one for all methods of a draw.
	Choice *RankChoice `json:"choice,omitempty"`

	// Groups is how many groups were asked for where these are not the classes, and Count how the
	// number was chosen, where it was not told: one for all methods of a draw.
	Groups int          `json:"groups,omitempty"`
	Count  *CountChoice `json:"count,omitempty"`

	Iterations int    `json:"iterations,omitempty"`
	Stop       string `json:"stop,omitempty"`
	// Curve is the objective at some of the iterations, from 0 (the initial
	// factors) to the last; empty for methods without iterations.
	Curve    []Point  `json:"curve,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Build named the processor in records of earlier versions, whose results depended on it.
	Build string `json:"build,omitempty"`
}

// Point is the objective after Iteration iterations, and how much of it is the
// penalty of methods that have one.
type Point struct {
	Iteration int     `json:"i"`
	Objective float64 `json:"o"`
	Penalty   float64 `json:"p,omitempty"`
}

// mostGap is above the largest difference of eigenvalues, which lie from 0 to 2.
const mostGap = 2.01

// CountChoice is a number of groups that was chosen, and why.
type CountChoice struct {
	K int `json:"k"`
	// Gap holds the gaps of eigenvalues of From groups, From + 1, …: see cluster.EigenGaps.
	From int       `json:"from"`
	Gap  []float64 `json:"gap"`
}

// Check reports parts of the choice that do not fit together.
func (c *CountChoice) Check() error {
	if c.From < 2 || len(c.Gap) == 0 || c.K < c.From || c.K-c.From >= len(c.Gap) || c.From+len(c.Gap) > maxClasses+1 || floats.Min(c.Gap) < 0 || floats.Max(c.Gap) > mostGap {
		return errors.New("a choice of the number of groups outside of its range")
	}
	return nil
}

const mostMisfit = 1e30 // that a record may hold

// RankChoice is a rank that was chosen, and why.
type RankChoice struct {
	Rank  int               `json:"rank"`
	By    factor.RankRule   `json:"by"`
	Curve *factor.RankCurve `json:"curve"`
}

// String says which rank was chosen among which, and by what.
func (c RankChoice) String() string {
	ranks := c.Curve.Rank
	at := c.Curve.Best(c.By)
	return fmt.Sprintf("rank %d, chosen from %d to %d by %s (held-out misfit %.1f %%, stability %.2f)",
		c.Rank, ranks[0], ranks[len(ranks)-1], c.By, 100*c.Curve.Misfit[at], c.Curve.Stability[at])
}

// AtLimit tells whether the rank is the largest that was tried, and below the most that the data have.
func (c RankChoice) AtLimit(most int) bool {
	return c.Rank < most && c.Rank == slices.Max(c.Curve.Rank)
}

// AtLimitNote says so, of how many draws where there are several.
func (c RankChoice) AtLimitNote(draws string) string {
	return fmt.Sprintf("rank: auto ended at its limit%s: %d is the largest rank that was tried, and a larger one may be better, as in among=2..%d", draws, c.Rank, 2*c.Rank)
}

// Check reports parts of the choice that are missing or do not fit together.
func (c *RankChoice) Check() error {
	n := 0
	if c.Curve != nil {
		n = len(c.Curve.Rank)
	}
	if n == 0 || n > maxClasses || len(c.Curve.Misfit) != n || len(c.Curve.Deviation) != n || len(c.Curve.Stability) != n {
		return errors.New("a choice of the rank without a curve")
	}
	within := func(v, most float64) bool { return v >= 0 && v <= most }
	for i, k := range c.Curve.Rank {
		if k < 1 || k > maxClasses || i > 0 && k <= c.Curve.Rank[i-1] || !within(c.Curve.Misfit[i], mostMisfit) || !within(c.Curve.Deviation[i], mostMisfit) || !within(c.Curve.Stability[i], 1) {
			return fmt.Errorf("a choice of the rank among %v", c.Curve.Rank)
		}
	}
	return nil
}
