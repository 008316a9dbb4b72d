package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// Level is the probability, at most, that any claim of a recipe is decided wrongly by chance,
// however many looks are taken.
const Level = significance.Level

// Look returns at how many draws claims are judged: 10, 20, 40 and so on.
func Look(i int) int { return 10 << i }

// Looks returns the looks up to a number of draws.
func Looks(draws int) (looks []int) {
	for i := 0; i < 20 && Look(i) <= draws; i++ {
		looks = append(looks, Look(i))
	}
	return looks
}

// levelAt is what a look may take of a level: a half, a quarter and so on, which add up to less
// than the whole. The schedule is the same whatever the draws and the budget of a run, so that a
// run that goes on keeps it.
func levelAt(look int, level float64) float64 { return math.Ldexp(level, -look-1) }

// Verdict is what was found of a claim.
type Verdict int

// The verdicts. Open is of claims that the draws do not decide.
const (
	Open Verdict = iota
	Holds
	Fails
)

func (v Verdict) String() string { return [...]string{"not decided", "holds", "does not hold"}[v] }

// Place says where a printed value lies.
type Place int

// The places: nowhere where there is no printed value or too little to compare it with, in the
// interval in which a mean of as many draws as the paper's lies, outside it, or outside it
// but in that of a reading.
const (
	Nowhere Place = iota
	Inside
	Outside
	Depends
)

func (p Place) String() string {
	return [...]string{"", "inside", "outside", "depends on what the paper leaves unsaid"}[p]
}

// Run is what was computed of a protocol or a variant.
type Run struct {
	Records []pipeline.Record
	// Classes is how many classes the set has.
	Classes int
}

// Estimate is a mean over draws with an interval.
type Estimate struct {
	Mean, Low, High float64
	// HasInterval is false where the draws do not tell their spread.
	HasInterval bool
	Draws       int
}

// Outcome is what was found of a recipe.
type Outcome struct {
	Recipe *Recipe
	Claims []ClaimOutcome
	Tables [][]CellOutcome
	// Draws is the number of whole draws of the protocol.
	Draws int
}

// ClaimOutcome is what was found of a claim.
type ClaimOutcome struct {
	*Claim
	Verdict Verdict
	// Against is the method of Over that decided, or the one with the least difference.
	Against string
	// Here is the difference in the unit of scores or iterations, at the look that decided or the last
	// one, with an interval for this set, of the level of the look; Wider is its interval for
	// Beyond, which takes into account that draws overlap.
	Here, Wider Estimate
	Beyond      string
	// Printed says where the printed gain lies, and Readings what readings give.
	Printed  Place
	Readings []ReadingOutcome
}

// CellOutcome is what was found of a cell of a table.
type CellOutcome struct {
	Row     int
	Method  string
	Printed float64
	// Here has the interval in which a mean of as many draws as the paper's is to lie.
	Here     Estimate
	Place    Place
	Readings []ReadingOutcome
}

// ReadingOutcome is what a reading gives in place of a value or a claim.
type ReadingOutcome struct {
	Name  string
	Value float64
	// Gives tells that the printed value is inside its interval, or that the claim holds.
	Gives bool
}

// Judge holds what was computed against what is printed. The runs are by the names of variants
// and readings, the protocol's by "".
func (r *Recipe) Judge(runs map[string]Run) *Outcome {
	out := &Outcome{Recipe: r}
	comparisons, values := 0, 0
	for _, c := range r.Claims {
		comparisons += max(1, len(c.others())*len(c.rows()))
		if c.Gain != 0 {
			values++
		}
	}
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			for _, v := range row.Are {
				if v != 0 {
					values++
				}
			}
		}
	}
	whole, level := Level/float64(comparisons), 1-Level/float64(max(1, values))
	for i := range r.Claims {
		out.Claims = append(out.Claims, r.judgeClaim(&r.Claims[i], runs, whole, level))
	}
	for _, t := range r.Tables {
		var cells []CellOutcome
		for _, row := range t.Rows {
			for m, printed := range row.Are {
				if printed != 0 {
					cells = append(cells, r.judgeCell(CellOutcome{Row: row.At, Method: t.Methods[m], Printed: printed}, t.Score, runs, level))
				}
			}
		}
		out.Tables = append(out.Tables, cells)
	}
	out.Draws = runs[""].whole()
	return out
}

// Decided tells whether all claims are.
func (o *Outcome) Decided() bool {
	return !slices.ContainsFunc(o.Claims, func(c ClaimOutcome) bool { return c.Verdict == Open })
}

// Surprising tells whether something is not as it is printed, so that readings are of use.
func (o *Outcome) Surprising() bool {
	for _, c := range o.Claims {
		if c.Verdict == Fails || c.Printed == Outside {
			return true
		}
	}
	for _, cells := range o.Tables {
		if slices.ContainsFunc(cells, func(c CellOutcome) bool { return c.Place == Outside }) {
			return true
		}
	}
	return false
}

func (r *Recipe) judgeClaim(c *Claim, runs map[string]Run, whole, level float64) ClaimOutcome {
	out := ClaimOutcome{Claim: c}
	run := runs[c.In]
	others := c.others()
	if len(others) == 0 {
		others = []string{""} // the claim is about iterations
	}
	for look := 0; out.Verdict == Open; look++ {
		at := levelAt(look, whole)
		var all []ClaimOutcome
		for _, other := range others {
			// At some of the rows is at the one with the largest difference, and at all where there is one.
			var rows []ClaimOutcome
			for _, row := range c.rows() {
				a, b := run.paired(row, other, "", Look(look))
				if len(a) < Look(look) {
					return r.read(out, runs, whole, level)
				}
				draws := run.draws(row)
				one := ClaimOutcome{
					Claim: c, Verdict: row.verdict(a, b, at), Against: other,
					Here:  estimate(significance.NewResampled(a, b, 0), 1-at),
					Wider: estimate(significance.NewResampled(a, b, draws.Ratio()), 1-at), Beyond: draws.Beyond(),
				}
				if c.Gain != 0 {
					d := differences(a, b)
					one.Printed = place(c.Gain/100, r.predict(d, d, level))
				}
				if c.Some {
					one.Against = fmt.Sprintf("%s at %d", other, row.At[0])
				}
				rows = append(rows, one)
			}
			all = append(all, slices.MaxFunc(rows, func(a, b ClaimOutcome) int {
				return cmp.Or(cmp.Compare(some[a.Verdict], some[b.Verdict]), cmp.Compare(a.Here.Mean, b.Here.Mean))
			}))
		}
		out = slices.MinFunc(all, func(a, b ClaimOutcome) int { return cmp.Compare(a.Here.Mean, b.Here.Mean) })
		// It holds if it does so over each, and fails if it does so over any.
		for _, one := range all {
			switch {
			case one.Verdict == Fails && out.Verdict != Fails:
				out = one
			case one.Verdict == Open && out.Verdict == Holds:
				out.Verdict = Open
			}
		}
	}
	return r.read(out, runs, whole, level)
}

// some orders verdicts: a claim of some rows holds where it does at one, and fails where it does at all.
var some = [...]int{Fails: 0, Open: 1, Holds: 2}

// rows returns the claim, or for a claim of some rows one for each of them.
func (c *Claim) rows() (rows []*Claim) {
	if !c.Some {
		return []*Claim{c}
	}
	for _, at := range c.At {
		row := *c
		row.At = pipeline.Classes{at}
		rows = append(rows, &row)
	}
	return rows
}

// verdict judges the claim over one method.
func (c *Claim) verdict(a, b []float64, level float64) Verdict {
	shifted := make([]float64, len(b))
	for i := range b {
		shifted[i] = b[i] + c.Gain/200 // half of what is printed, which is in points
	}
	d := significance.NewResampled(a, shifted, 0)
	switch {
	case d.P() >= level:
		return Open
	case d.Mean > 0:
		return Holds
	}
	return Fails
}

// read looks for readings under which a claim that does not hold here does, or under which its gain is what
// is printed.
func (r *Recipe) read(out ClaimOutcome, runs map[string]Run, whole, level float64) ClaimOutcome {
	if out.Within > 0 || out.Some || out.Verdict != Fails && out.Printed != Outside {
		return out
	}
	for _, v := range r.Readings {
		run, suffix := runs[v.Name], ""
		if v.Free {
			run, suffix = runs[out.In], " free"
		} else if out.In != "" {
			continue // a reading is of the protocol
		}
		draws := Look(0)
		if v.Free {
			draws = out.Here.Draws
		}
		worst := ReadingOutcome{Name: v.Name, Value: math.Inf(1), Gives: true}
		for _, other := range out.others() {
			a, b := run.paired(out.Claim, other, suffix, draws)
			if len(a) < draws {
				worst.Value = math.Inf(1)
				break
			}
			if out.Gain == 0 {
				worst.Value = min(worst.Value, significance.NewResampled(a, b, 0).Mean)
				worst.Gives = worst.Gives && out.Claim.verdict(a, b, levelAt(0, whole)) == Holds
				continue
			}
			mainA, mainB := runs[out.In].paired(out.Claim, other, "", out.Here.Draws)
			e := r.predict(differences(a, b), differences(mainA, mainB), level)
			worst.Value = min(worst.Value, e.Mean)
			worst.Gives = worst.Gives && place(out.Gain/100, e) == Inside
		}
		if !math.IsInf(worst.Value, 1) {
			out.Readings = append(out.Readings, worst)
			if worst.Gives && out.Gain != 0 {
				out.Printed = Depends
			}
		}
	}
	return out
}

func (r *Recipe) judgeCell(out CellOutcome, score string, runs map[string]Run, level float64) CellOutcome {
	at := pipeline.Classes{out.Row}
	if out.Row == 0 {
		at = nil
	}
	main, _ := runs[""].values(out.Method, at, scored(score), runs[""].whole())
	out.Here = r.predict(main, main, level)
	out.Place = place(out.Printed, out.Here)
	if out.Place != Outside {
		return out
	}
	for _, v := range r.Readings {
		run, suffix, draws := runs[v.Name], "", Look(0)
		if v.Free {
			run, suffix, draws = runs[""], " free", len(main)
		}
		values, _ := run.values(out.Method, at, scored(score+suffix), draws)
		if len(values) < min(draws, len(main)) {
			continue
		}
		e := r.predict(values, main, level)
		gives := place(out.Printed, e) == Inside
		out.Readings = append(out.Readings, ReadingOutcome{v.Name, e.Mean, gives})
		if gives {
			out.Place = Depends
		}
	}
	return out
}

// predict estimates the mean of values with the interval in which a mean of as many draws as the paper's
// is to lie. Where they are of fewer draws than those of the protocol, main, they are the protocol's and the
// difference in the draws that both have: a reading that changes nothing then has
// the protocol's interval and not a wider one.
func (r *Recipe) predict(values, main []float64, level float64) Estimate {
	paper := 1 / float64(r.Draws)
	if len(values) >= len(main) {
		return estimate(significance.NewResampled(values, make([]float64, len(values)), paper), level)
	}
	e := estimate(significance.NewResampled(main, make([]float64, len(main)), paper), level)
	change := estimate(significance.NewResampled(values, main[:len(values)], 0), level)
	reach := elementary.Hypot((e.High-e.Low)/2, (change.High-change.Low)/2)
	e.Mean, e.Draws = e.Mean+change.Mean, len(values)
	e.Low, e.High = e.Mean-reach, e.Mean+reach
	return e
}

func differences(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

func place(printed float64, e Estimate) Place {
	switch {
	case !e.HasInterval:
		return Nowhere
	case printed >= e.Low && printed <= e.High:
		return Inside
	}
	return Outside
}

func estimate(d significance.Resampled, level float64) Estimate {
	e := Estimate{Mean: d.Mean, Draws: d.N}
	e.Low, e.High, e.HasInterval = d.Interval(level)
	return e
}

// of is a value of a record, which not all have.
type of func(pipeline.Record) (float64, bool)

func scored(name string) of {
	return func(r pipeline.Record) (float64, bool) {
		v, ok := r.Scores[name]
		return v, ok
	}
}

// settled is the share by which an objective is above its last value, at most, where a method has
// converged.
const settled = 0.01

// iterations is after how many a method has converged.
func iterations(r pipeline.Record) (float64, bool) {
	if len(r.Curve) == 0 {
		return 0, false
	}
	last := r.Curve[len(r.Curve)-1].Objective
	for _, p := range r.Curve {
		if p.Objective <= last+settled*math.Abs(last) {
			return float64(p.Iteration), true
		}
	}
	return 0, false
}

// rowOf is the row of the tables that a record is in.
func rowOf(r pipeline.Record) int {
	if r.Row > 0 {
		return r.Row
	}
	return r.Classes
}

// values are those of the first draws of a method, means over the rows at, all where there are none; a
// draw counts where the method has all of them. Each comes with its repeat.
func (r Run) values(method string, at pipeline.Classes, value of, draws int) (values []float64, repeats []int) {
	rows := at
	if len(rows) == 0 {
		for _, rec := range r.Records {
			if row := rowOf(rec); !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
	}
	sums := make([][]float64, draws)
	for _, rec := range r.Records {
		if rec.Method == method && rec.Repeat < draws && slices.Contains(rows, rowOf(rec)) {
			if v, ok := value(rec); ok {
				sums[rec.Repeat] = append(sums[rec.Repeat], v)
			}
		}
	}
	for repeat, of := range sums {
		if len(rows) > 0 && len(of) == len(rows) {
			mean, _ := eval.MeanSD(of)
			values, repeats = append(values, mean), append(repeats, repeat)
		}
	}
	return values, repeats
}

// paired are the values of the claim's method and of another in the same draws, that of which the claim
// says that it is above first.
func (r Run) paired(c *Claim, other, suffix string, draws int) (a, b []float64) {
	if c.Within > 0 {
		values, _ := r.values(c.Method, c.At, iterations, draws)
		for _, v := range values {
			a, b = append(a, float64(c.Within)), append(b, v)
		}
		return a, b
	}
	overAt := c.OverAt
	if len(overAt) == 0 {
		overAt = c.At
	}
	value := scored(c.Score + suffix)
	a, in := r.values(c.Method, c.At, value, draws)
	b, inOther := r.values(other, overAt, value, draws)
	if !slices.Equal(in, inOther) {
		return nil, nil
	}
	if len(c.Than) > 0 {
		less, in1 := r.values(c.Method, c.Than, value, draws)
		lessOther, in2 := r.values(other, c.Than, value, draws)
		if !slices.Equal(in, in1) || !slices.Equal(in, in2) {
			return nil, nil
		}
		for i := range a {
			a[i], b[i] = a[i]-less[i], b[i]-lessOther[i]
		}
	}
	if len(c.Below) > 0 {
		a, b = b, a
	}
	return a, b
}

// draws are those that a claim is about, as far as they overlap.
func (r Run) draws(c *Claim) significance.Draws {
	d := significance.Draws{Of: r.Classes}
	for _, rec := range r.Records {
		if len(c.At)+len(c.Than) > 0 && !slices.Contains(slices.Concat(c.At, c.Than), rowOf(rec)) {
			continue
		}
		if !slices.Contains(d.Classes, rec.Classes) {
			d.Classes = append(d.Classes, rec.Classes)
		}
		if rec.Tested > 0 {
			d.Learned, d.Scored = d.Learned+rec.Samples, d.Scored+rec.Tested
		}
	}
	slices.Sort(d.Classes)
	return d
}

// whole is the number of first draws of which all methods have all rows.
func (r Run) whole() int {
	counts := map[int]int{}
	trials := map[[2]int]bool{} // rows and methods
	methods := map[string]int{}
	for _, rec := range r.Records {
		if _, seen := methods[rec.Method]; !seen {
			methods[rec.Method] = len(methods)
		}
		counts[rec.Repeat]++
		trials[[2]int{rowOf(rec), methods[rec.Method]}] = true
	}
	n := 0
	for len(trials) > 0 && counts[n] == len(trials) {
		n++
	}
	return n
}
