// Package record holds the record of a trial, one line of the log of an experiment, and tells whether a fit
// has converged.
package record

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Record is one finished trial, one line of the result log.
type Record struct {
	Trial string `json:"trial"` // Trial identifies the trial by its data, settings and coordinates
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

// A fit whose iterations ended before it met a tolerance has not converged where its objective fell,
// over the last tenth of them, by more than unconverged of its value; or by more than a tenth of its
// fall since the first iteration, and by more than atRest of its value. The second is so on the plateau
// at which multiplicative updates of concept factorisation begin. Of 14 methods on faces, those most of
// whose fits have not converged by this rule are 3 to 100 % above the objective that they reach in the
// end, and up to 20 points of accuracy below its answer; the others are within 4 %.
const (
	unconverged = 0.01
	atRest      = 1e-5
)

// falls returns by what share of its value the objective still fell, over the last tenth of the
// iterations, of a fit that has not converged, and whether that is faster than before; else 0.
func falls(curve []Point) (share float64, faster bool) {
	if len(curve) < 2 {
		return 0, false
	}
	first, last := curve[1], curve[len(curve)-1]
	// The first iteration brings the objective to the size of the data: a thousandth of that is an
	// exact fit, and what falls below does not matter.
	size := max(math.Abs(last.Objective), math.Abs(first.Objective)/1000)
	// Curves hold few points: the nearest one that lies so far back stands for the tenth.
	at := len(curve) - 2
	for at > 0 && 10*(last.Iteration-curve[at].Iteration) < last.Iteration {
		at--
	}
	fall := (curve[at].Objective - last.Objective) * float64(last.Iteration) / float64(10*(last.Iteration-curve[at].Iteration))
	share, faster = fall/size, 10*fall > first.Objective-last.Objective
	if share > unconverged || faster && share > atRest {
		return share, faster
	}
	return 0, false
}

// Unconverged says in how many of the trials of a method it had not converged, or nothing.
func Unconverged(method string, trials []Record) string {
	short, most, iterations, pace := 0, 0.0, 0, ""
	for _, r := range trials {
		if r.Stop != string(factor.StopIterations) {
			continue
		}
		if share, faster := falls(r.Curve); share > 0 {
			short, most, iterations = short+1, max(most, share), r.Iterations
			if faster {
				pace = ", and the decrease is accelerating"
			}
		}
	}
	if short == 0 {
		return ""
	}
	of, upTo := "", ""
	if len(trials) > 1 {
		of, upTo = fmt.Sprintf(" in %d of %s", short, phrase.Count(len(trials), "trial", "trials")), "up to "
	}
	return fmt.Sprintf("%s did not converge within %d iterations%s: the objective still decreased by %s%.2g %% over the last tenth of them%s; increase iterations",
		method, iterations, of, upTo, 100*most, pace)
}

// UnconvergedFit says that a fit had not converged, or nothing.
func UnconvergedFit(method string, res *factor.Result) string {
	return Unconverged(method, []Record{{Stop: string(res.Stop), Iterations: res.Iterations(), Curve: Thin(res.Objective, nil)}})
}

// keptPoints are the iterations that thin keeps beside the last.
var keptPoints = func() (points []int) {
	for at := 0; at < math.MaxInt32; at = max(at+1, int(math.Ceil(float64(at)*1.12))) {
		points = append(points, at)
	}
	return points
}()

// KeepsPoint tells whether thin keeps an iteration that is not the last.
func KeepsPoint(iteration int) bool {
	_, kept := slices.BinarySearch(keptPoints, iteration)
	return kept
}

// Thin keeps the objective, and the penalty in it where there is one, of the
// first iterations, of some forty between, and of the last.
func Thin(objective, penalty []float64) []Point {
	var out []Point
	for i, o := range objective {
		if KeepsPoint(i) || i == len(objective)-1 {
			point := Point{Iteration: i, Objective: o}
			if penalty != nil {
				point.Penalty = penalty[i]
			}
			out = append(out, point)
		}
	}
	return out
}
