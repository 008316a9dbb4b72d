package report

import (
	"fmt"
	"hash/fnv"
	"math"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// sevenMethods are the columns of a usual table, in no special order.
var sevenMethods = []string{"nmf", "cf", "gnmf", "lccf", "cnmf", "cnmf-kl", "ccf"}

// noise is a number in [-1, 1) that depends on its arguments only.
func noise(coordinates ...any) float64 {
	h := fnv.New64a()
	fmt.Fprintln(h, coordinates...)
	x := h.Sum64()
	x ^= x >> 31
	x *= 0x9e3779b97f4a7c15
	return float64(x>>11)/(1<<52) - 1
}

// fakeRecords makes up an experiment: scores that fall with the number of
// classes, differ between the methods and share the luck of the draw, and
// objectives that fall as multiplicative updates make them fall.
func fakeRecords(methods []string, classes []int, repeats int) []pipeline.Record {
	var records []pipeline.Record
	for _, k := range classes {
		for repeat := range repeats {
			luck := 0.05 * noise("luck", k, repeat)
			for m, method := range methods {
				ac := 0.42 + 0.035*float64(m%7) + 0.55/float64(k) + luck + 0.04*noise(method, k, repeat)
				nmi := ac - 0.08 + 0.03*noise("nmi", method, k, repeat)
				round := func(x float64) float64 { return math.Round(1e4*min(x, 1)) / 1e4 }
				records = append(records, pipeline.Record{
					Classes: k, Repeat: repeat, Method: method,
					Samples: 11 * k, Labelled: 2 * k,
					Scores: map[string]float64{
						"AC": round(ac), "NMI": round(nmi),
						"AC free": round(ac - 0.02), "NMI free": round(nmi - 0.03),
						"ARI": round(nmi - 0.1), "purity": round(ac + 0.01),
					},
					Curve: fakeCurve(method, m, k, repeat),
				})
			}
		}
	}
	return records
}

// fakeCurve falls steeply at first and slowly to its floor afterwards, method
// by method from another height and at another speed.
func fakeCurve(method string, m, k, repeat int) []pipeline.Point {
	var curve []pipeline.Point
	scale := math.Pow(10, float64(m)-2) * float64(k)
	speed := 8 * math.Pow(1.9, float64(m%7))
	last := 300 + int(100*noise("last", method, k, repeat))
	for i := 0; ; {
		x := float64(i)
		o := 0.25 + 0.02*noise("floor", method, k, repeat) + 0.5/(1+x/speed) + 0.25*math.Exp(-x/3)
		if i == 0 {
			o *= 40
		}
		curve = append(curve, pipeline.Point{Iteration: i, Objective: scale * o})
		if i == last {
			return curve
		}
		i = min(last, i+max(1, i/5))
	}
}
