package main

import (
	"context"
	"fmt"

	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// world makes scores of methods on draws of classes from a set that is itself drawn: each method
// has an effect on each class of the set, whose mean over all classes that there could be is the
// same for all methods but the first.
type world struct {
	methods int
	ks      []int // numbers of classes drawn
	set     int   // classes of the set
	repeats int
	// class is the standard deviation of a method's effect on a class, chance that of a score
	// from draw to draw, in points, and gap how many points the first method is better.
	class, chance, gap float64
}

// experiment draws a set, and the draws of an experiment on it.
func (w world) experiment(i int) (experiment, error) {
	random := rng.New(1, "world", fmt.Sprint(w), i)
	e := experiment{classes: w.set}
	effects := make([][]float64, w.methods)
	hard := make([]float64, w.set) // for all methods alike
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
				e.records = append(e.records, pipeline.Record{Classes: k, Repeat: repeat, Method: name, Samples: 10 * k, Scores: map[string]float64{"AC": points / 100}})
			}
		}
	}
	return e, nil
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
			out = append(out, study{fmt.Sprintf(of.what, gap), w.experiment, true})
		}
	}
	return out
}
