package pipeline

// Record is one finished trial, one line of the result log.
type Record struct {
	// Trial identifies the trial by its data, settings and coordinates.
	Trial string `json:"trial"`
	// Classes, Repeat (from 0) and Method are the trial's coordinates.
	Classes int    `json:"classes"`
	Repeat  int    `json:"repeat"`
	Method  string `json:"method"`

	Samples  int `json:"samples"`
	Labelled int `json:"labelled"`
	Rank     int `json:"rank,omitempty"`

	// Scores holds AC, NMI, ARI and purity over all samples, and the same
	// with "free" behind the name ("AC free") over the unlabelled ones where
	// there are labelled ones. All lie in [0, 1] (ARI in [-1, 1]).
	Scores map[string]float64 `json:"scores"`

	Iterations int    `json:"iterations,omitempty"`
	Stop       string `json:"stop,omitempty"`
	// Curve is the objective at some of the iterations, from 0 (the initial
	// factors) to the last; empty for methods without iterations.
	Curve    []Point  `json:"curve,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Point is the objective after so many iterations.
type Point struct {
	Iteration int     `json:"i"`
	Objective float64 `json:"o"`
}
