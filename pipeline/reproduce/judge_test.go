package reproduce

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// simulated returns records of draws: the AC of each method is level plus a common and an own random part, in steps of
// 1/60 as for AC.
func simulated(src *rand.Rand, draws int, level map[string]float64) (out []record.Record) {
	for repeat := range draws {
		for _, k := range []int{2, 4} {
			shared := 0.05 * src.NormFloat64()
			for _, m := range []string{"kmeans", "nmf", "cf"} {
				v := 0.5 + level[m] + shared + 0.04*src.NormFloat64()
				v = math.Floor(60*v+src.Float64()) / 60 // with the same mean
				out = append(out, record.Record{Method: m, Classes: k, Repeat: repeat, Scores: map[string]float64{"AC": v, "AC free": v}})
			}
		}
	}
	return out
}

func recipe(t *testing.T, printed string) *Recipe {
	t.Helper()
	r, err := parse("", "y.yaml", []byte(protocol), []byte("paper: P\n"+printed))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const claims = `claims:
  - {says: gain, score: AC, method: nmf, over: kmeans, gain: 4}
  - {says: best, score: AC, method: nmf, over: [kmeans, cf]}
  - {says: at few, score: AC, method: cf, over: kmeans, at: 2, than: 4}
`

// TestErrorRate: if the truth is on the border of every claim, at most 5 % of recipes have a decided claim after four
// looks.
func TestErrorRate(t *testing.T) {
	r := recipe(t, `claims:
  - {says: gain, score: AC, method: nmf, over: kmeans, gain: 4}
  - {says: a, score: AC, method: cf, over: kmeans}
  - {says: b, score: AC, method: kmeans, over: cf}
`)
	const n = 400
	wrong := 0
	for seed := range uint64(n) {
		src := rand.New(rand.NewPCG(seed, 1))
		o := r.Judge(map[string]Run{"": {Records: simulated(src, 80, map[string]float64{"nmf": 0.02}), Classes: 20}})
		for _, c := range o.Claims {
			if c.Verdict != Open {
				wrong++
				break
			}
		}
	}
	// 5 % and two and a half standard errors.
	if share := float64(wrong) / n; share > Level+2.5*math.Sqrt(Level*(1-Level)/n) || wrong == 0 {
		t.Errorf("%d of %d recipes have a wrong verdict", wrong, n)
	}
}

// TestVerdicts: clearly true claims hold and clearly false ones fail; more draws do not change a verdict.
func TestVerdicts(t *testing.T) {
	r := recipe(t, claims)
	src := rand.New(rand.NewPCG(1, 2))
	holds := simulated(src, 160, map[string]float64{"nmf": 0.1})
	fails := simulated(src, 160, map[string]float64{"nmf": -0.1, "cf": -0.2})
	for name, c := range map[string]struct {
		records []record.Record
		want    Verdict
	}{"true": {holds, Holds}, "false": {fails, Fails}} {
		before := []Verdict{Open, Open, Open}
		for _, draws := range []int{9, 10, 20, 40, 160} {
			var some []record.Record
			for _, rec := range c.records {
				if rec.Repeat < draws {
					some = append(some, rec)
				}
			}
			o := r.Judge(map[string]Run{"": {Records: some, Classes: 20}})
			if o.Draws != draws {
				t.Errorf("%d draws, want %d", o.Draws, draws)
			}
			for i, claim := range o.Claims {
				if before[i] != Open && claim.Verdict != before[i] || draws < 10 && claim.Verdict != Open {
					t.Errorf("%s: %s changed from %s to %s after %d draws", name, claim.Says, before[i], claim.Verdict, draws)
				}
				before[i] = claim.Verdict
			}
		}
		if before[0] != c.want || before[1] != c.want {
			t.Errorf("%s: found %v", name, before)
		}
	}
}

// TestBelowAndSome: a claim may be that a method is below others, or above each of them at one or more rows.
func TestBelowAndSome(t *testing.T) {
	r := recipe(t, `claims:
  - {says: below, score: AC, method: kmeans, below: [nmf, cf]}
  - {says: below one, score: AC, method: kmeans, below: [nmf]}
  - {says: sometimes, score: AC, method: kmeans, below: [cf], at: [2, 4], some: true}
  - {says: sometimes below both, score: AC, method: kmeans, below: [nmf, cf], at: [2, 4], some: true}
  - {says: never, score: AC, method: cf, over: [nmf], at: [2, 4], some: true}
`)
	src := rand.New(rand.NewPCG(1, 5))
	records := simulated(src, 40, map[string]float64{"nmf": 0.2})
	for _, rec := range records { // CF is above k-means with 2 classes, and as far below with 4
		if rec.Method == "cf" {
			rec.Scores["AC"] += map[int]float64{2: 0.1, 4: -0.1}[rec.Classes]
		}
	}
	o := r.Judge(map[string]Run{"": {Records: records, Classes: 20}})
	for i, want := range []struct {
		verdict Verdict
		ours    string
	}{{Open, " (cf over kmeans)"}, {Holds, " (nmf over kmeans)"}, {Holds, " (cf at 2 over kmeans)"}, {Holds, " (cf at 2 over kmeans)"}, {Fails, " over nmf at 2"}} {
		if c := &o.Claims[i]; c.Verdict != want.verdict || !strings.HasSuffix(c.ourText(), want.ours) {
			t.Errorf("%s: %s, here %s", c.Says, c.Verdict, c.ourText())
		}
	}
}

// TestPrintedValues: means of ten draws of the same protocol are inside for 95 % of recipes; others are outside, or
// inside for a reading.
func TestPrintedValues(t *testing.T) {
	r := recipe(t, claims+`tables:
  - where: T
    score: AC
    methods: [kmeans, nmf, cf]
    rows: [{at: 2, are: [0.5, 0.5, 0.5]}, {are: [0.5, 0.5, 0.5]}]
readings: [{name: less, cluster: {restarts: 1}}, {name: free, free: true}, {name: same, cluster: {restarts: 20}}]
`)
	table := r.Tables[0].Rows
	outside := 0
	const n = 400
	for seed := range uint64(n) {
		src := rand.New(rand.NewPCG(seed, 3))
		theirs := Run{Records: simulated(src, 10, nil)}
		for i, m := range []string{"kmeans", "nmf", "cf"} {
			for at, rows := range []spec.Classes{{2}, nil} {
				values, _ := theirs.values(m, rows, scoreValue("AC"), 10)
				sum := 0.0
				for _, v := range values {
					sum += v
				}
				table[at].Are[i] = sum / 10
			}
		}
		o := r.Judge(map[string]Run{"": {Records: simulated(src, 40, nil), Classes: 20}})
		for _, c := range o.Tables[0].Cells {
			if c.Place == Outside {
				outside++
				break
			}
		}
	}
	if share := float64(outside) / n; share > Level+2.5*math.Sqrt(Level*(1-Level)/n) {
		t.Errorf("a value is outside in %d of %d recipes", outside, n)
	}
	src := rand.New(rand.NewPCG(1, 4))
	for _, row := range table {
		copy(row.Are, []float64{0.7, 0.5, 0.9})
	}
	all := simulated(src, 20, nil)
	runs := map[string]Run{
		"":     {Records: all, Classes: 20},
		"same": {Records: all[:len(all)/2]},
		"less": {Records: simulated(src, 10, map[string]float64{"kmeans": 0.2})},
	}
	o := r.Judge(runs)
	for _, c := range o.Tables[0].Cells {
		want := map[string]Place{"kmeans": Depends, "nmf": Inside, "cf": Outside}[c.Method]
		if c.Place != want || want == Depends && (!c.Readings[0].Gives || c.Readings[1].Gives || c.Readings[2].Gives) {
			t.Errorf("%s at %d: %s (%v), want %s", c.Method, c.Row, c.Place, c.Readings, want)
		}
	}
	if text := o.Markdown(2); !strings.Contains(text, "## tiny") || strings.Contains(text, "NaN") {
		t.Errorf("wrote\n%s", text)
	}
}

// TestIterations: a method has converged when its objective is within 1 % of the last value.
func TestIterations(t *testing.T) {
	r := recipe(t, "claims: [{says: soon, method: nmf, within: 20}]\n")
	for last, want := range map[int]Verdict{12: Holds, 30: Fails} {
		var records []record.Record
		for repeat := range 40 {
			for _, k := range []int{2, 4} {
				records = append(records, record.Record{Method: "nmf", Classes: k, Repeat: repeat, Curve: []record.Point{
					{Iteration: 0, Objective: 10}, {Iteration: 5, Objective: 1.5}, {Iteration: last + repeat%2, Objective: 1.004}, {Iteration: 200, Objective: 1},
				}})
			}
		}
		o := r.Judge(map[string]Run{"": {Records: records}})
		if c := o.Claims[0]; c.Verdict != want || !strings.HasPrefix(c.ourText(), map[int]string{12: "12.5", 30: "30.5"}[last]) {
			t.Errorf("converged at %d: %s, %s", last, c.Verdict, c.ourText())
		}
	}
}
