package record

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

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
				pace = ", faster than before"
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
	return fmt.Sprintf("%s had not converged after %d iterations%s: its objective still fell by %s%.2g %% over the last tenth of them%s; raise iterations",
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
