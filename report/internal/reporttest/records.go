// Package reporttest has made-up trials and golden files for the tests of report and its packages.
package reporttest

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/pipeline"
	"gonum.org/v1/gonum/mat"
)

// SevenMethods are the columns of a usual table, in no special order.
var SevenMethods = []string{"nmf", "cf", "gnmf", "lccf", "cnmf", "cnmf-kl", "ccf"}

// Noise is a number in [-1, 1) that depends on its arguments only.
func Noise(coordinates ...any) float64 {
	h := fnv.New64a()
	fmt.Fprintln(h, coordinates...)
	x := h.Sum64()
	x ^= x >> 31
	x *= 0x9e3779b97f4a7c15
	return float64(x>>11)/(1<<52) - 1
}

// Records makes up an experiment: scores that fall with the number of classes, differ between the methods and
// share the luck of the draw, and objectives that fall as with multiplicative updates.
func Records(methods []string, classes []int, repeats int) []pipeline.Record {
	var records []pipeline.Record
	for _, k := range classes {
		for repeat := range repeats {
			luck := 0.05 * Noise("luck", k, repeat)
			for m, method := range methods {
				ac := 0.42 + 0.035*float64(m%7) + 0.55/float64(k) + luck + 0.04*Noise(method, k, repeat)
				nmi := ac - 0.08 + 0.03*Noise("nmi", method, k, repeat)
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

// fakeCurve falls steeply at first and slowly to its floor afterwards, with a height and a speed for each method.
func fakeCurve(method string, m, k, repeat int) []pipeline.Point {
	var curve []pipeline.Point
	scale := math.Pow(10, float64(m)-2) * float64(k)
	speed := 8 * math.Pow(1.9, float64(m%7))
	last := 300 + int(100*Noise("last", method, k, repeat))
	for i := 0; ; {
		x := float64(i)
		o := 0.25 + 0.02*Noise("floor", method, k, repeat) + 0.5/(1+x/speed) + 0.25*math.Exp(-x/3)
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

// Scored makes records of one score for one number of classes, a repeat for each value.
func Scored(method string, classes int, values ...float64) []pipeline.Record {
	var records []pipeline.Record
	for repeat, v := range values {
		records = append(records, pipeline.Record{
			Classes: classes, Repeat: repeat, Method: method,
			Scores: map[string]float64{"AC": v},
		})
	}
	return records
}

// LambdaSweep is a sweep of two settings and one of one.
var LambdaSweep = []pipeline.Sweep{
	{Name: "ogl_1", Settings: []string{"beta", "lambda"},
		Methods: []string{"ogl 1 1", "ogl 1 50", "ogl 2 1", "ogl 2 50"},
		Values:  [][]string{{"1", "1"}, {"1", "50"}, {"2", "1"}, {"2", "50"}}},
	{Name: "gnmf", Settings: []string{"lambda"}, Methods: []string{"g 0.5", "g 50"}, Values: [][]string{{"0.5"}, {"50"}}},
}

// SweptMethods are the methods of LambdaSweep with one that is not swept.
var SweptMethods = []string{"nmf", "ogl 1 1", "ogl 1 50", "ogl 2 1", "ogl 2 50", "g 0.5", "g 50"}

// SweptRecords are records of SweptMethods with several numbers of classes.
func SweptRecords(classes ...int) []pipeline.Record {
	return Records(SweptMethods, classes, 6)
}

// RanksAndSweeps are records of SweptMethods at several ranks.
func RanksAndSweeps() []pipeline.Record {
	var records []pipeline.Record
	for _, rank := range []int{5, 10, 30} {
		for _, r := range SweptRecords(rank) {
			r.Row, r.Rank, r.Classes = rank, rank, 4
			if r.Method == "nmf" {
				r.Rank = 0
			}
			records = append(records, r)
		}
	}
	return records
}

// Hostile are names of classes, methods, files and experiments that try to do something.
var Hostile = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>.png`,
	`' onmouseover='alert(1)`,
	`</style><script>alert(1)</script>`,
	`</title><svg onload=alert(1)>`,
	`javascript:alert(1)`,
	`{{.Name}}${x}<!--`,
	"a\x1b[2J\x1b]0;title\x07b\x9b31m\u009b",
	"one\n\npartwise: two\r\n\tthree",
	"\u202egpj.exe\u2066 \u2028\u2029\ufeff",
	"caf\xe9 \xff\xfe \ufffe\uffff",
	`[cat] b`,
	`*star*`,
	`\input{/etc/passwd}\write18{x}`,
	`\`,
	`a\`,
	`%comment`,
	`$x^2_3$ & ~ # {}} "` + "`" + `''?` + "`" + `--`,
	`=cmd|' /C calc'!A1`,
	`+1+1`, `-1+1`, `@SUM(1)`, "\t=1", `'=1`,
	`| a | b |`,
	`[link](javascript:alert(1)) ![i](http://example.com/x.png) https://example.com www.example.com`,
	"```\n# head\n- item",
	`1. one`, `- two`, `    code`,
	`../../etc/passwd`, `C:\CON?#%41*`,
	`猫 👩‍👩‍👧 Größe ña`,
	strings.Repeat("long ", 2000),
	` `,
}

// Confused makes a record of a confusion.
func Confused(method string, repeat int, drawn []int, counts ...[]int) pipeline.Record {
	return pipeline.Record{
		Classes: len(counts), Repeat: repeat, Method: method, Tested: 10,
		Scores: map[string]float64{"accuracy": 0.5}, Confusion: counts, Drawn: drawn,
	}
}

// Awkward are records of a table with special characters, long names, missing trials, a row too short to test,
// ties and a two-digit deviation.
func Awkward() (records []pipeline.Record, methods []string) {
	methods = []string{"nmf_kl", "a & b %", "x<y|z {~}", "a method with a long name, λ = 100"}
	records = Records(methods, []int{2, 5, 10}, 8)
	records = slices.DeleteFunc(records, func(r pipeline.Record) bool {
		return r.Classes == 10 && r.Repeat > 3 || r.Classes == 5 && r.Method == "a & b %" && r.Repeat == 2 || r.Classes == 10 && r.Method == "x<y|z {~}"
	})
	for i, r := range records {
		if r.Classes == 2 && r.Method == "nmf_kl" {
			records[i].Scores["AC"] = float64(r.Repeat) / 8
		}
		if r.Classes == 2 && r.Method == "x<y|z {~}" {
			records[i].Scores["AC"] += 0.03
		}
	}
	return records, methods
}

// ThreeClasses are names of classes.
var ThreeClasses = []string{"Coast", "Forest", "Highway"}

// InClasses makes coefficients, samples×classes, with class c mostly of part c in mixed order, and the samples'
// classes.
func InClasses(samples, classes int) (values *mat.Dense, of []int) {
	values, of = mat.NewDense(samples, classes, nil), make([]int, samples)
	for i := range samples {
		of[i] = i % classes
		for j := range classes {
			values.Set(i, j, 0.3*(1+Noise(i, j)))
		}
		values.Set(i, i%classes, 3+Noise(i))
	}
	return values, of
}
