package pipeline

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestTune: each draw chooses among the listed settings, by the rule's own scores only, and runs the chosen method.
func TestTune(t *testing.T) {
	set := testkit.CSV(t, 12, 11, 10, 12)
	for task, text := range map[string]string{
		"cluster":  "labels: 5, classes: 3, repeats: 3, cluster: {restarts: 2}",
		"classify": "task: classify, train: 6, test: 4, classes: 3, repeats: 3, neighbours: 1",
	} {
		for _, by := range []string{spec.TuneHeldOut, spec.TuneStability, spec.TuneLabelled} {
			if task == "classify" && by == "stability" {
				continue
			}
			// The single settings, which a tuned method must equal.
			p := newPlan(t, fmt.Sprintf(`{name: x, %s, methods: [{name: gnmf, iterations: 8, tune: {lambda: [0, 1e6], neighbours: [2, 5], by: %s}},
				{name: gnmf, as: each, iterations: 8, lambda: [0, 1e6], neighbours: [2, 5]}]}`, text, by), set)
			records, err := p.Run(t.Context(), nil, RunOptions{})
			if err != nil {
				t.Fatal(task, by, err)
			}
			for at := 0; at < len(records); at += 5 {
				tuned := records[at].Tuned
				best := slices.Index(tuned.Scores, slices.Max(tuned.Scores))
				if by == "held-out" {
					best = slices.Index(tuned.Scores, slices.Min(tuned.Scores))
				}
				label := fmt.Sprintf("each lambda=%s neighbours=%s", tuned.Values["lambda"], tuned.Values["neighbours"])
				single := records[at+1+best]
				if single.Method != label || !reflect.DeepEqual(single.Scores, records[at].Scores) || !reflect.DeepEqual(single.Curve, records[at].Curve) {
					t.Errorf("%s by %s: %+v and %v, but %s has %v", task, by, tuned, records[at].Scores, single.Method, single.Scores)
				}
				if tuned.By != by || len(tuned.Scores) != 4 || slices.ContainsFunc(tuned.Scores, func(s float64) bool { return !(s >= 0) }) {
					t.Errorf("%s by %s: %+v", task, by, tuned)
				}
			}
		}
	}
}

// TestTuneSeesNoTestLabels: other classes of unlabelled and test samples do not change a choice; other labels do.
func TestTuneSeesNoTestLabels(t *testing.T) {
	set := testkit.CSV(t, 12, 11, 10)
	for _, text := range []string{"labels: 5", "task: classify, train: 6, test: 4"} {
		p := newPlan(t, `{name: x, `+text+`, repeats: 1, methods: [{name: gnmf, iterations: 8, tune: {lambda: [0, 1, 10, 1e6], by: labelled}}]}`, set)
		choose := func(change func(d *draw)) spec.Tuned {
			d := newSharedDraw(p, drawID{3, 0})
			change(&d.draw)
			done, err := p.evaluate(t.Context(), p.trials[0], d)
			if err != nil {
				t.Fatal(err)
			}
			return *done.rec.Tuned
		}
		shuffle := func(classes []int) {
			rand.New(rand.NewPCG(1, 1)).Shuffle(len(classes), func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
		}
		was := choose(func(*draw) {})
		if is := choose(func(d *draw) {
			shuffle(d.testTruth)
			if p.Experiment.Task == spec.Clustering {
				shuffle(d.truth)
			}
		}); !reflect.DeepEqual(is, was) {
			t.Errorf("%s: with other test classes %+v, want %+v", text, is, was)
		}
		if is := choose(func(d *draw) { shuffle(d.labels) }); reflect.DeepEqual(is, was) {
			t.Errorf("%s: with other labels still %+v", text, is)
		}
	}
}

// TestTuneRefuses: impossible choices are errors before any trial.
func TestTuneRefuses(t *testing.T) {
	vectors := testkit.CSV(t, 12, 11, 10)
	for text, want := range map[string]string{
		"methods: [{name: nmf, tune: {iterations: [5, 9], by: labelled}}]":                                                "the method nmf is tuned by labelled samples: set labels",
		"labels: 1, methods: [{name: nmf, tune: {iterations: [5, 9], by: labelled}}]":                                     "nmf: tune by labelled needs 2 or more labelled samples of each class",
		"task: classify, train: 4, test: 4, methods: [{name: nmf, tune: {iterations: [5, 9], by: stability}}]":            "the method nmf is tuned by stability, which needs task: cluster",
		"methods: [{name: nmf, tune: {cluster: [kmeans, seeded-kmeans], by: stability}}]":                                 "needs labels: set labels",
		"task: classify, train: 4, test: 4, methods: [{name: nmf, restarts: 2, tune: {consensus: [true], by: held-out}}]": "sets consensus, which needs task: cluster",
		"task: classify, train: 1, test: 4, methods: [{name: nmf, tune: {iterations: [5, 9], by: labelled}}]":             "nmf: tune by labelled needs 2 or more labelled samples of each class",
		"cluster: {k: 3}, methods: [{name: nmf, tune: {cluster: [kmeans, largest], by: stability}}]":                      "clusters by largest coefficient; set rank instead of k",
	} {
		e, err := spec.Parse([]byte("{name: x, data: x, " + text + "}"))
		if err != nil {
			t.Fatal(text, err)
		}
		e.Data.Set = vectors
		err = checkOpened(t, e, vectors)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func checkOpened(t *testing.T, e *spec.Experiment, path string) error {
	set, err := datasets.Open(t.Context(), path, datasets.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	return CheckSet(t.Context(), e, set)
}
