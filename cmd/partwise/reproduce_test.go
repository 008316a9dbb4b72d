package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/pipeline/experimentfile"
	"github.com/seed4492f2cd/partwise/pipeline/reproduce"
)

// recipeFiles writes a recipe of generated data into the folder.
func recipeFiles(t *testing.T) {
	t.Helper()
	write(t, "tiny.yaml", `name: tiny
data: {set: generated, samples: 120}
features: {pixels: 8}
methods: [kmeans, {name: nmf, iterations: 5}]
classes: [2, 3]
labels: 30%
rank: k
cluster: {restarts: 1}
seed: 2
`)
	write(t, "tiny.paper.yaml", `paper: Nobody, Nothing, 2000
claims:
  - {says: k-means gains 90 points, where: Table 1, score: AC, method: kmeans, over: nmf, gain: 90}
  - {says: NMF with more labels is above k-means, where: Table 2, score: AC, method: nmf, over: kmeans, in: more}
  - {says: more with fewer classes, where: text, score: NMI, method: kmeans, over: nmf, at: 2, than: 3}
tables:
  - {where: Table 1, score: AC, methods: [kmeans, nmf], rows: [{at: 2, are: [0.01, 0]}, {are: [0.8, 0.01]}]}
variants:
  - {name: more, labels: 60%}
readings:
  - {name: unlabelled only, free: true}
  - {name: not scaled, features: {pixels: 8, normalise: none}}
`)
}

// TestReproduce: a recipe is run to its verdicts, with its readings where these are of use; the same
// again runs nothing and prints the same, and so does one that was cut short by its budget.
func TestReproduce(t *testing.T) {
	workplace(t)
	recipeFiles(t)
	out := must(t, "reproduce", "tiny.yaml", "--draws", "20", "--out", "a", "--doc", "all.md")
	for _, want := range []string{"tiny: Nobody, Nothing, 2000", "does not hold  k-means gains 90 points (Table 1)", "none of these readings gives the printed value: unlabelled only", "not scaled (", "average", "1.0 / ", "This is in"} {
		if !strings.Contains(out, want) {
			t.Errorf("printed\n%s\nwant %q", out, want)
		}
	}
	for _, file := range []string{"a/index.html", "a/results.jsonl", "a/variants/more/results.jsonl", "a/variants/not-scaled/results.jsonl"} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if page := read(t, "a", "index.html"); !strings.Contains(page, `<th scope="row">program</th><td>partwise `) {
		t.Error("the page does not tell the version of the program")
	}
	if text := read(t, "all.md"); !strings.Contains(text, "## tiny") || !strings.Contains(text, "| tiny | 20 | 3 claims") {
		t.Errorf("the document is\n%s", text)
	}
	log := read(t, "a", "results.jsonl")
	if again := must(t, "reproduce", "tiny.yaml", "--draws", "20", "--out", "a", "--doc", "all.md", "--force"); again != out || read(t, "a", "results.jsonl") != log {
		t.Errorf("again printed\n%s", again)
	}
	// A document keeps what it holds of other recipes.
	one := read(t, "all.md")
	for _, suffix := range []string{".yaml", ".paper.yaml"} {
		write(t, "my_own"+suffix, strings.NewReplacer("name: tiny", "name: my_own", "where: text, ", "").Replace(read(t, "tiny"+suffix)))
	}
	if said := must(t, "reproduce", "my_own.yaml", "--quick", "--out", "own", "--doc", "all.md", "--force"); !strings.Contains(said, "more with fewer classes\n") {
		t.Errorf("of a claim without its place it said\n%s", said)
	}
	both := read(t, "all.md")
	if strings.Contains(both, ", |") || strings.Contains(both, ", (") {
		t.Errorf("a claim without its place in the document\n%s", both)
	}
	if !strings.Contains(both, one[strings.Index(one, "## tiny"):]) || !strings.Contains(both, "| tiny | 20 |") || !strings.Contains(both, "\n## my\\_own\n") || !strings.Contains(both, "\n| my\\_own | 10 |") {
		t.Errorf("the document of both is\n%s", both)
	}
	must(t, "reproduce", "my_own.yaml", "--quick", "--out", "own", "--doc", "all.md", "--force")
	if again := read(t, "all.md"); again != both {
		t.Errorf("again the document of both is\n%s\nwas\n%s", again, both)
	}
	// In pieces, by one worker.
	if code, _, stderr := partwise("reproduce", "tiny.yaml", "--draws", "20", "--out", "b", "--budget", "1ns"); code != exitDone || !strings.Contains(stderr, "the budget of 1ns is spent") {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
	must(t, "reproduce", "tiny.yaml", "--quick", "--out", "b")
	if _, err := os.Stat("b/variants/not-scaled"); err == nil {
		t.Error("--quick ran a reading")
	}
	pieces := must(t, "reproduce", "tiny.yaml", "--draws", "20", "--out", "b", "--workers", "1")
	if strings.ReplaceAll(pieces, " b", " a") != strings.ReplaceAll(out, " b", " a") {
		t.Errorf("in pieces it printed\n%s\nand at once\n%s", pieces, out)
	}
	for _, file := range []string{reproduce.TextFile, reproduce.MarkdownFile, "results.jsonl", "variants/more/results.jsonl"} {
		if !bytes.Equal([]byte(read(t, "a", file)), []byte(read(t, "b", file))) {
			t.Errorf("%s is another", file)
		}
	}
	must(t, "report", "a")
	if _, err := os.Stat(filepath.Join("a", reproduce.TextFile)); err != nil {
		t.Error(err)
	}
}

// TestReproduceMistakes: all that is wrong is said before anything is run.
func TestReproduceMistakes(t *testing.T) {
	workplace(t)
	recipeFiles(t)
	write(t, "lone.yaml", "name: lone\ndata: generated\nmethods: [nmf]\n")
	write(t, "bad.yaml", "name: bad\ndata: generated\nmethds: [nmf]\n")
	write(t, "bad.paper.yaml", "paper: P\n")
	if err := os.Mkdir("mine", 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, "mine/index.html", "my own page")
	for line, want := range map[string]string{
		"reproduce ccf-yal":                    `there is no recipe "ccf-yal" (did you mean ccf-yale?); there are ccf-coil20,`,
		"reproduce ccf-yale":                   `partwise datasets get yale`,
		"reproduce cnmf-corel":                 "Corel is sold",
		"reproduce none.yaml":                  "none.yaml",
		"reproduce lone.yaml":                  "lone.paper.yaml",
		"reproduce bad.yaml":                   `bad.yaml: [3:1] unknown key "methds"`,
		"reproduce tiny.yaml --out mine":       "mine/index.html",
		"reproduce tiny.yaml ccf-yale --out x": "for one recipe",
		"reproduce tiny.yaml --set nowhere":    "nowhere",
		"reproduce tiny.yaml --doc labels.csv": "labels.csv is there already; --force replaces it",
		"reproduce tiny.yaml --draws 0":        "--draws 0",
		"reproduce tiny.yaml --budget 10":      "--budget",
		"reproduce --all ccf-yale":             "--all takes all recipes",
		"reproduce --show":                     "name one",
		"reproduce --doc all.md":               "--doc needs recipes",
	} {
		code, stdout, stderr := partwise(strings.Fields(line)...)
		if code == exitDone || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, printed %q, said %q, want %q", line, code, stdout, stderr, want)
		}
	}
	if read(t, "mine", "index.html") != "my own page" {
		t.Error("a page of the user's is gone")
	}
}

// TestShowRecipes: what is printed of a recipe is an experiment file, and all recipes are listed.
func TestShowRecipes(t *testing.T) {
	t.Setenv("PARTWISE_DATA", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	list := must(t, "reproduce")
	for _, name := range reproduce.Names() {
		if !strings.Contains(list, " "+name+" ") {
			t.Errorf("%s is not listed:\n%s", name, list)
		}
		shown := must(t, "reproduce", "--show", name)
		e, err := experimentfile.Parse([]byte(shown))
		if recipe, _ := reproduce.Lookup(name); !strings.HasPrefix(shown, recipe.Protocol) {
			t.Errorf("%s is not shown as it is:\n%s", name, shown)
		}
		if err != nil || e.Name != name || !strings.Contains(shown, "# claims:\n") {
			t.Errorf("%s is shown as\n%s%v", name, shown, err)
		}
	}
	if code, _, stderr := partwise("reproduce", "--all", "--out", "x"); code != exitUsage {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
}
