package spec

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

func TestParse(t *testing.T) {
	got, err := Parse([]byte(`# a comment
name: ccf-yale
data: {set: yale, from: raw, samples: 100}
features: {pixels: 24x32, normalise: max, crop: square}
methods:
  - kmeans
  - nmf
  - {name: semi-gnmf, lambda: 100, neighbours: 7}
  - name: ccf
    as: CCF (NMF)
    init: nmf
    iterations: 1000
    tolerance: 1e-6
classes: 2..5
repeats: 7
labels: 30%
rank: k+1
cluster: {distance: cosine, restarts: 5, start: k-means++, refine: true}
seed: 3
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Experiment{
		Name:     "ccf-yale",
		Data:     Data{Set: "yale", OpenOptions: datasets.OpenOptions{From: "raw"}, Samples: 100},
		Features: Features{Extractor: features.Pixels{Size: features.Size{Height: 24, Width: 32}}, Normalise: features.NormMax, Crop: Crop{Square: true}},
		Methods: []Method{
			{Name: "kmeans"},
			{Name: "nmf"},
			{Name: "semi-gnmf", Params: map[string]any{"lambda": uint64(100), "neighbours": uint64(7)}},
			{Name: "ccf", As: "CCF (NMF)", Init: factor.InitNMF, Iterations: 1000, Tolerance: 1e-6},
		},
		Classes: Classes{2, 3, 4, 5},
		Repeats: 7,
		Labels:  Portion{Share: 0.3},
		Rank:    Ranks{{Plus: 1}},
		Cluster: Cluster{Distance: cluster.DistanceCosine, Start: cluster.InitPlusPlus, Restarts: 5, Refine: true},
		Seed:    3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestParseRefuses: each mistake with its line and column.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"name: x\nmethds: [nmf]":                                                 `2:1: unknown key "methds"; did you mean methods?`,
		"methods:\n  - nmf\n  - nfm":                                             `3:5: unknown method "nfm"; did you mean nmf?`,
		"methods:\n  - {name: gnmf, lamda: 3}":                                   `2:18: unknown key "lamda"; did you mean lambda?`,
		"methods:\n  - {name: gnmf, lambda: -3}":                                 `2:26: gnmf: lambda: expected a number from 0 to 1e+100, got -3`,
		"methods:\n  - {name: gnmf, lambda: .nan}":                               `2:26: gnmf: lambda: expected a number from 0 to 1e+100, got NaN`,
		"methods:\n  - {name: kmeans, lambda: 3}":                                `2:20: kmeans has no parameter "lambda"`,
		"methods:\n  - {name: ccf, init: zeros}":                                 `2:23: unknown init "zeros"`,
		"methods:\n  - {name: ccf, solver: newton}":                              `2:25: unknown solver "newton" (choices: mu, fast`,
		"methods:\n  - {name: pca, solver: mu}":                                  `2:25: the method has its own update rule and supports no solver`,
		"methods:\n  - {name: parts, penalty: l1+l3}":                            `2:28: parts: penalty: unknown penalty "l3"; did you mean l1 or l2?`,
		"methods:\n  - {name: ccf, iterations: 0}":                               `2:29: expected a whole number from 1 to`,
		"methods:\n  - {name: ccf, name: cf}":                                    `2:17: `,
		"methods:\n  - {init: nmf}":                                              `the method has no name`,
		"methods:\n  - [nmf]":                                                    `2:5: expected a method's name`,
		"classes: 10..2":                                                         `1:10: classes "10..2": expected numbers from 2 to 100000, and rising ranges`,
		"classes: 1":                                                             `1:10: `,
		"classes: many":                                                          `1:10: invalid number of classes "many"; expected a number or a range such as 2..10`,
		"classes: [3, 2]":                                                        `1:14: classes must be in rising order, but 2 follows 3`,
		"classes: 2..999999999":                                                  `1:10: classes`,
		"labels: 130%":                                                           `1:9: invalid percentage "130%"; expected 0`,
		"labels: {shre: 10%}":                                                    `1:10: unknown key "shre"`,
		"labels: -1":                                                             `1:9: invalid value "-1"; expected none, a percentage such as 30%, or a count`,
		"rank: q":                                                                `1:7: invalid rank "q"`,
		"rank: 0":                                                                `1:7: rank 0`,
		"rank: 99999999999999999999":                                             `1:7: `,
		"repeats: three":                                                         `1:10: `,
		"seed: 1.5":                                                              `1:7: expected a whole number of 0 or more, got 1.5`,
		"repeats: 0":                                                             `1:10: expected a whole number from 1 to`,
		"repeats: 1.5":                                                           `1:10: expected a whole number from 1 to`,
		"cluster: {restarts: 1.5}":                                               `1:21: expected a whole number from 1 to`,
		"methods:\n  - {name: gnmf, iterations: 10.9}":                           `2:30: expected a whole number`,
		"methods: [{name: nmf, restarts: 0}]":                                    `1:33: expected a whole number from 1 to 10000, got 0`,
		"methods: [{name: nmf, consensus: true}]":                                `1:34: consensus needs 2 or more restarts, such as restarts: 20`,
		"methods: [{name: eccf, restarts: 9}]":                                   `1:34: restarts: eccf has one solution`,
		"methods: [{name: eccf, init: nmf}]":                                     `1:30: init: eccf has no initial factors`,
		"methods: [{name: nmf, threshold: 1}]":                                   `1:18: nmf: threshold is for cost huber; the cost is frobenius`,
		"methods: [{name: parts, feature-rank: 4}]":                              `1:18: parts: feature-rank is for basis tri; the basis is free`,
		"methods: [{name: pca, restarts: 9}]":                                    `1:33: restarts: pca has one solution`,
		"methods: [{name: nmf, init: nndsvda, restarts: 9}]":                     `1:48: restarts need random initial factors, but init is nndsvda`,
		"methods: [{name: gnmf, tune: [1]}]":                                     `1:31: expected lists of values and a criterion`,
		"methods: [{name: gnmf, tune: {lambda: [1, 2]}}]":                        `1:30: expected lists of values, and by: held-out, stability or labelled`,
		"methods: [{name: gnmf, tune: {by: labelled}}]":                          `1:30: expected lists of values, and by`,
		"methods: [{name: gnmf, tune: {lambda: [], by: labelled}}]":              `1:39: lambda has no values`,
		"methods: [{name: gnmf, tune: {lambda: 3, by: labelled}}]":               `1:39: expected a list of values, got 3`,
		"methods: [{name: gnmf, tune: {lamda: [1, 2], by: labelled}}]":           `1:31: unknown key "lamda"`,
		"methods: [{name: gnmf, tune: {lambda: [1, x], by: labelled}}]":          `1:43: `,
		"methods: [{name: gnmf, tune: {lambda: [1, 2], by: score}}]":             `1:51: expected held-out or stability or labelled`,
		"methods: [{name: gnmf, lambda: 3, tune: {lambda: [1], by: labelled}}]":  `1:42: lambda is already set`,
		"methods: [{name: gnmf, tune: {name: [nmf], by: labelled}}]":             `1:31: name is already set`,
		"methods: [{name: gnmf, tune: {as: [a, b], by: labelled}}]":              `1:35: expected a single name`,
		"methods: [{name: cf, tune: {iterations: [5, 9], by: held-out}}]":        `1:53: by held-out: cf iterations=5 supports no missing values`,
		"methods: [{name: pca, tune: {cluster: [kmeans, ncut], by: stability}}]": `1:59: by stability: restarts: pca has one solution`,
		"methods: [{name: kmeans, tune: {restarts: [5, 9], by: stability}}]":     `kmeans has no parameter "restarts"`,
		"name: [x]":                          `1:7: expected a name, got a list`,
		"name: x\n---\nname: y":              `2:1: second YAML document; an experiment file has one`,
		"":                                   `the file is empty`,
		"# nothing":                          `the file is empty`,
		"seed: -1":                           `1:7: `,
		"cluster: {distance: manhattan}":     `1:21: `,
		"cluster: {restarts: none}":          `1:21: expected a whole number from 1 to`,
		"cluster: {by: magic}":               `1:15: unknown clusterer "magic" (choices: constrained-kmeans`,
		"cluster: magic":                     `1:10: unknown clusterer "magic"`,
		"task: sort":                         `1:7: unknown task "sort"`,
		"rank: [5, 3]":                       `1:7: several ranks must be numbers in rising order`,
		"rank: [k, 3]":                       `1:7: several ranks must be numbers in rising order`,
		"rank: 9..5":                         `1:7: invalid range of ranks "9..5"; expected a rising range such as 5..40`,
		"neighbours: 0":                      `1:13: expected a whole number from 1 to`,
		"train: 120%":                        `1:8: invalid percentage "120%"; expected 0`,
		"features: {pixels: big}":            `1:20: invalid size "big"; expected a side such as 32, or HEIGHTxWIDTH, at most`,
		"features: {pixels: 99999}":          `1:20: invalid size "99999"; expected a side such as 32, or HEIGHTxWIDTH, at most`,
		"features: {normalise: l3}":          `1:23: `,
		"features: {hog: true, whiten: yes}": `1:31: expected a number, auto or none, got`,
		"features: {whiten: 0}":              `1:20: expected a number above 0`,
		"features: {whiten: -3}":             `1:20: expected a number above 0`,
		"features: {propagate: 1}":           `1:23: expected a number above 0 to less than 1, got 1`,
		"features: {propagate: {a: 1}}":      `1:23: expected a number, auto or none`,
		"features: [hog, {colour: hsv, whiten: auto}]": `1:17: joined features cannot be whitened or propagated`,
		"features: {crop: {box: [1, 2]}}":              `1:24: expected four numbers [x0, y0, x1, y1]`,
		"features: {crop: {box: [9, 9, 2, 12]}}":       `1:24: the box [9 9 2 12] is empty; expected 0 <= x0 < x1 and 0 <= y0 < y1`,
		"features: {crop: {box: [-1, 0, 2, 2]}}":       `1:24: the box [-1 0 2 2] is empty; expected 0 <= x0 < x1 and 0 <= y0 < y1`,
		"data: {set: yale, from: web}":                 `1:25: expected raw or mat, got "web"`,
		"data: {set: yale, samples: 0}":                `1:28: expected a whole number from 1 to`,
		"name: [":                                      `1:1: `,
		"name: x\nname: y":                             `2:1: `,
		"- nmf":                                        `1:1: `,
		"name: x\n3: 4":                                `2:1: unknown key "3" (choices: name, task`,
		"name: x\n~: 4":                                `2:1: unknown key "null" (choices: name, task`,
		"name: x\ntrue: 4":                             `2:1: unknown key "true" (choices: name, task`,
		"data: {\"sett\": yale}":                       `1:8: unknown key "sett"; did you mean set?`,
		"data: {set: yale, 3: 4}":                      `1:19: unknown key "3" (choices: set`,
		"data: {set: yale, \"set\": orl}":              `1:19: `,
		"methods: [{name: gnmf, lambda: ~}]":           `1:32: lambda: expected a single value`,
		"methods: [{name: gnmf, edges: {a: 1}}]":       `1:31: edges: expected a single value`,
		"name: &a x":                                   "> 1 | name: &a x\n",
	} {
		_, err := Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives\n%v\nwant %q", text, err, want)
			continue
		}
		if strings.Contains(want, "[") && !strings.Contains(err.Error(), "^") {
			t.Errorf("%q gives no caret:\n%v", text, err)
		}
	}
}

// TestParseJSON: JSON is YAML, with its keys in quotes.
func TestParseJSON(t *testing.T) {
	got, err := Parse([]byte(`{"data": {"set": "yale", "from": "raw"}, "methods": ["nmf", {"name": "gnmf", "lambda": [1, 10]}], "cluster": {"distance": "cosine"},
		"features": {"sift": {"at": "dense", "step": 4}, "words": {"count": 20}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want, err := Parse([]byte("{data: {set: yale, from: raw}, methods: [nmf, {name: gnmf, lambda: [1, 10]}], cluster: {distance: cosine}, features: {sift: {at: dense, step: 4}, words: {count: 20}}}"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestUnknownKeys: the error for an unknown key lists the known keys.
func TestUnknownKeys(t *testing.T) {
	for _, place := range []string{
		"%s", "data: {%s}", "features: {%s}", "features: {crop: {%s}}", "features: {sift: dense, words: {%s}}",
		"features: {sift: {at: keypoints, %s}}", "features: {sift: {%s}}", "labels: {%s}", "links: {%s}",
		"neighbours: {%s}", "cluster: {%s}", "methods: [{name: gnmf, %s}]",
	} {
		_, err := Parse(fmt.Appendf(nil, place, "nokey: 1"))
		if err == nil || !strings.Contains(err.Error(), "(choices: ") {
			t.Errorf("%s: error %v", place, err)
			continue
		}
		_, list, _ := strings.Cut(err.Error(), "(choices: ")
		list, _, _ = strings.Cut(list, ")")
		keys := strings.Split(strings.ReplaceAll(list, " and ", ", "), ", ")
		if len(keys) < 2 {
			t.Errorf("%s: the keys are %q", place, keys)
		}
		for _, key := range keys {
			if _, err := Parse(fmt.Appendf(nil, place, key+": 1")); err != nil && strings.Contains(err.Error(), "unknown key") {
				t.Errorf("%s: the key %s is listed: %v", place, key, err)
			}
		}
	}
}

// TestDocumented: docs/reference/experiment-file.md has every setting.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/experiment-file.md")
	if err != nil {
		t.Fatal(err)
	}
	code := bytes.Join(regexp.MustCompile("(?s:```.*?```)|`[^`\n]+`|(?m:^    .*$)").FindAll(page, -1), []byte("\n"))
	all := []any{Experiment{}, Data{}, Method{}, Cluster{}, Neighbours{}, Classifier{}, Links{}, Features{}, Crop{}, Words{}}
	for _, info := range features.Extractors() {
		all = append(all, info.Zero)
	}
	for _, of := range all {
		for _, key := range settings.Names(of) {
			if !regexp.MustCompile(`\b` + key + `\b`).Match(code) {
				t.Errorf("%T: the page lacks %s", of, key)
			}
		}
	}
}
