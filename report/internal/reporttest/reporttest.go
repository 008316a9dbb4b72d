// Package reporttest provides artificial trials and golden files for the tests of report and its packages.
package reporttest

import (
	_ "embed"
	"flag"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/draw"

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

// fakeCurve falls steeply at first and then slowly, with a height and a speed for each method.
func fakeCurve(method string, m, k, repeat int) []record.Point {
	var curve []record.Point
	scale := math.Pow(10, float64(m)-2) * float64(k)
	speed := 8 * math.Pow(1.9, float64(m%7))
	last := 300 + int(100*Noise("last", method, k, repeat))
	for i := 0; ; {
		x := float64(i)
		o := 0.25 + 0.02*Noise("floor", method, k, repeat) + 0.5/(1+x/speed) + 0.25*math.Exp(-x/3)
		if i == 0 {
			o *= 40
		}
		curve = append(curve, record.Point{Iteration: i, Objective: scale * o})
		if i == last {
			return curve
		}
		i = min(last, i+max(1, i/5))
	}
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

// Confused returns a record with a confusion matrix.
func Confused(method string, repeat int, drawn []int, counts ...[]int) record.Record {
	return record.Record{
		Classes: len(counts), Repeat: repeat, Method: method, Tested: 10,
		Scores: map[string]float64{"accuracy": 0.5}, Confusion: counts, Drawn: drawn,
	}
}

// Awkward returns records with special characters, long names, missing trials, a row with too few trials to test, ties
// and a two-digit deviation.
func Awkward() (records []record.Record, methods []string) {
	methods = []string{"nmf_kl", "a & b %", "x<y|z {~}", "a method with a long name, λ = 100"}
	records = Records(methods, []int{2, 5, 10}, 8)
	records = slices.DeleteFunc(records, func(r record.Record) bool {
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

// Plain returns an image of one colour whose corner is not at the origin.
func Plain(width, height int, c color.Color) image.Image {
	img := image.NewRGBA(image.Rect(7, 5, 7+width, 5+height))
	draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return img
}
