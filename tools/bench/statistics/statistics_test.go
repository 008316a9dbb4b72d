// Package statistics counts false and true marks of significance in tables, beside other tests. It writes the tables of
// docs/statistics.md, except the columns of autorank:
//
//	go test ./bench/statistics -v -experiments 1000
package statistics

import (
	"context"
	"flag"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report/table"
)

var experiments = flag.Int("experiments", 20, "how many tables of each kind are made")

// way is a test for the differences of a table.
type way struct {
	name string
	by   table.Tests
	// overlap is true if the test knows the number of classes of the set.
	overlap bool
}

var ways = []way{
	{"partwise", table.Tests{}, true},
	{"`overlap: ignored`", table.Tests{Rule: significance.Rule{Overlap: significance.OverlapIgnored}}, true},
	{"`correction: none`", table.Tests{Rule: significance.Rule{Correction: significance.Uncorrected}}, true},
	{"plain paired t-test", table.Tests{Rule: significance.Rule{Correction: significance.Uncorrected}}, false},
	{"plain Wilcoxon", table.Tests{Rule: significance.Rule{By: significance.BySignedRank, Correction: significance.Uncorrected}}, false},
}

// experiment is the records of one table.
type experiment struct {
	records []record.Record
	methods []string
	classes int // of the set
}

// judge makes the table. It reports whether any method is marked as worse than the best of its row, and returns the
// fraction of the other methods that are marked in the last row, if the first method is the best.
func (w way) judge(e experiment) (any bool, marked float64) {
	by := w.by
	if w.overlap {
		by.Classes = e.classes
	}
	t := table.New(e.records, "AC", e.methods, by)
	rows := t.Rows
	if t.Average != nil {
		rows = append(rows[:len(rows):len(rows)], *t.Average)
	}
	for _, r := range rows {
		n := 0
		for _, c := range r.Cells {
			if c.Verdict == table.Different {
				any = true
				n++
			}
		}
		if marked = 0; r.Cells[0].Best {
			marked = float64(n) / float64(len(r.Cells)-1)
		}
	}
	return any, marked
}

// world simulates scores of methods on draws of classes from a random set. Each method has an effect on each class,
// whose mean over all possible classes is equal for all methods except the first.
type world struct {
	methods int
	ks      []int // numbers of classes drawn
	set     int   // classes of the set
	repeats int
	// class is the standard deviation of a method's effect on a class, chance the one of a score between draws, in points,
	// and gap the advantage of the first method in points.
	class, chance, gap float64
}

// experiment draws a set, and the draws of an experiment on it.
func (w world) experiment(i int) (experiment, error) {
	random := rng.New(1, "world", fmt.Sprint(w), i)
	e := experiment{classes: w.set}
	effects := make([][]float64, w.methods)
	hard := make([]float64, w.set) // common to all methods
	for c := range hard {
		hard[c] = 10 * random.NormFloat64()
	}
	for m := range effects {
		e.methods = append(e.methods, string(rune('A'+m)))
		for range w.set {
			effects[m] = append(effects[m], w.class*random.NormFloat64())
		}
	}
	for _, k := range w.ks {
		for repeat := range w.repeats {
			drawn := random.Perm(w.set)[:k]
			for m, name := range e.methods {
				points := 60 + w.chance*random.NormFloat64()
				if m == 0 {
					points += w.gap
				}
				for _, c := range drawn {
					points += (hard[c] + effects[m][c]) / float64(k)
				}
				e.records = append(e.records, record.Record{Classes: k, Repeat: repeat, Method: name, Samples: 10 * k, Scores: map[string]float64{"AC": points / 100}})
			}
		}
	}
	return e, nil
}

// trials makes experiments of real trials: NMF and k-means on a small set of vectors, under several names. Each name
// permutes the columns of the set, which changes nothing for NMF except the random initial basis.
type trials struct {
	names int
	ks    []int
}

const (
	trialClasses  = 6
	trialSamples  = 8 // of each class
	trialFeatures = 20
)

func (t trials) maker(ctx context.Context) func(int) (experiment, error) {
	return func(i int) (experiment, error) { return t.experiment(ctx, i) }
}

func (t trials) experiment(ctx context.Context, i int) (experiment, error) {
	e := experiment{classes: trialClasses}
	vectors := trialVectors(i)
	for name := range t.names {
		order := rng.New(1, "columns", i, name).Perm(trialFeatures)
		records, err := t.run(ctx, i, vectors, order)
		if err != nil {
			return e, err
		}
		e.methods = append(e.methods, string(rune('A'+name)))
		for _, r := range records {
			r.Method = e.methods[name]
			e.records = append(e.records, r)
		}
	}
	return e, nil
}

// trialVectors are the samples of overlapping classes.
func trialVectors(i int) *mat.Dense {
	random := rng.New(1, "trial", i)
	x := mat.NewDense(trialClasses*trialSamples, trialFeatures, nil)
	for c := range trialClasses {
		mean := make([]float64, trialFeatures)
		for j := range mean {
			mean[j] = random.ExpFloat64()
		}
		for s := range trialSamples {
			for j := range mean {
				x.Set(c*trialSamples+s, j, mean[j]*random.ExpFloat64()+0.01)
			}
		}
	}
	return x
}

func (t trials) run(ctx context.Context, i int, vectors *mat.Dense, order []int) ([]record.Record, error) {
	n, m := vectors.Dims()
	set := &datasets.Set{Name: "small", Vectors: mat.NewDense(n, m, nil), Labels: make([]int, n)}
	for c := range trialClasses {
		set.Classes = append(set.Classes, fmt.Sprint(c))
	}
	for row := range n {
		set.Names, set.Labels[row] = append(set.Names, fmt.Sprint(row)), row/trialSamples
		for to, from := range order {
			set.Vectors.(*mat.Dense).Set(row, to, vectors.At(row, from))
		}
	}
	e, err := spec.Parse([]byte("{name: small, data: small, methods: [{name: nmf, iterations: 30}], repeats: 10, cluster: {restarts: 2}, rank: k+1}"))
	if err != nil {
		return nil, err
	}
	if e.Seed = uint64(i); t.ks == nil {
		t.ks = []int{4}
	}
	e.Classes = spec.Classes(t.ks)
	in, err := input.PrepareSet(ctx, e, set, input.PrepareOptions{})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	plan, err := pipeline.NewPlan(ctx, e, in)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx, nil, pipeline.RunOptions{Workers: 1})
}

// study is a line of a table: experiments of one kind.
type study struct {
	what string
	make func(i int) (experiment, error)
	// power is true if the first method is better, so that marks are true.
	power bool
	least float64 // the smallest rate of marks by partwise
}

var nine = []int{2, 3, 4, 5, 6, 7, 8, 9, 10}

func falseStudies(ctx context.Context) []study {
	chance := world{methods: 2, ks: []int{5}, set: 15, repeats: 10, chance: 4}
	classes := world{methods: 2, ks: []int{5}, set: 15, repeats: 10, class: 6, chance: 1}
	most := classes
	most.ks = []int{10}
	seven, sevenClasses := chance, classes
	seven.methods, seven.ks, sevenClasses.methods, sevenClasses.ks = 7, nine, 7, nine
	long := classes
	long.repeats = 50
	return []study{
		{what: "one method, 2 names, 1 row", make: chance.experiment},
		{what: "one method, 7 names, 9 rows", make: seven.experiment},
		{what: "one method, 2 names, 1 row, real trials", make: trials{names: 2}.maker(ctx)},
		{what: "one method, 5 names, 2 rows, real trials", make: trials{names: 5, ks: []int{3, 5}}.maker(ctx)},
		{what: "equal over all classes, 5 of 15 drawn", make: classes.experiment},
		{what: "the same, 10 of 15", make: most.experiment},
		{what: "the same, 5 of 15, 50 repeats", make: long.experiment},
		{what: "the same, 7 methods, 2 to 10 of 15", make: sevenClasses.experiment},
	}
}

func powerStudies() []study {
	var out []study
	for _, of := range []struct {
		what string
		world
	}{
		{"2 methods, 5 of 15, gap %g", world{methods: 2, ks: []int{5}, set: 15, repeats: 10, class: 3, chance: 3}},
		{"7 methods, 2 to 10 of 15, gap %g", world{methods: 7, ks: nine, set: 15, repeats: 10, class: 3, chance: 3}},
	} {
		for _, gap := range []float64{2, 5, 10} {
			w := of.world
			w.gap = gap
			s := study{what: fmt.Sprintf(of.what, gap), make: w.experiment, power: true}
			if gap == 10 && w.methods == 2 {
				s.least = 0.5
			}
			out = append(out, s)
		}
	}
	return out
}

// TestMarks: partwise makes hardly any false mark, and finds a large gap.
func TestMarks(t *testing.T) {
	for _, s := range append(falseStudies(t.Context()), powerStudies()...) {
		shares := make([]float64, len(ways))
		for i := range *experiments {
			e, err := s.make(i)
			if err != nil {
				t.Fatal(err)
			}
			for at, w := range ways {
				any, marked := w.judge(e)
				if !s.power && any {
					marked = 1
				}
				if s.power || any {
					shares[at] += marked / float64(*experiments)
				}
			}
		}
		line := "|" + s.what
		for _, p := range shares {
			line += fmt.Sprintf("|%.1f ±%.1f", 100*p, 100*math.Sqrt(max(0, p*(1-p))/float64(*experiments)))
		}
		t.Log(line + "|")
		if limit := 0.05 + 3*math.Sqrt(0.05*0.95/float64(*experiments)); !s.power && shares[0] > limit {
			t.Errorf("%s: %v of the tables have a false mark", s.what, shares[0])
		}
		if s.least > 0 && shares[0] < s.least {
			t.Errorf("%s: only %v are marked", s.what, shares[0])
		}
	}
}
