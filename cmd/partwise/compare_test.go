package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompare: two runs on the same draws are compared, in each format, and nothing in
// their folders is changed.
func TestCompare(t *testing.T) {
	workplace(t)
	for name, setting := range map[string]string{"small": "pixels: 6", "large": "pixels: 10", "other": "pixels: 6}\nseed: 1\ncluster: {restarts: 2"} {
		text := "name: " + name + "\ndata: generated\nfeatures: {" + setting + "}\nmethods: [kmeans]\nclasses: [3, 4]\nrepeats: 6\n"
		if err := os.WriteFile(name+".yaml", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := partwise("run", name+".yaml"); code != exitDone {
			t.Fatal(stderr)
		}
	}
	small, large := filepath.Join("results", "small"), filepath.Join("results", "large")
	content := func() string {
		var out strings.Builder
		for _, dir := range []string{small, large} {
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				info, err := f.Info()
				if err != nil {
					t.Fatal(err)
				}
				out.WriteString(f.Name() + info.ModTime().String())
			}
		}
		return out.String()
	}
	before := content()
	text := must(t, "compare", small, large)
	for _, want := range []string{"A: " + small, "features: 6×6 pixels", "Clustering accuracy (AC)\n", " kmeans      12  "} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	if text := must(t, "compare", small, large, "--format", "markdown"); !strings.Contains(text, "| kmeans |     12 |") {
		t.Errorf("Markdown:\n%s", text)
	}
	if text := must(t, "compare", small, large, "--format", "csv"); !strings.HasPrefix(text, "score,method,trials,a,b,difference,low,high,effect,biserial,p,uncorrected\nAC,kmeans,12,0.") {
		t.Errorf("CSV:\n%s", text)
	}
	for rule, want := range map[string]string{
		"none": "The differences are not tested.", "signed-rank": "Wilcoxon signed-rank test", "bayes-t,rope=20": "within ±20 points", "by=bayes-signed-rank": "Below  Within  Above",
	} {
		if text := must(t, "compare", small, large, "--significance", rule); !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%s: without %q:\n%s", rule, want, text)
		}
	}
	if content() != before {
		t.Error("the folders are changed")
	}
	for _, test := range []struct {
		code int
		want string
		args []string
	}{
		{exitFailed, "cannot be compared: they do not draw the same samples (seed: 0 and 1)", []string{small, filepath.Join("results", "other")}},
		{exitFailed, "photos holds no results", []string{small, "photos"}},
		{exitUsage, "is missing", []string{small}},
		{exitUsage, `there is no test "bays-t" (did you mean bayes-t?)`, []string{small, large, "--significance", "bays-t"}},
		{exitUsage, "a number from 0 to 100", []string{small, large, "--significance", "bayes-t,rope=-1"}},
		{exitUsage, `no format "word"`, []string{small, large, "--format", "word"}},
	} {
		code, stdout, stderr := partwise(append([]string{"compare"}, test.args...)...)
		if code != test.code || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%v: exit code %d, printed %q, said %q", test.args, code, stdout, stderr)
		}
	}
}
