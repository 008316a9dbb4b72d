package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/pipeline/reproduce"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

const manySets = `name: many
data: [generated, {set: generated, largest: 4}, {set: photos, pattern: '{class}-*'}]
features: {pixels: 5}
methods: [kmeans, {name: nmf, iterations: 3}]
classes: 3
repeats: 2
cluster: {restarts: 2}
`

// TestSets: an experiment on several sets has a folder for each, as an experiment on this set alone would write it, and
// a page about all. A second run computes nothing, and an added method runs on each set.
func TestSets(t *testing.T) {
	workplace(t)
	write(t, "many.yaml", manySets)
	out := must(t, "run", "many.yaml")
	for _, want := range []string{"Average rank", "p cannot be below 0.250", "3 sets compared. Tables and curves: " + filepath.Join("results", "many")} {
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

	// The trials of a set equal the trials of an experiment on this set only, byte for byte.
	write(t, "one.yaml", strings.Replace(strings.Replace(manySets, "name: many", "name: many-generated", 1), "[generated, {set: generated, largest: 4}, {set: photos, pattern: '{class}-*'}]", "generated", 1))
	must(t, "run", "one.yaml")
	if read(t, all, "generated/results.jsonl") != read(t, "results", "many-generated/results.jsonl") {
		t.Error("the log of a set differs from an experiment on it alone")
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
		{exitFailed, "has results of several sets; use the folder of one, such as", []string{"compare", all, all}},
		{exitFailed, "has results of an experiment on several sets; choose another name or folder", []string{"run", "one.yaml", "--out", all}},
		{exitFailed, "has results of an experiment on one set; choose another name or folder", []string{"run", "many.yaml", "--out", filepath.Join("results", "many-generated")}},
		// Refused before any set is run.
		{exitFailed, "generated-2: classes: 5 requested, but", []string{"run", "many.yaml", "--classes", "5", "--name", "five"}},
		{exitFailed, "nowhere", []string{"run", "many.yaml", "--set", "[generated, nowhere]", "--name", "five"}},
		{exitUsage, "data: set 2: the experiment has no data: set data", []string{"run", "many.yaml", "--set", "[generated, {largest: 3}]", "--name", "five"}},
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

	// A foreign list of sets leads to no other place.
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

// TestCompare: two runs on the same draws are compared, in each format, and their folders are unchanged.
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
		{exitFailed, "photos has no results", []string{small, "photos"}},
		{exitUsage, "partwise compare DIR1 DIR2", []string{small}},
		{exitUsage, `unknown test "bays-t"; did you mean bayes-t?`, []string{small, large, "--significance", "bays-t"}},
		{exitUsage, "a number from 0 to 100", []string{small, large, "--significance", "bayes-t,rope=-1"}},
		{exitUsage, `unknown format "word"`, []string{small, large, "--format", "word"}},
	} {
		code, stdout, stderr := partwise(append([]string{"compare"}, test.args...)...)
		if code != test.code || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%v: exit code %d, printed %q, said %q", test.args, code, stdout, stderr)
		}
	}
}

// TestLaTeXPaper: all LaTeX tables of an experiment on three sets, and of a comparison, fit a two-column article
// without overfull lines or warnings.
func TestLaTeXPaper(t *testing.T) {
	workplace(t)
	write(t, "paper.yaml", `name: paper
data: [generated, {set: generated, largest: 5}, {set: generated, largest: 4}]
features: {pixels: 5}
methods:
  - {name: kmeans}
  - {name: semi-gnmf, iterations: 3}
  - {name: ccf, iterations: 3}
  - {name: gnmf, iterations: 3, lambda: [0.001, 1, 100]}
classes: [2, 4]
repeats: 6
labels: 30%
cluster: {restarts: 1}
`)
	must(t, "run", "paper.yaml")
	generated := filepath.Join("results", "paper", "generated")
	write(t, "compared.tex", must(t, "compare", generated, generated, "--format", "latex"))
	tables := []string{"compared.tex"}
	err := fs.WalkDir(os.DirFS("."), "results", func(path string, _ fs.DirEntry, err error) error {
		for _, name := range []string{"ac", "nmi"} {
			if ok, _ := regexp.MatchString(`/(best-)?`+name+`(-sets|-pairs)?\.tex$`, path); ok {
				tables = append(tables, path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) != 1+2*(2+3*2) {
		t.Fatalf("the tables are %q", tables)
	}
	text := `\documentclass[twocolumn]{article}\usepackage{booktabs,graphicx}\begin{document}`
	formula := regexp.MustCompile(`\$[^$]*\$`)
	for _, name := range tables {
		tex := read(t, filepath.Dir(name), filepath.Base(name))
		if strings.Contains(formula.ReplaceAllString(tex, ""), "<") {
			t.Errorf("%s: < outside of formulas, which the fonts of TeX show as an inverted exclamation mark", name)
		}
		for _, f := range formula.FindAllString(tex, -1) {
			if regexp.MustCompile(`[0-9] +[0-9]`).MatchString(f) {
				t.Errorf("%s: the numbers of %s run together", name, f)
			}
		}
		text += fmt.Sprintf(`\input{%s}\clearpage`, name)
	}
	if _, err := exec.LookPath("pdflatex"); err != nil {
		t.Skip("pdflatex is not installed (Debian: texlive-latex-recommended)")
	}
	write(t, "paper.tex", text+`\end{document}`)
	latex := func() string {
		out, err := exec.CommandContext(t.Context(), "pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "paper.tex").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	latex() // writes the labels
	if bad := regexp.MustCompile(`(?m)^(Overfull|LaTeX.*Warning|Package.*Warning).*$`).FindAllString(latex(), -1); bad != nil {
		t.Errorf("LaTeX says:\n%s", strings.Join(bad, "\n"))
	}
}

// fill puts two blobs with 2000 bytes in total into the cache at dir.
func fill(t *testing.T, dir string) {
	t.Helper()
	store, err := cache.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{500, 1396} { // and 52 bytes before each
		store.Put(cache.NewKey("test", size), make([]byte, size))
	}
}

func TestCache(t *testing.T) {
	here, other := filepath.Join(t.TempDir(), "new"), t.TempDir()
	t.Setenv("PARTWISE_CACHE", here)
	says := func(line string, want ...string) {
		t.Helper()
		out := must(t, strings.Fields(line)...)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("partwise %s does not say %q:\n%s", line, w, out)
			}
		}
	}
	says("cache", here, "entries  0", "size     0 B")
	fill(t, here)
	fill(t, other)
	note := filepath.Join(here, "note.txt")
	write(t, note, "mine")
	t.Setenv("PARTWISE_CACHE_SIZE", "3GB")
	says("cache", here, "entries  2", "size     1.9 kB", "limit    3.0 GB", "oldest   last used on "+time.Now().Format(time.DateOnly))
	says("cache --cache "+other, other, "entries  2")
	says("cache clear", here, "removed  2", "freed    1.9 kB")
	says("cache", here, "entries  0")
	says("cache --cache "+other, "entries  2")
	says("cache clear --cache "+other, other, "removed  2")
	if read(t, note) != "mine" {
		t.Error("a file that is not the cache's differs")
	}
	if left, err := os.ReadDir(here); err != nil || len(left) != 2 { // and the marker of a cache
		t.Errorf("cleared, the folder holds %v, %v", left, err)
	}
}

func TestCacheMistakes(t *testing.T) {
	t.Setenv("PARTWISE_CACHE", filepath.Join(t.TempDir(), "a"))
	write(t, os.Getenv("PARTWISE_CACHE"), "a file")
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"cache purge":     {2, `unknown command "purge"`},
		"cache clear now": {2, `unexpected argument "now"`},
		"cache --all":     {2, "unknown flag: --all"},
		"cache":           {1, os.Getenv("PARTWISE_CACHE")},
		"cache clear":     {1, os.Getenv("PARTWISE_CACHE")},
	} {
		code, _, stderr := partwise(strings.Fields(line)...)
		if code != want.code || !strings.HasPrefix(stderr, "partwise: ") || !strings.Contains(stderr, want.text) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("partwise %s: exit code %d and %q, want %d and %q", line, code, stderr, want.code, want.text)
		}
	}
}

// TestGetUnpublishedSum: a file without a published sum is not downloaded over plain http by default, and its sum is
// printed.
func TestGetUnpublishedSum(t *testing.T) {
	workplace(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "gone", http.StatusNotFound) }))
	t.Cleanup(s.Close)
	code, _, stderr := partwise("datasets", "get", "orl", "--from", "raw", "--data", "sets", "--mirror", s.URL)
	if code != exitFailed || !strings.Contains(stderr, "a plain HTTP download without a published checksum could be altered on the way; insecure allows it") {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
	code, _, stderr = partwise("datasets", "get", "orl", "--from", "raw", "--data", "sets", "--mirror", s.URL, "--insecure")
	if code != exitFailed || !strings.Contains(stderr, "404") {
		t.Errorf("with --insecure: exit code %d, said %q", code, stderr)
	}
	if entries, err := os.ReadDir("sets"); err == nil && len(entries) > 0 {
		t.Errorf("the data folder holds %v", entries)
	}
}

// TestGetStopped checks that an interrupted download reports the part that is kept.
func TestGetStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "some")
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	dir := t.TempDir()
	cmd := getCommand(&dir)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage = true
	cmd.SetArgs([]string{"coil20", "--mirror", server.URL})
	const want = "stopped while getting coil20: "
	if err := cmd.ExecuteContext(ctx); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// recipeFiles writes a recipe on generated data into the folder.
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

// TestReproduce: a recipe runs to its verdicts, with readings if needed. A second run computes nothing and prints the
// same, and so does one that its budget cut short.
func TestReproduce(t *testing.T) {
	workplace(t)
	recipeFiles(t)
	out := must(t, "reproduce", "tiny.yaml", "--draws", "20", "--out", "a", "--doc", "all.md")
	for _, want := range []string{"tiny: Nobody, Nothing, 2000", "does not hold  k-means gains 90 points (Table 1)", "readings: a ", "unlabelled only; b not scaled.", "average", "1.0 / ", "Results are in"} {
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
	if text := read(t, "all.md"); !strings.Contains(text, "## tiny") || !strings.Contains(text, "|tiny|20|3|") {
		t.Errorf("the document is\n%s", text)
	}
	log := read(t, "a", "results.jsonl")
	if again := must(t, "reproduce", "tiny.yaml", "--draws", "20", "--out", "a", "--doc", "all.md", "--force"); again != out || read(t, "a", "results.jsonl") != log {
		t.Errorf("again printed\n%s", again)
	}
	// A document keeps its outcomes of other recipes.
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
	if !strings.Contains(both, one[strings.Index(one, "## tiny"):]) || !strings.Contains(both, "|tiny|20|") || !strings.Contains(both, "\n## my\\_own\n") || !strings.Contains(both, "\n|my\\_own|10|") {
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
			t.Errorf("%s differs", file)
		}
	}
	// In shards, of more draws than the outcome needs.
	for _, shard := range []string{"0/2", "1/2"} {
		must(t, "reproduce", "tiny.yaml", "--draws", "20", "--shard", shard, "--out", "part"+shard[:1])
	}
	must(t, "reproduce", "tiny.yaml", "--draws", "20", "--join", "part*", "--out", "c")
	got := files(t, "c")
	for name, text := range files(t, "a") {
		if text != got[name] && !strings.Contains(name, "manifest") {
			t.Errorf("%s differs", name)
		}
	}
	must(t, "report", "a")
	if _, err := os.Stat(filepath.Join("a", reproduce.TextFile)); err != nil {
		t.Error(err)
	}
}

// TestReproduceMistakes: all errors are reported before any trial.
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
		"reproduce beyond --draws 6":           "--draws is for recipes of papers; beyond has none",
		"reproduce ccf-yal":                    `unknown recipe "ccf-yal"; did you mean ccf-yale?`,
		"reproduce ccf-yale":                   `partwise datasets get yale`,
		"reproduce cnmf-corel":                 "Corel is sold",
		"reproduce none.yaml":                  "none.yaml",
		"reproduce lone.yaml":                  "lone.paper.yaml",
		"reproduce bad.yaml":                   `bad.yaml:3:1: unknown key "methds"`,
		"reproduce tiny.yaml --out mine":       "mine/index.html",
		"reproduce tiny.yaml ccf-yale --out x": "--out, --set and --join need exactly one recipe",
		"reproduce tiny.yaml --shard 0/2":      "--shard needs --draws or --quick",
		"reproduce tiny.yaml --join part*":     `--join "part*": no such folder`,
		"reproduce tiny.yaml --join mine":      "--join: mine has no results of an experiment",
		"reproduce tiny.yaml --set nowhere":    "nowhere",
		"reproduce tiny.yaml --doc labels.csv": "labels.csv already exists; --force replaces it",
		"reproduce tiny.yaml --draws 0":        "--draws 0: expected 1 or more",
		"reproduce tiny.yaml --budget 10":      "--budget",
		"reproduce --all ccf-yale":             "--all runs all recipes; remove the names",
		"reproduce --show":                     "needs the name of a recipe",
		"reproduce --doc all.md":               "--doc needs the names of recipes or --all",
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

// TestShowRecipes: a printed recipe is an experiment file, and all recipes are listed.
func TestShowRecipes(t *testing.T) {
	t.Setenv("PARTWISE_DATA", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	list := must(t, "reproduce")
	for _, name := range reproduce.Names() {
		if !strings.Contains(list, " "+name+" ") {
			t.Errorf("%s is not listed:\n%s", name, list)
		}
		shown := must(t, "reproduce", "--show", name)
		e, err := spec.Parse([]byte(shown))
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
