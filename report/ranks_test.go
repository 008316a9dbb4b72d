package report

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/experimentfile"
	"github.com/seed4492f2cd/partwise/pipeline/results"
)

// TestRanksSection: the page of an experiment shows the ranks that were chosen, and their curve.
func TestRanksSection(t *testing.T) {
	e, err := experimentfile.Parse([]byte("name: small\nmethods: [nmf, kmeans]\nclasses: [2, 3]\nrepeats: 2\nrank: {among: 2..4}\ncluster: {restarts: 1, k: auto}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = testkit.CSV(t, 9, 9, 9)
	in, err := e.Prepare(t.Context(), pipeline.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pipeline.NewPlan(t.Context(), e, in)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	folder, err := results.Open(dir, e, ExperimentFiles...)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	records, err := folder.Run(t.Context(), plan, pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Publish(t.Context(), folder, Sources{}); err != nil {
		t.Fatal(err)
	}
	read, unread, err := results.ReadLog(dir)
	if err != nil || unread != nil || !reflect.DeepEqual(read, records) {
		t.Errorf("the log has other records: %v, %v", unread, err)
	}
	files := tree(t, dir)
	page := files["index.html"]
	for _, want := range []string{`id="ranks"`, "curves/rank.png", "tables/ranks.csv", "tables/groups.tex", "Draw by draw", "the least number that predicts as well as the best", "draws of 3 classes", `id="how-many"`, "curves/groups.png"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if files["curves/rank.svg"] == "" {
		t.Error("there is no curve")
	}
}

func TestMeanCurve(t *testing.T) {
	mean := meanCurve([]*factor.RankCurve{
		{Rank: []int{2, 3, 5}, Misfit: []float64{0.5, 0.3, 0.5}, Deviation: []float64{0.25, 0.1, 0.5}, Stability: []float64{1, 0.9, 0.75}},
		{Rank: []int{2, 4, 5}, Misfit: []float64{0.25, 0.3, 0.25}, Deviation: []float64{0.75, 0.1, 0.5}, Stability: []float64{0.5, 0.9, 0.75}},
	})
	want := &factor.RankCurve{Rank: []int{2, 5}, Misfit: []float64{0.375, 0.375}, Deviation: []float64{0.5, 0.5}, Stability: []float64{0.75, 0.75}}
	if !reflect.DeepEqual(mean, want) {
		t.Errorf("%+v", mean)
	}
}

func TestMeanGaps(t *testing.T) {
	from, gaps := meanGaps([]*pipeline.CountChoice{{From: 2, Gap: []float64{0.5, 0.25, 1}}, {From: 3, Gap: []float64{0.75, 0.5, 2}}})
	if from != 3 || !reflect.DeepEqual(gaps, []float64{0.5, 0.75}) {
		t.Errorf("from %d: %v", from, gaps)
	}
}
