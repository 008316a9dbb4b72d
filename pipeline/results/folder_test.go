package results

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// tiny is an experiment of 2×2 trials.
const tiny = `{name: tiny, methods: [kmeans, nmf], classes: 2, repeats: 2, seed: 3}`

// TestUnreadLines: unreadable lines of the log are never lost, and half a record of a killed run is not a line.
func TestUnreadLines(t *testing.T) {
	p := newPlan(t, tiny, testkit.CSV(t, 9, 10, 11))
	whole := string(runPlan(t, p, t.TempDir(), pipeline.RunOptions{}))
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	later := strings.Replace(lines[0], `{"trial":"`, `{"version":9,"trial":"`, 1)
	for name, c := range map[string]struct{ log, want string }{
		"a line of a later version":        {later + lines[1], whole + later},
		"text at the end":                  {lines[0] + "a note", whole + "a note\n"},
		"half a record":                    {lines[0] + lines[1][:len(lines[1])/2], whole},
		"the beginning of one":             {lines[0] + `{"tri`, whole},
		"a record without its line feed":   {lines[0] + strings.TrimSuffix(lines[1], "\n"), whole},
		"a record of another trial, twice": {strings.Replace(lines[0], `"trial":"`, `"trial":"x`, 1) + lines[0] + lines[0], whole + strings.Replace(lines[0], `"trial":"`, `"trial":"x`, 1)},
		"two records in a line":            {strings.TrimSuffix(lines[0], "\n") + lines[1] + lines[2], whole + strings.TrimSuffix(lines[0], "\n") + lines[1]},
	} {
		dir := t.TempDir()
		runPlan(t, p, dir, pipeline.RunOptions{})
		if err := os.WriteFile(filepath.Join(dir, LogFile), []byte(c.log), 0o666); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := string(runPlan(t, p, dir, pipeline.RunOptions{})); got != c.want {
				t.Errorf("%s: the log is\n%s, want\n%s", name, got, c.want)
			}
		}
	}
}

// TestDeviceAmongResults: only regular files are read, because a device may have no end and a pipe no writer.
func TestDeviceAmongResults(t *testing.T) {
	p := newPlan(t, tiny, testkit.CSV(t, 9, 10, 11))
	whole := t.TempDir()
	runPlan(t, p, whole, pipeline.RunOptions{})
	for _, name := range []string{LogFile, SummaryFile, SamplesFile} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(os.DevNull, path); err != nil {
			t.Skip(err)
		}
		_, err := ReadSummary(dir)
		if name == LogFile {
			_, _, err = ReadLog(dir)
		}
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOtherExperiment: a folder belongs to one experiment. Another one is refused before any work, with a message that
// names both. More methods, classes, ranks and repeats are allowed.
func TestOtherExperiment(t *testing.T) {
	set := testkit.CSV(t, 9, 10, 11)
	dir := t.TempDir()
	p := newPlan(t, tiny, set)
	runPlan(t, p, dir, pipeline.RunOptions{})
	before := readFile(t, filepath.Join(dir, SummaryFile))
	parse := func(text, set string) *spec.Experiment {
		e, err := spec.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		return e
	}
	for text, want := range map[string]string{
		strings.Replace(tiny, "seed: 3", "seed: 4", 1):                                     "has results of the experiment tiny (seed: 3), not of tiny (seed: 4)",
		strings.Replace(tiny, "seed: 3", "seed: 3, labels: 30%", 1):                        "labels: none",
		strings.Replace(tiny, "seed: 3", "seed: 3, features: {hog: true}", 1):              "histograms of oriented gradients",
		strings.Replace(tiny, "name: tiny", "name: other, cluster: {distance: cosine}", 1): "not of other (clustering",
	} {
		if _, err := Open(dir, parse(text, set)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	other := testkit.CSV(t, 9, 10, 11)
	if _, err := Open(dir, parse(tiny, other)); err == nil || !strings.Contains(err.Error(), set) || !strings.Contains(err.Error(), other) {
		t.Errorf("other data: %v", err)
	}
	if !bytes.Equal(before, readFile(t, filepath.Join(dir, SummaryFile))) {
		t.Error("a refused experiment changed the folder")
	}
	link := filepath.Join(t.TempDir(), "link.csv")
	if err := os.Symlink(set, link); err != nil {
		t.Fatal(err)
	}
	for text, path := range map[string]string{
		tiny: link,
		strings.Replace(tiny, "repeats: 2", "repeats: 3", 1):           set,
		strings.Replace(tiny, "nmf", "{name: gnmf, lambda: 3}, cf", 1): set,
		strings.Replace(tiny, "classes: 2", "classes: 2..3", 1):        set,
		strings.Replace(tiny, "classes: 2", "rank: [3, 4]", 1):         set,
	} {
		r, err := Open(dir, parse(text, path))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		r.Close()
	}
}

// TestStalePages: a run removes pages about other trials, and leaves pages about the same.
func TestStalePages(t *testing.T) {
	set := testkit.CSV(t, 9, 10, 11)
	dir := t.TempDir()
	run := func(p *pipeline.Plan, stop bool, pages map[string]string) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := Open(dir, p.Experiment, "index.html", "tables/")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		_, err = r.Run(ctx, p, pipeline.RunOptions{Progress: func(string, int, int) {
			if stop {
				cancel()
			}
		}})
		if stop {
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Publish(func(to string) ([]string, error) {
			for name, text := range pages {
				path := filepath.Join(to, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	p := newPlan(t, tiny, set)
	run(p, false, map[string]string{"index.html": "page", "tables/ac.txt": "table", "tables/nmi.txt": "table"})
	run(p, true, nil)
	if !there("index.html") || !there("tables/nmi.txt") {
		t.Error("the page of the same trials is gone")
	}
	run(p, false, map[string]string{"index.html": "page", "tables/ac.txt": "table"})
	if !there("tables/ac.txt") || there("tables/nmi.txt") {
		t.Error("a table that is no longer written stands there, or one that is does not")
	}
	more := newPlan(t, strings.Replace(tiny, "repeats: 2", "repeats: 3", 1), set)
	run(more, true, nil)
	if there("index.html") || there("tables") {
		t.Error("the page of the last experiment stands beside a new one that was stopped")
	}
	if records, _, err := ReadLog(dir); err != nil || len(records) < 4 {
		t.Errorf("%d records are left of 4: %v", len(records), err)
	}
}
