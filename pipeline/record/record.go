// Package record holds the record of a trial, one line of the log of an experiment, and tells whether a fit
// has converged.
package record

import "github.com/seed4492f2cd/partwise/pipeline/spec"

// Record is one finished trial, one line of the result log.
type Record struct {
	// Trial identifies the trial by its data, settings and coordinates.
	Trial string `json:"trial"`
	// Row is the rank where the rows of the tables are ranks, and 0 where they are numbers of classes.
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
	Choice *spec.RankChoice `json:"choice,omitempty"`

	// Groups is how many groups were asked for where these are not the classes, and Count how the
	// number was chosen, where it was not told: one for all methods of a draw.
	Groups int               `json:"groups,omitempty"`
	Count  *spec.CountChoice `json:"count,omitempty"`

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
