package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Level bounds the probability that chance decides any claim of a recipe wrongly, over all looks.
const Level = significance.Level

// Look returns the number of draws at look i, an interim test of the claims: 10, 20, 40 and so on.
func Look(i int) int { return 10 << i }

// levelAt is the part of the level that a look may spend: 1/2, 1/4 and so on. It does not depend on the number of
// draws, so a resumed run keeps its levels.
func levelAt(look int, level float64) float64 { return math.Ldexp(level, -look-1) }

// Judge compares the computed results with the printed ones. runs has the protocol's results at "", and the
// results of variants and readings at their names.
func (r *Recipe) Judge(runs map[string]Run) *Outcome {
	out := &Outcome{Recipe: r.Name, Paper: r.Paper.Paper, Draws: runs[""].completeDraws(), PaperDraws: r.Draws, Notes: r.Notes}
	out.Readings = lists.Map(r.Readings, func(v Variant) string { return v.Name })
	comparisons, values := 0, r.Values()
	for _, c := range r.Claims {
		comparisons += max(1, len(c.others())*len(c.rows()))
		if c.Gain != 0 {
			values++
		}
	}
	whole, level := Level/float64(comparisons), 1-Level/float64(max(1, values))
	for i := range r.Claims {
		out.Claims = append(out.Claims, r.judgeClaim(&r.Claims[i], runs, whole, level))
	}
	for _, t := range r.Tables {
		found := TableOutcome{Where: t.Where, Score: t.Score, Methods: t.Methods}
		for _, row := range t.Rows {
			found.Rows = append(found.Rows, row.At)
			for m, printed := range row.Are {
				if printed != 0 {
					found.Cells = append(found.Cells, r.judgeCell(CellOutcome{Row: row.At, Method: t.Methods[m], Printed: printed}, t.Score, runs, level))
				}
			}
		}
		out.Tables = append(out.Tables, found)
	}
	return out
}

// Values returns the number of values in the tables.
func (r *Recipe) Values() (n int) {
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			n += len(lists.Indices(row.Are, func(v float64) bool { return v != 0 }))
		}
	}
	return n
}

func (r *Recipe) judgeClaim(c *Claim, runs map[string]Run, whole, level float64) ClaimOutcome {
	out := ClaimOutcome{Claim: *c, Verdict: Open}
	run := runs[c.In]
	others := c.others()
	if len(others) == 0 {
		others = []string{""} // the claim is about iterations
	}
	for look := 0; out.Verdict == Open; look++ {
		at := levelAt(look, whole)
		var all []ClaimOutcome
		for _, other := range others {
			// With Some, the row with the largest difference counts; otherwise all rows do.
			var rows []ClaimOutcome
			for _, row := range c.rows() {
				a, b := run.paired(row, other, "", Look(look))
				if len(a) < Look(look) {
					return r.tryReadings(out, runs, whole, level)
				}
				here, draws := significance.NewResampled(a, b, 0), run.draws(row)
				wider := here
				wider.Ratio = draws.Ratio()
				one := ClaimOutcome{
					Claim: *c, Verdict: c.verdict(here, at), Against: other,
					Here: newEstimate(here, 1-at), Wider: newEstimate(wider, 1-at), Beyond: draws.Beyond(),
				}
				if c.Gain != 0 {
					d := floats.SubTo(make([]float64, len(a)), a, b)
					one.Printed = placeOf(c.Gain/100, r.estimateMean(d, d, level))
				}
				if c.Some {
					one.Against = fmt.Sprintf("%s at %d", other, row.At[0])
				}
				rows = append(rows, one)
			}
			all = append(all, slices.MaxFunc(rows, func(a, b ClaimOutcome) int {
				return cmp.Or(cmp.Compare(verdictOrder[a.Verdict], verdictOrder[b.Verdict]), cmp.Compare(a.Here.Mean, b.Here.Mean))
			}))
		}
		out = slices.MinFunc(all, func(a, b ClaimOutcome) int { return cmp.Compare(a.Here.Mean, b.Here.Mean) })
		// The claim holds if it holds over each other method, and fails if it fails over any.
		for _, one := range all {
			switch {
			case one.Verdict == Fails && out.Verdict != Fails:
				out = one
			case one.Verdict == Open && out.Verdict == Holds:
				out.Verdict = Open
			}
		}
	}
	return r.tryReadings(out, runs, whole, level)
}

// verdictOrder orders verdicts: a claim with Some holds if it holds at one row, and fails if it fails at all rows.
var verdictOrder = map[Verdict]int{Fails: 0, Open: 1, Holds: 2}

// rows returns the claim, or one claim for each row if Some is set.
func (c *Claim) rows() (rows []*Claim) {
	if !c.Some {
		return []*Claim{c}
	}
	for _, at := range c.At {
		row := *c
		row.At = spec.Classes{at}
		rows = append(rows, &row)
	}
	return rows
}

// verdict judges the claim over one method by the differences from it.
func (c *Claim) verdict(d significance.Resampled, level float64) Verdict {
	d.Mean -= c.Gain / 200 // half of the printed gain, from points
	switch {
	case d.P() >= level:
		return Open
	case d.Mean > 0:
		return Holds
	}
	return Fails
}

// tryReadings finds the readings under which a failed claim holds, or under which its gain is as printed.
func (r *Recipe) tryReadings(out ClaimOutcome, runs map[string]Run, whole, level float64) ClaimOutcome {
	if out.Within > 0 || out.Some || out.Verdict != Fails && out.Printed != Outside {
		return out
	}
	for _, v := range r.Readings {
		run, suffix, draws := runs[v.Name], "", Look(0)
		if v.Free {
			run, suffix, draws = runs[out.In], " free", out.Here.Draws
		} else if out.In != "" {
			continue // readings apply to the protocol only
		}
		worst := ReadingOutcome{Name: v.Name, Value: math.Inf(1), Gives: true}
		for _, other := range out.others() {
			a, b := run.paired(&out.Claim, other, suffix, draws)
			if len(a) < draws {
				worst.Value = math.Inf(1)
				break
			}
			if out.Gain == 0 {
				d := significance.NewResampled(a, b, 0)
				worst.Value = min(worst.Value, d.Mean)
				worst.Gives = worst.Gives && out.verdict(d, levelAt(0, whole)) == Holds
				continue
			}
			mainA, mainB := runs[out.In].paired(&out.Claim, other, "", out.Here.Draws)
			e := r.estimateMean(floats.SubTo(make([]float64, len(a)), a, b), floats.SubTo(mainA, mainA, mainB), level)
			worst.Value = min(worst.Value, e.Mean)
			worst.Gives = worst.Gives && placeOf(out.Gain/100, e) == Inside
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
	at := spec.Classes{out.Row}
	if out.Row == 0 {
		at = nil
	}
	main, _ := runs[""].values(out.Method, at, scoreValue(score), runs[""].completeDraws())
	out.Here = r.estimateMean(main, main, level)
	out.Place = placeOf(out.Printed, out.Here)
	if out.Place != Outside {
		return out
	}
	for _, v := range r.Readings {
		run, suffix, draws := runs[v.Name], "", Look(0)
		if v.Free {
			run, suffix, draws = runs[""], " free", len(main)
		}
		values, _ := run.values(out.Method, at, scoreValue(score+suffix), draws)
		if len(values) < min(draws, len(main)) {
			continue
		}
		e := r.estimateMean(values, main, level)
		gives := placeOf(out.Printed, e) == Inside
		out.Readings = append(out.Readings, ReadingOutcome{v.Name, e.Mean, gives})
		if gives {
			out.Place = Depends
		}
	}
	return out
}

// estimateMean estimates the mean of values, with the interval of a mean of the paper's number of draws. If values has
// fewer draws than main, the protocol's, it adds the mean difference over the common draws to the estimate of main.
func (r *Recipe) estimateMean(values, main []float64, level float64) Estimate {
	paper := 1 / float64(r.Draws)
	if len(values) >= len(main) {
		return newEstimate(significance.NewResampled(values, make([]float64, len(values)), paper), level)
	}
	e := newEstimate(significance.NewResampled(main, make([]float64, len(main)), paper), level)
	change := newEstimate(significance.NewResampled(values, main[:len(values)], 0), level)
	reach := elementary.Hypot((e.High-e.Low)/2, (change.High-change.Low)/2)
	e.Mean, e.Draws = e.Mean+change.Mean, len(values)
	e.Low, e.High = e.Mean-reach, e.Mean+reach
	return e
}

func placeOf(printed float64, e Estimate) Place {
	switch {
	case !e.HasInterval:
		return Nowhere
	case printed >= e.Low && printed <= e.High:
		return Inside
	}
	return Outside
}

func newEstimate(d significance.Resampled, level float64) Estimate {
	e := Estimate{Mean: d.Mean, Draws: d.N}
	e.Low, e.High, e.HasInterval = d.Interval(level)
	return e
}

// Verdict is the result of judging a claim.
type Verdict string

// The verdicts. Open means that the draws do not decide the claim.
const (
	Open  Verdict = "not decided"
	Holds Verdict = "holds"
	Fails Verdict = "does not hold"
)

// Place is the position of a printed value relative to an interval.
type Place string

// The places, relative to the interval for a mean of the paper's number of draws.
const (
	Nowhere Place = "" // no printed value, or too few draws
	Inside  Place = "inside"
	Outside Place = "outside"
	Depends Place = "depends on what the paper leaves unsaid" // inside the interval of a reading only
)

// Estimate is a mean over draws with an interval.
type Estimate struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low,omitempty"`  // the lower end of the interval
	High float64 `json:"high,omitempty"` // the upper end
	// HasInterval is false for too few draws.
	HasInterval bool `json:"interval,omitempty"`
	Draws       int  `json:"draws"`
}

// Outcome is the result of a recipe. Its JSON form is JSONFile.
type Outcome struct {
	Recipe string `json:"recipe"` // the name of the recipe
	Paper  string `json:"paper"`  // the citation
	// Draws is the number of complete draws of the protocol, and PaperDraws the number behind the printed means.
	Draws      int            `json:"draws"`
	PaperDraws int            `json:"paperDraws"`
	Notes      []string       `json:"notes,omitempty"`
	Readings   []string       `json:"readings,omitempty"`
	Claims     []ClaimOutcome `json:"claims"`
	Tables     []TableOutcome `json:"tables,omitempty"`
}

// ClaimOutcome is the result of one claim.
type ClaimOutcome struct {
	Claim
	Verdict Verdict `json:"verdict"`
	// Against is the method that decided the claim, or the one with the smallest difference.
	Against string `json:"against,omitempty"`
	// Here is the difference in the unit of scores or iterations, at the deciding or last look, with an interval for
	// this set. Wider has the interval for the population Beyond, whose draws overlap.
	Here     Estimate         `json:"here"`
	Wider    Estimate         `json:"wider"`
	Beyond   string           `json:"beyond,omitempty"`
	Printed  Place            `json:"printed,omitempty"` // the place of the printed gain
	Readings []ReadingOutcome `json:"readings,omitempty"`
}

// TableOutcome is the result of one table.
type TableOutcome struct {
	Where   string        `json:"where"` // the table of the paper
	Score   string        `json:"score"`
	Methods []string      `json:"methods"`
	Rows    []int         `json:"rows"` // 0 for averages
	Cells   []CellOutcome `json:"cells"`
}

// CellOutcome is the result of one cell of a table.
type CellOutcome struct {
	Row     int     `json:"row"`
	Method  string  `json:"method"`
	Printed float64 `json:"printed"` // the printed value
	// Here is the computed mean, with an interval for means of the paper's number of draws.
	Here     Estimate         `json:"here"`
	Place    Place            `json:"place,omitempty"`
	Readings []ReadingOutcome `json:"readings,omitempty"`
}

// ReadingOutcome is the result of a reading for a value or a claim.
type ReadingOutcome struct {
	Name  string  `json:"name"`            // of the reading
	Value float64 `json:"value,omitempty"` // the value or difference under the reading
	// Gives is true if the printed value is inside the reading's interval, or the claim holds.
	Gives bool `json:"gives,omitempty"`
}

// Decided reports whether all claims are decided.
func (o *Outcome) Decided() bool {
	return !slices.ContainsFunc(o.Claims, func(c ClaimOutcome) bool { return c.Verdict == Open })
}

// Surprising reports whether a claim fails or a printed value is outside of its interval. Readings are run then.
func (o *Outcome) Surprising() bool {
	return slices.ContainsFunc(o.Claims, func(c ClaimOutcome) bool { return c.Verdict == Fails || c.Printed == Outside }) ||
		slices.ContainsFunc(o.Tables, func(t TableOutcome) bool {
			return slices.ContainsFunc(t.Cells, func(c CellOutcome) bool { return c.Place == Outside })
		})
}

// Run is the results of a protocol or a variant.
type Run struct {
	Records []record.Record
	Classes int // the number of classes of the set
}

func scoreValue(name string) func(record.Record) (float64, bool) {
	return func(r record.Record) (float64, bool) {
		v, ok := r.Scores[name]
		return v, ok
	}
}

// settled is the largest relative excess of a converged objective over its last value.
const settled = 0.01

func iterations(r record.Record) (float64, bool) {
	if len(r.Curve) == 0 {
		return 0, false
	}
	last := r.Curve[len(r.Curve)-1].Objective
	p, ok := lists.Find(r.Curve, func(p record.Point) bool { return p.Objective <= last+settled*math.Abs(last) })
	return float64(p.Iteration), ok
}

func rowOf(r record.Record) int { return cmp.Or(r.Row, r.Classes) }

// values returns the means of a method over the rows at, or over all rows, in each of the first draws, and the repeats
// of these draws. It leaves out draws with missing rows.
func (r Run) values(method string, at spec.Classes, value func(record.Record) (float64, bool), draws int) (values []float64, repeats []int) {
	rows := at
	if len(rows) == 0 {
		rows = lists.Unique(lists.Map(r.Records, rowOf))
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

// paired returns the values of the claim's method and of another in the same draws, first the one that the claim calls
// larger.
func (r Run) paired(c *Claim, other, suffix string, draws int) (a, b []float64) {
	if c.Within > 0 {
		values, _ := r.values(c.Method, c.At, iterations, draws)
		return slices.Repeat([]float64{float64(c.Within)}, len(values)), values
	}
	overAt := c.OverAt
	if len(overAt) == 0 {
		overAt = c.At
	}
	value := scoreValue(c.Score + suffix)
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

// draws describes the overlap of the draws of a claim.
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

// completeDraws returns the number of leading draws that have all rows of all methods.
func (r Run) completeDraws() int {
	counts, trials := map[int]int{}, map[string]bool{} // by repeat; by method and row
	for _, rec := range r.Records {
		counts[rec.Repeat]++
		trials[fmt.Sprintf("%s %d", rec.Method, rowOf(rec))] = true
	}
	n := 0
	for len(trials) > 0 && counts[n] == len(trials) {
		n++
	}
	return n
}
