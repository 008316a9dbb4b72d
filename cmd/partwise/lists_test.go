package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestListsAsJSON: a list as JSON has every entry with what other programs need to call it.
func TestListsAsJSON(t *testing.T) {
	var out, said bytes.Buffer
	if code := run([]string{"methods", "ccf", "--json"}, &out, &said); code != exitDone {
		t.Fatalf("exit %d: %s", code, &said)
	}
	var document struct {
		Version int
		Command string
		Entries []struct {
			Name                     string
			Facts                    map[string]string
			Needs, Supports, Solvers []string
			Settings, Shared         []struct {
				Name, Type, Default, Help string
				Choices                   []string
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	e := document.Entries[0]
	if document.Version != 1 || document.Command != "methods" || len(document.Entries) != 1 || e.Name != "ccf" || e.Facts["paper"] == "" ||
		!slices.Equal(e.Needs, []string{"labels"}) || !slices.Contains(e.Supports, "signed") || !slices.Contains(e.Solvers, "fast") {
		t.Errorf("got %s", &out)
	}
	if s := e.Settings[0]; s.Name != "kernel" || s.Type != "choice" || s.Default != "linear" || !slices.Contains(s.Choices, "rbf") {
		t.Errorf("setting %+v", s)
	}
}

// TestModelAlone: cluster --out FILE.npz writes the model and nothing else.
func TestModelAlone(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "model.npz")
	args := []string{"cluster", testkit.CSV(t, 1, 2, 9, 10, 11), "-k", "2", "--method", "kmeans", "--features", "normalise=none", "--out", model}
	var out bytes.Buffer
	if code := run(args, &out, &out); code != exitDone {
		t.Fatalf("exit %d: %s", code, &out)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 1 {
		t.Errorf("files %v", files)
	}
	if m, _ := readModel(t.Context(), model); len(m.Groups.Centres.Sizes) != 2 {
		t.Errorf("model %+v", m)
	}
	if code := run(args, &out, &out); code == exitDone {
		t.Error("a file was replaced")
	}
}
