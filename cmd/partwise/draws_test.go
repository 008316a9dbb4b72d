package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/npz"
)

const drawsExperiment = `name: mine
data: {set: generated, largest: 4}
features: {pixels: 5}
methods: [kmeans, {name: theirs, results: 'theirs/*'}]
classes: [2, 3]
repeats: 2
cluster: {restarts: 2}
`

func globbed(t *testing.T, pattern string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}

// TestDraws: draws before there are results, results into the table, and only changed results scored again.
func TestDraws(t *testing.T) {
	workplace(t)
	write(t, "mine.yaml", drawsExperiment)
	if out := must(t, "draws", "mine.yaml", "--out", "draws"); out != "4 draws are in draws.\n" {
		t.Error(out)
	}
	if got, want := globbed(t, "draws/k*"), []string{"k2-draw001.npz", "k2-draw002.npz", "k3-draw001.npz", "k3-draw002.npz"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if code, _, stderr := partwise("run", "mine.yaml"); code != exitFailed || !strings.Contains(stderr, "theirs: no file theirs/* has the result of the draw generated-k2-draw001") {
		t.Errorf("without results: exit code %d, %s", code, stderr)
	}
	if err := os.Mkdir("theirs", 0o777); err != nil {
		t.Fatal(err)
	}
	answer := func(name string, groups func(i int) int) {
		vars, err := vectorfile.Variables(t.Context(), filepath.Join("draws", name))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		z := npz.NewWriter(&text)
		for _, v := range vars {
			switch v.Name {
			case "draw":
				z.Words("draw", v.Text)
			case "fea":
				list := make([]int, v.Dims[0])
				for i := range list {
					list[i] = groups(i)
				}
				z.Integers("groups", list...)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join("theirs", name), text.String())
	}
	for _, name := range globbed(t, "draws/k*") {
		answer(name, func(i int) int { return i % 2 })
	}
	out := must(t, "run", "mine.yaml")
	log := read(t, "results", "mine/results.jsonl")
	if !strings.Contains(out, "theirs") || strings.Count(log, `"method":"theirs"`) != 4 {
		t.Errorf("%s\n%s", out, log)
	}
	if page := read(t, "results", "mine/index.html"); !strings.Contains(page, "results of theirs/*") {
		t.Error("the page does not name the files")
	}
	answer("k3-draw002.npz", func(i int) int { return i / 30 })
	must(t, "run", "mine.yaml")
	now := read(t, "results", "mine/results.jsonl")
	if strings.Count(now, "\n") != 9 || strings.Count(now, `"method":"theirs"`) != 5 {
		t.Errorf("after a change of one result:\n%s", now)
	}

	// Fewer draws replace the old ones. Foreign files are refused before features are computed.
	must(t, "draws", "mine.yaml", "--out", "draws", "--classes", "2", "--repeats", "1", "--format", "mat")
	if got := globbed(t, "draws/k*"); !slices.Equal(got, []string{"k2-draw001.mat"}) {
		t.Errorf("files %q", got)
	}
	write(t, "draws/k3-draw001.npz", "mine")
	for want, args := range map[string][]string{
		"k3-draw001.npz already exists and was not written by partwise": {"--out", "draws"},
		"has results of partwise run: choose another folder":            {"--out", "results/mine"},
		`unknown format "csv"`: {"--out", "other", "--format", "csv"},
	} {
		if code, _, stderr := partwise(append([]string{"draws", "mine.yaml"}, args...)...); code == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, %s", args, code, stderr)
		}
	}
	must(t, "draws", "mine.yaml", "--out", "sets", "--set", "[{set: generated, largest: 3}, {set: generated, largest: 4}]", "--classes", "3")
	if got := globbed(t, "sets/*/*.npz"); len(got) != 4 {
		t.Errorf("files %q", got)
	}
}
