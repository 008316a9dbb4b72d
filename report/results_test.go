package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/experimentfile"
	"github.com/seed4492f2cd/partwise/pipeline/results"
)

// TestPublish: the pages of results are made of their log and models, a model that
// cannot be read is named, in the page too, and what can be read is shown.
func TestPublish(t *testing.T) {
	e, err := experimentfile.Parse([]byte("name: small\nmethods: [nmf, gnmf, kmeans]\nrepeats: 2\ncluster: {restarts: 1}\nscores: [VI]\n"))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = testkit.CSV(t, 6, 6, 6)
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
	if _, err := folder.Run(t.Context(), plan, pipeline.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	made, err := Publish(t.Context(), folder, Sources{})
	if err != nil || made.Warnings != nil || len(made.Coefficients) != 2 || len(made.Headlines()) != 2 {
		t.Fatalf("%+v, %v", made, err)
	}
	if text := tree(t, dir)["tables/vi.txt"]; !strings.Contains(text, "in nats") {
		t.Errorf("the table of the variation of information:\n%s", text)
	}

	broken := filepath.Join(dir, results.ModelDir, plan.Summary().Models[0])
	if err := os.Truncate(broken, 100); err != nil {
		t.Fatal(err)
	}
	var warned []string
	made, err = Publish(t.Context(), folder, Sources{Warn: func(text string) { warned = append(warned, text) }})
	if err != nil || len(made.Coefficients) != 1 || made.Coefficients[0].Method != "gnmf" {
		t.Fatalf("%+v, %v", made, err)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "what nmf learned is not shown") || !strings.Contains(warned[0], broken) {
		t.Errorf("warnings %q", warned)
	}
	page := tree(t, dir)["index.html"]
	if !strings.Contains(page, "what nmf learned is not shown") || strings.Contains(page, "coefficients/nmf.png") || !strings.Contains(page, "coefficients/gnmf.png") {
		t.Error("the page does not say that a model is damaged, or does not show the other")
	}
}
