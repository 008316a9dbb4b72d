// Package reporttest provides artificial trials and golden files for the tests of report and its packages.
package reporttest

import (
	_ "embed"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// GoldenFile returns the content of a file in testdata, after rewriting it with -update.
func GoldenFile(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// Golden compares got with a file in testdata.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	if diff := cmp.Diff(string(GoldenFile(t, name, []byte(got))), got); diff != "" {
		t.Errorf("testdata/%s differs (-want +got):\n%s", name, diff)
	}
}

//go:embed hostile.txt
var hostile string

// Hostile are names of classes, methods, files and experiments that contain code and control characters.
var Hostile = func() (names []string) {
	for line := range strings.Lines(hostile) {
		name, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			panic(err)
		}
		names = append(names, name)
	}
	return slices.Insert(names, len(names)-1, strings.Repeat("long ", 2000))
}()

// SevenMethods are the columns of a typical table, unsorted.
var SevenMethods = []string{"nmf", "cf", "gnmf", "lccf", "cnmf", "cnmf-kl", "ccf"}

// Noise returns a number in [-1, 1) that depends on its arguments only.
func Noise(coordinates ...any) float64 {
	h := fnv.New64a()
	fmt.Fprintln(h, coordinates...)
	x := h.Sum64()
	x ^= x >> 31
	x *= 0x9e3779b97f4a7c15
	return float64(x>>11)/(1<<52) - 1
}

// Records returns an artificial experiment. Scores fall with the number of classes, differ between methods and share an
// effect of the draw. Objectives fall as with multiplicative updates.
func Records(methods []string, classes []int, repeats int) []record.Record {
	var records []record.Record
	for _, k := range classes {
		for repeat := range repeats {
			luck := 0.05 * Noise("luck", k, repeat)
			for m, method := range methods {
				ac := 0.42 + 0.035*float64(m%7) + 0.55/float64(k) + luck + 0.04*Noise(method, k, repeat)
				nmi := ac - 0.08 + 0.03*Noise("nmi", method, k, repeat)
				round := func(x float64) float64 { return math.Round(1e4*min(x, 1)) / 1e4 }
				records = append(records, record.Record{
					Classes: k, Repeat: repeat, Method: method, Samples: 11 * k, Labelled: 2 * k, Curve: fakeCurve(method, m, k, repeat),
					Scores: map[string]float64{
						"AC": round(ac), "NMI": round(nmi), "AC free": round(ac - 0.02), "NMI free": round(nmi - 0.03),
						"ARI": round(nmi - 0.1), "purity": round(ac + 0.01),
					},
				})
			}
		}
	}
	return records
}

// fakeCurve falls with a height and a speed for each method.
func fakeCurve(method string, m, k, repeat int) (curve []record.Point) {
	last := 300 + int(100*Noise("last", method, k, repeat))
	for i := 0; i <= last; i += max(1, i/5) {
		share := 1 / (1 + float64(i)/(8*math.Pow(1.9, float64(m%7))))
		curve = append(curve, record.Point{Iteration: i, Objective: math.Pow(10, float64(m)-2) * float64(k) * (0.25 + share)})
	}
	return curve
}

// Scored returns records of one score at one number of classes, one repeat for each value.
func Scored(method string, classes int, values ...float64) []record.Record {
	var records []record.Record
	for repeat, v := range values {
		records = append(records, record.Record{Classes: classes, Repeat: repeat, Method: method, Scores: map[string]float64{"AC": v}})
	}
	return records
}

// LambdaSweep has a sweep of two settings and a sweep of one.
var LambdaSweep = []spec.Sweep{
	{Name: "ogl_1", Settings: []string{"beta", "lambda"}, Methods: SweptMethods[1:5],
		Values: [][]string{{"1", "1"}, {"1", "50"}, {"2", "1"}, {"2", "50"}}},
	{Name: "gnmf", Settings: []string{"lambda"}, Methods: []string{"g 0.5", "g 50"}, Values: [][]string{{"0.5"}, {"50"}}},
}

// SweptMethods are the methods of LambdaSweep and one that is not swept.
var SweptMethods = []string{"nmf", "ogl 1 1", "ogl 1 50", "ogl 2 1", "ogl 2 50", "g 0.5", "g 50"}

// RanksAndSweeps returns records of SweptMethods at several ranks.
func RanksAndSweeps() []record.Record {
	var records []record.Record
	for _, rank := range []int{5, 10, 30} {
		for _, r := range Records(SweptMethods, []int{rank}, 6) {
			r.Row, r.Rank, r.Classes = rank, rank, 4
			if r.Method == "nmf" {
				r.Rank = 0
			}
			records = append(records, r)
		}
	}
	return records
}
