package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const manySets = `name: many
data: [generated, {set: generated, largest: 4}, {set: photos, pattern: '{class}-*'}]
features: {pixels: 5}
methods: [kmeans, {name: nmf, iterations: 3}]
classes: 3
repeats: 2
cluster: {restarts: 2}
`

// TestSets: an experiment on several sets has a folder of each, which is that of an experiment on
// this one alone, and a page on all; running again computes nothing, and a method that is added
// is run on each.
func TestSets(t *testing.T) {
	workplace(t)
	write(t, "many.yaml", manySets)
	out := must(t, "run", "many.yaml")
	for _, want := range []string{"Average rank", "no p can be below 0.250", "3 sets. What they say together is in " + filepath.Join("results", "many")} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
	all := filepath.Join("results", "many")
	for _, name := range []string{"index.html", "sets.json", "tables/ac-sets.csv", "tables/ac-pairs.tex", "curves/ac-ranks.svg", "generated/index.html", "generated-2/results.jsonl", "photos/experiment.json"} {
		if _, err := os.Stat(filepath.Join(all, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	if page := read(t, all, "index.html"); !strings.Contains(page, `<a href="generated-2/index.html">`) {
		t.Error("the page of a set is not linked")
	}

	// The trials of a set are those of an experiment on it alone, to the byte.
	write(t, "one.yaml", strings.Replace(strings.Replace(manySets, "name: many", "name: many-generated", 1), "[generated, {set: generated, largest: 4}, {set: photos, pattern: '{class}-*'}]", "generated", 1))
	must(t, "run", "one.yaml")
	if read(t, all, "generated/results.jsonl") != read(t, "results", "many-generated/results.jsonl") {
		t.Error("the log of a set is not that of an experiment on it alone")
	}

	logs := map[string]string{}
	for _, name := range []string{"generated", "generated-2", "photos"} {
		logs[name] = read(t, all, name+"/results.jsonl")
	}
	before := read(t, all, "index.html")
	must(t, "run", "many.yaml")
	must(t, "report", all)
	if read(t, all, "index.html") != before {
		t.Error("another page of the same results")
	}
	write(t, "more.yaml", strings.Replace(manySets, "[kmeans,", "[kmeans, {name: cf, iterations: 2},", 1))
	must(t, "run", "more.yaml")
	for name, log := range logs {
		now := read(t, all, name+"/results.jsonl")
		for line := range strings.Lines(log) {
			if !strings.Contains(now, line) {
				t.Errorf("%s: a trial was run again", name)
			}
		}
		if strings.Count(now, "\n") != 6 {
			t.Errorf("%s has %d trials", name, strings.Count(now, "\n"))
		}
	}

	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitFailed, "holds the results of several sets: name the folder of one", []string{"compare", all, all}},
		{exitFailed, "holds the results of an experiment on several sets", []string{"run", "one.yaml", "--out", all}},
		{exitFailed, "holds the results of an experiment on one set", []string{"run", "many.yaml", "--out", filepath.Join("results", "many-generated")}},
		// Found before any set is run.
		{exitFailed, "generated-2: classes: 5 are asked for", []string{"run", "many.yaml", "--classes", "5", "--name", "five"}},
		{exitFailed, "nowhere", []string{"run", "many.yaml", "--set", "[generated, nowhere]", "--name", "five"}},
		{exitUsage, "data: set 2: the experiment names no data", []string{"run", "many.yaml", "--set", "[generated, {largest: 3}]", "--name", "five"}},
	} {
		code, _, stderr := partwise(c.args...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, said %q, want %q", c.args, code, stderr, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join("results", "five")); err == nil {
		t.Error("a folder is left of an experiment that was refused")
	}
	must(t, "compare", filepath.Join(all, "generated"), filepath.Join("results", "many-generated"))

	// What a stranger's list of sets says leads nowhere else.
	for _, list := range []string{`{"name": "x", "command": "", "sets": ["a", "../photos"]}`, `{"name": "x", "command": "", "sets": ["a", "a"]}`, `{"name": "x", "sets": ["a"]}`, "[]"} {
		if err := os.MkdirAll("evil", 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join("evil", "sets.json"), list)
		if code, _, stderr := partwise("report", "evil"); code != exitFailed || !strings.Contains(stderr, "sets.json") {
			t.Errorf("%s: exit code %d, said %q", list, code, stderr)
		}
	}
}
