package reproduce

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Run is the results of a protocol or a variant.
type Run struct {
	Records []record.Record
	Classes int // the number of classes of the set
}

// recordValue is a value that some records have.
type recordValue func(record.Record) (float64, bool)

func scoreValue(name string) recordValue {
	return func(r record.Record) (float64, bool) {
		v, ok := r.Scores[name]
		return v, ok
	}
}

// settled is the largest relative excess of a converged objective over its last value.
const settled = 0.01

// iterations returns the number of iterations until convergence.
func iterations(r record.Record) (float64, bool) {
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

// rowOf returns the table row of a record.
func rowOf(r record.Record) int { return cmp.Or(r.Row, r.Classes) }

// values returns the means of a method over the rows at, or over all rows, in each of the first draws, and the repeats
// of these draws. It leaves out draws with missing rows.
func (r Run) values(method string, at spec.Classes, value recordValue, draws int) (values []float64, repeats []int) {
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
	type trial struct {
		method string
		row    int
	}
	counts, trials := map[int]int{}, map[trial]bool{}
	for _, rec := range r.Records {
		counts[rec.Repeat]++
		trials[trial{rec.Method, rowOf(rec)}] = true
	}
	n := 0
	for len(trials) > 0 && counts[n] == len(trials) {
		n++
	}
	return n
}
