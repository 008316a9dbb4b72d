package reproduce

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestRecipes: all recipes can be read, their protocols are valid experiment files, and they fit the data if these
// exist.
func TestRecipes(t *testing.T) {
	testkit.Slow(t)
	if len(Names()) != 13 {
		t.Errorf("there are %d recipes: %v", len(Names()), Names())
	}
	sets := map[string]*datasets.Set{} // each data set is read once
	for _, name := range Names() {
		r, err := Lookup(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if e, err := spec.Parse([]byte(r.Protocol)); err != nil || e.Name != name {
			t.Errorf("%s: the experiment is called %q: %v", name, e.Name, err)
		}
		if r.Minutes == 0 {
			t.Errorf("%s does not say how long it takes", name)
		}
		root := os.Getenv("PARTWISE_DATA")
		protocols := r.protocols()
		for i := range r.Readings {
			protocols = append(protocols, &r.Readings[i])
		}
		for _, v := range protocols {
			e := *v.experiment
			if _, known := catalogue.Lookup(e.Data.Set); !known {
				e.Data.Set = filepath.Join(root, e.Data.Set)
			}
			if e.Data.Labelled = true; root == "" {
				continue
			}
			data := fmt.Sprintf("%+v", e.Data)
			set := sets[data]
			if set == nil {
				if set, err = input.Open(t.Context(), &e); err != nil {
					t.Logf("%s: %v", name, err)
					break
				}
				defer set.Close()
				sets[data] = set
			}
			if err := pipeline.CheckSet(t.Context(), &e, set); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestPrinted: some cells are checked against the papers.
func TestPrinted(t *testing.T) {
	for _, c := range []struct {
		recipe, score, method string
		row                   int
		want                  float64
	}{
		{"cf-ogl-yale", "AC", "cf-ogl", 8, 0.575},
		{"cf-ogl-yale", "NMI", "kmeans", 15, 0.583},
		{"cf-ogl-yale", "NMI", "cf-ogl", 0, 0.597},
		{"cf-ogl-orl", "AC", "kmeans", 40, 0.3075},
		{"cf-ogl-orl", "NMI", "lccf", 40, 0.5953},
		{"cf-ogl-orl", "AC", "cf", 38, 0.185},
		{"cf-ogl-feret", "AC", "cf-ogl", 80, 0.315},
		{"cf-ogl-feret", "NMI", "pca", 200, 0.649},
		{"d-snmf-scenes13", "accuracy", "d-snmf", 18, 0.766},
		{"d-snmf-scenes13", "accuracy", "lda", 12, 0.760},
		{"d-snmf-scenes13", "accuracy", "pca", 35, 0.681},
		{"d-snmf-scenes13", "accuracy", "nmf", 26, 0.630},
		{"d-snmf-scenes13", "accuracy", "nmf-kl", 21, 0.686},
		{"d-snmf-scenes13", "accuracy", "mfa", 15, 0.731},
		{"d-snmf-scenes13", "accuracy", "l2-snmf", 31, 0.733},
		{"d-snmf-scenes13", "accuracy", "original", 12, 0.614},
	} {
		r, err := Lookup(c.recipe)
		if err != nil {
			t.Fatal(err)
		}
		got := 0.0
		for _, table := range r.Tables {
			for _, row := range table.Rows {
				if m := slices.Index(table.Methods, c.method); table.Score == c.score && row.At == c.row && m >= 0 {
					got = row.Are[m]
				}
			}
		}
		if got != c.want {
			t.Errorf("%s, %s of %s at %d: got %g, want %g", c.recipe, c.score, c.method, c.row, got, c.want)
		}
	}
	for name, gains := range map[string][]float64{
		"ccf-yale": {6.5, 8.2}, "ccf-coil20": {3.4, 3.9}, "ccf-mnist": {9.6, 8.8},
		"cnmf-yale": {7.46, 4.41, 8.38, 4.81}, "cnmf-caltech101": {7.2, 9.01, 2.87},
	} {
		r, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, c := range r.Claims {
			if c.Gain != 0 {
				got = append(got, c.Gain)
			}
		}
		if !slices.Equal(got, gains) {
			t.Errorf("%s: gains of %v, want %v", name, got, gains)
		}
	}
}

// TestClaimsOfCCF checks that the recipes of the CCF paper contain exactly the claims of its text.
func TestClaimsOfCCF(t *testing.T) {
	for name, want := range map[string][]string{
		"ccf-yale":   {"6.5 %", "8.2 %", "best by AC", "best by NMI", "second best", "sometimes below CF and NMF", "factorisations are above k-means"},
		"ccf-coil20": {"3.4 %", "3.9 %", "best by AC", "best by NMI", "second best", "at 2..5 classes than at 6..10"},
		"ccf-mnist":  {"9.6 %", "8.8 %", "best by AC", "best by NMI", "at 6..10 classes than at 2..5"},
	} {
		r, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "read as points") }) {
			t.Errorf("%s does not say that gains are read as points", name)
		}
		for i, c := range r.Claims {
			if len(r.Claims) != len(want) || !strings.Contains(c.Says, want[i]) || c.Where == "" || strings.Contains(c.Says, "but") {
				t.Errorf("%s: claim %d is %q (%s)", name, i+1, c.Says, c.Where)
			}
		}
	}
}

const (
	protocol = "{name: tiny, data: generated, methods: [kmeans, nmf, cf], classes: [2, 4], rank: k}\n"
	printed  = "paper: P\nclaims:\n  - {says: one, score: AC, method: nmf, over: [kmeans, cf]}\n"
)

// TestMistakes: paper files that do not fit their experiment.
func TestMistakes(t *testing.T) {
	if _, err := parse("", "y.yaml", []byte(protocol), []byte(printed)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		strings.Replace(printed, "over: [kmeans", "over: [kmean", 1):                             `no method "kmean"`,
		strings.Replace(printed, "AC", "XY", 1):                                                  `"XY" is not a score in percent of the task`,
		strings.Replace(printed, "AC", "accuracy", 1):                                            "is not a score in percent of the task",
		strings.Replace(printed, "over", "ovr", 1):                                               `3:41: unknown key "ovr"; did you mean over?`,
		strings.Replace(printed, "score", "at: 3, score", 1):                                     "row 3 is not in the experiment",
		strings.Replace(printed, "score", "in: x, score", 1):                                     `unknown variant "x", or an empty claim`,
		strings.Replace(printed, ", over: [kmeans, cf]", "", 1):                                  `set either "over" or "below"`,
		strings.Replace(printed, "over:", "below: [cf], over:", 1):                               `set either "over" or "below"`,
		strings.Replace(printed, "score", "some: true, score", 1):                                `"some" needs "at" and excludes "over-at" and "than"`,
		printed + "tables: [{where: w, score: AC, methods: [nmf], rows: [{are: [0.5, 0.6]}]}]\n": "2 values for 1 methods",
		printed + "readings: [{name: r, rnk: k}]\n":                                              `unknown key "rnk"`,
		printed + "readings: [{name: r, rank: k}, {name: R, rank: k}]\n":                         "has the same name or folder as another variant",
		"paper: P\n": "paper or claims are missing",
	} {
		if _, err := parse("", "y.yaml", []byte(protocol), []byte(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "y.paper.yaml:") {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
}
