// Package record defines the record of a trial, which is one line of an experiment's log, and reports whether a fit has
// converged.
package record

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Record is one finished trial, one line of the result log. Its JSON form is the log's format.
type Record struct {
	Trial string `json:"trial"` // a digest of the trial's data, settings and coordinates
	// Row is the rank if the rows of the tables are ranks, and 0 if they are numbers of classes.
	Row int `json:"row,omitempty"`
	// Classes, Rank, Repeat (from 0) and Method are the trial's coordinates. Rank is 0 for methods without a rank.
	Classes int    `json:"classes"`
	Rank    int    `json:"rank,omitempty"`
	Repeat  int    `json:"repeat"`
	Method  string `json:"method"`

	// Samples is the number of samples, Labelled the number of labelled ones among them, and Tested the number of
	// further samples that were classified.
	Samples  int `json:"samples"`
	Labelled int `json:"labelled"`
	Tested   int `json:"tested,omitempty"`

	// Scores holds the scores by the names of package eval. Scores over the unlabelled samples alone have " free" after
	// the name ("AC free").
	Scores map[string]float64 `json:"scores"`
	// Confusion counts test samples by class (rows) and predicted class (columns). Drawn holds the class of the data in
	// each row; nil means all classes in order.
	Confusion [][]int `json:"confusion,omitempty"`
	Drawn     []int   `json:"drawn,omitempty"`

	// Choice is the choice of the rank, for all methods of a draw; nil for a given rank.
	Choice *spec.RankChoice `json:"choice,omitempty"`

	// Tuned is the choice of the method's settings, or nil.
	Tuned *spec.Tuned `json:"tuned,omitempty"`

	// Groups is the number of clusters if it is not the number of classes. Count is its choice, for all methods of a
	// draw; nil for a given number.
	Groups int               `json:"groups,omitempty"`
	Count  *spec.CountChoice `json:"count,omitempty"`

	// Consensus is the mean consensus of the pairs in each cluster over the restarts of a factorisation.
	Consensus []float64 `json:"consensus,omitempty"`

	Iterations int    `json:"iterations,omitempty"` // 0 for methods without iterations
	Stop       string `json:"stop,omitempty"`       // a factor.Stop
	// Curve is the objective at some iterations, from 0 (the initial factors) to the last. It is empty for methods
	// without iterations.
	Curve    []Point  `json:"curve,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Build is the processor in records of earlier versions, whose results depended on it.
	Build string `json:"build,omitempty"`
}

// Point is the objective after an iteration, and the penalty term in it.
type Point struct {
	Iteration int     `json:"i"`
	Objective float64 `json:"o"`
	Penalty   float64 `json:"p,omitempty"` // 0 without a penalty
}

// A fit that ends before it meets a tolerance has not converged in two cases. Over the last tenth of its iterations,
// its objective fell by more than unconverged of its value. Or it fell by more than a tenth of its fall since the first
// iteration, and by more than atRest of its value, as on the initial plateau of multiplicative updates of concept
// factorisation. On faces, methods that this rule calls unconverged end 3 to 100 % above their final objective and up
// to 20 points of accuracy below their final answer; the others end within 4 %.
const (
	unconverged = 0.01
	atRest      = 1e-5
)

// relativeFall returns the relative fall of the objective over the last tenth of the iterations, and whether it is
// faster than before. It returns 0 for a converged fit.
func relativeFall(curve []Point) (share float64, faster bool) {
	if len(curve) < 2 {
		return 0, false
	}
	first, last := curve[1], curve[len(curve)-1]
	// The first iteration scales the objective to the data. Below a thousandth of that value the fit is exact, and
	// further falls do not matter.
	size := max(math.Abs(last.Objective), math.Abs(first.Objective)/1000)
	// Curves hold few points; the nearest earlier point stands for a tenth of the iterations ago.
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

// Unconverged returns a warning with the number of trials in which a method has not converged, or "".
func Unconverged(method string, trials []Record) string {
	short, most, iterations, pace := 0, 0.0, 0, ""
	for _, r := range trials {
		if r.Stop != string(factor.StopIterations) {
			continue
		}
		if share, faster := relativeFall(r.Curve); share > 0 {
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
	return fmt.Sprintf("%s did not converge within %d iterations%s: the objective still decreased by %s%.2g %% over the last tenth of the iterations%s; increase iterations",
		method, iterations, of, upTo, 100*most, pace)
}

// UnconvergedFit returns a warning that a fit has not converged, or "".
func UnconvergedFit(method string, res *factor.Result) string {
	return Unconverged(method, []Record{{Stop: string(res.Stop), Iterations: res.Iterations(), Curve: Thin(res.Objective, nil)}})
}

// keptPoints are the iterations that Thin keeps beside the last.
var keptPoints = func() (points []int) {
	for at := 0; at < math.MaxInt32; at = max(at+1, int(math.Ceil(float64(at)*1.12))) {
		points = append(points, at)
	}
	return points
}()

// KeepsPoint reports whether Thin keeps an iteration that is not the last.
func KeepsPoint(iteration int) bool {
	_, kept := slices.BinarySearch(keptPoints, iteration)
	return kept
}

// Thin returns the objective, and the penalty if any, at the first iterations, at about forty later ones, and at the
// last.
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
