package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline/choices"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// partwise runs the command and returns its exit code and output, without warnings about few iterations.
func partwise(args ...string) (code int, stdout, stderr string) {
	var out, err shared
	code = run(args, &out, &err)
	return code, out.String(), unconverged.ReplaceAllString(err.String(), "")
}

var unconverged = regexp.MustCompile(`(?m)^partwise: .* did not converge within .*\n`)

// must runs the command and fails the test if the command fails.
func must(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	code, stdout, stderr := partwise(args...)
	if code != exitDone || stderr != "" {
		t.Fatalf("partwise %s: exit code %d, said %q", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// workplace changes into a new folder with the experiment files; photos, a folder of images of four classes without
// subfolders; new, a folder of other images of these classes; labels.csv, the classes of some images; and links.csv, pairs of others.
func workplace(t *testing.T) {
	t.Helper()
	t.Chdir(newWorkplace(t))
	t.Setenv("PARTWISE_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

func newWorkplace(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	files, err := workplaceFiles()
	if err == nil {
		err = errors.Join(os.CopyFS(folder, files), os.CopyFS(filepath.Join(folder, "docs", "experiments"), os.DirFS("../../docs/experiments")))
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// workplaceFiles makes the files of a workplace once.
var workplaceFiles = sync.OnceValues(func() (fs.FS, error) {
	files := fstest.MapFS{}
	set := datasets.Generated(0)
	labels, links := "file,class\n", "first,second,link\n"
	var unlabelled []string // files and classes in turn
	for i, name := range set.Names {
		if set.Labels[i]%5 != 0 || i%2 == 0 && i%12 != 0 {
			continue
		}
		dir := []string{"new", "photos"}[i%2]
		img, err := set.Image(i)
		if err != nil {
			return nil, err
		}
		file := strings.ReplaceAll(name, "/", "-") + ".png"
		var encoded bytes.Buffer
		if err := png.Encode(&encoded, img); err != nil {
			return nil, err
		}
		files[dir+"/"+file] = &fstest.MapFile{Data: encoded.Bytes(), Mode: 0o666}
		if dir == "new" {
			continue
		}
		if i%9 == 0 {
			labels += file + "," + set.Classes[set.Labels[i]] + "\n"
			continue
		}
		if unlabelled = append(unlabelled, file, set.Classes[set.Labels[i]]); len(unlabelled) > 8 && len(unlabelled) < 40 {
			before := unlabelled[len(unlabelled)-10:]
			kind := map[bool]string{true: "must", false: "cannot"}[before[1] == before[9]]
			links += before[0] + "," + file + "," + kind + "\n"
		}
	}
	files["labels.csv"] = &fstest.MapFile{Data: []byte(labels), Mode: 0o666}
	files["links.csv"] = &fstest.MapFile{Data: []byte(links), Mode: 0o666}
	files["ratings.csv"] = &fstest.MapFile{Data: []byte("name,a,b,c,d\nu1,5,3,,1\nu2,4,,,1\nu3,1,1,,5\nu4,1,,5,4\nu5,NaN,1,5,4\n"), Mode: 0o666}
	return files, nil
})

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(file...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestExamples: the examples in all help texts work when pasted. Experiments are shortened.
func TestExamples(t *testing.T) {
	workplace(t)
	var examples []string
	var gather func(c *cobra.Command)
	gather = func(c *cobra.Command) {
		text := strings.ReplaceAll(c.Example, "\\\n", "")
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				examples = append(examples, line)
			}
		}
		for _, sub := range c.Commands() {
			gather(sub)
		}
	}
	gather(rootCommand())
	// Commands that make results come before commands that read them.
	slices.SortStableFunc(examples, func(a, b string) int {
		isRun := func(s string) int {
			if strings.HasPrefix(s, "partwise run") {
				return 0
			}
			return 1
		}
		return isRun(a) - isRun(b)
	})
	if len(examples) < 10 {
		t.Fatalf("only %d examples", len(examples))
	}
	done := map[string]bool{}
	for _, line := range examples {
		args := strings.Fields(strings.ReplaceAll(line, "'", "")) // no word in quotes holds a blank
		if args[0] != "partwise" {
			t.Errorf("example %q is of another program", line)
			continue
		}
		if slices.Contains(args, "get") || done[line] {
			continue // needs the network, or is in another help text too
		}
		done[line] = true
		switch {
		case args[1] == "run":
			args = append(args, "--classes", "2", "--repeats", "1")
		case len(args) > 2 && args[2] == "generated":
			args = append(args, "--features", "pixels=8")
		}
		if args[1] == "explore" {
			_, finish := exploring(t, args[2:]...)
			finish()
			continue
		}
		out := must(t, args[1:]...)
		if out == "" || strings.Contains(out, "\x1b") {
			t.Errorf("%s printed %q", line, out)
		}
	}
}

// TestRunByFileAndByFlags: both give equal results, and a second run adds nothing.
func TestRunByFileAndByFlags(t *testing.T) {
	workplace(t)
	write(t, "mine.yaml", `
name: by-file
data: {set: generated, samples: 200}
features: {pixels: 8}
methods: [kmeans, nmf, {name: ccf, init: nmf, iterations: 20}]
classes: 2,3
repeats: 2
labels: 20%
rank: k+1
cluster: {distance: cosine, restarts: 5}
seed: 9
`)
	out := must(t, "run", "mine.yaml")
	if !strings.Contains(out, "kmeans") || !strings.Contains(out, "12 of 12 trials") {
		t.Errorf("printed\n%s", out)
	}
	must(t, "run", "--name", "by-flags", "--set", "generated,samples=200", "--features", "pixels=8", "--method", "kmeans", "--method", "nmf",
		"--method", "ccf,init=nmf,iterations=20", "--classes", "2,3", "--repeats", "2", "--labels", "20%", "--rank", "k+1",
		"--cluster", "distance=cosine,restarts=5", "--seed", "9", "--workers", "1")
	want := read(t, "results", "by-file", "results.jsonl")
	if got := read(t, "results", "by-flags", "results.jsonl"); got != want {
		t.Error("the logs by flags and by file differ")
	}
	must(t, "run", "mine.yaml", "--workers", "2")
	if got := read(t, "results", "by-file", "results.jsonl"); got != want {
		t.Error("running again changed the log")
	}
	files := []string{"index.html", "tables/ac.md", "tables/nmi.tex", "tables/ac-free.csv", "tables/ac.txt", "curves/ac.png", "curves/nmi.svg", "curves/convergence.png", "bases/ccf.png", "bases/nmf.png"}
	before := map[string]string{}
	for _, f := range files {
		before[f] = read(t, "results", "by-file", f)
	}
	must(t, "report", "results/by-file")
	for _, f := range files {
		if read(t, "results", "by-file", f) != before[f] {
			t.Errorf("after a second run, %s differs", f)
		}
	}
}

func TestCluster(t *testing.T) {
	workplace(t)
	out := must(t, "cluster", "photos", "-k", "4", "--pattern", "{class}-*", "--out", "scored")
	if !strings.Contains(out, "72 images in 4 groups") || !strings.Contains(out, "AC ") {
		t.Errorf("printed\n%s", out)
	}
	must(t, "cluster", "photos", "-k", "4", "--labels", "labels.csv", "--out", "labelled")
	must(t, "cluster", "photos", "-k", "4", "--pattern", "{class}-*", "--method", "nmf-kl,iterations=2", "--batch", "30", "--out", "blocks")
	if page := read(t, "blocks", "index.html"); !strings.Contains(page, "30 samples") || !strings.Contains(page, "bases/") {
		t.Error("the page does not mention blocks, or has no basis images")
	}
	for _, dir := range []string{"scored", "labelled", "blocks"} {
		for _, f := range []string{"index.html", "model.npz", "page/data.js", "pictures/000.png"} {
			read(t, dir, f)
		}
		lines, err := csv.NewReader(strings.NewReader(read(t, dir, "assignments.csv"))).ReadAll()
		header := "[file group class confidence]"
		if dir == "labelled" {
			header = "[file group class name confidence]"
		}
		if err != nil || len(lines) != 73 || fmt.Sprint(lines[0]) != header {
			t.Errorf("%s: %d lines of assignments, %v", dir, len(lines), err)
		}
		sure := 0
		for _, line := range lines[1:] {
			c, err := strconv.ParseFloat(line[len(line)-1], 64)
			if err != nil || !(c >= 0 && c <= 1) {
				t.Errorf("%s: the confidence is %q", dir, line[len(line)-1])
			}
			if c > 0.2 {
				sure++
			}
		}
		if sure < 30 {
			t.Errorf("%s: %d of %d samples are in a group with confidence", dir, sure, len(lines)-1)
		}
	}
	if a := read(t, "scored", "assignments.csv"); a == read(t, "labelled", "assignments.csv") {
		t.Error("the assignments with and without labels are equal")
	}
	must(t, "cluster", "photos", "-k", "4", "--pattern", "{class}-*", "--out", "again")
	for _, f := range []string{"assignments.csv", "model.npz", "pictures/000.png"} {
		if read(t, "scored", f) != read(t, "again", f) {
			t.Errorf("after a second run, %s differs", f)
		}
	}
}

// TestClusterLinks: links hold with and without labels, and with methods that ignore them.
func TestClusterLinks(t *testing.T) {
	workplace(t)
	for name, args := range map[string][]string{
		"both":    {"--labels", "labels.csv", "--links", "links.csv"},
		"alone":   {"--links", "links.csv"},
		"network": {"--links", "links.csv", "--features", "network"},
		"ncut":    {"--links", "links.csv", "--cluster", "by=ncut"},
	} {
		must(t, append([]string{"cluster", "photos", "-k", "4", "--out", name}, args...)...)
		lines, err := csv.NewReader(strings.NewReader(read(t, name, "assignments.csv"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		group := map[string]string{}
		for _, line := range lines {
			group[line[0]] = line[1]
		}
		links, err := csv.NewReader(strings.NewReader(read(t, "links.csv"))).ReadAll()
		if err != nil || len(links) < 10 {
			t.Fatalf("%d links, %v", len(links), err)
		}
		for _, l := range links[1:] {
			if (group[l[0]] == group[l[1]]) != (l[2] == "must") {
				t.Errorf("%s: %s, and the groups are %s and %s", name, l, group[l[0]], group[l[1]])
			}
		}
		method := map[string]string{"both": "cnmf", "network": "propagated-kmeans"}[name]
		if page := read(t, name, "index.html"); !strings.Contains(page, cmp.Or(method, "nmf")) || name != "ncut" && name != "network" && !strings.Contains(page, "constrained-kmeans") {
			t.Errorf("%s: grouped by another method", name)
		}
	}
}

// TestFewerGroups: finding fewer groups than requested is reported.
func TestFewerGroups(t *testing.T) {
	workplace(t)
	if err := os.Mkdir("same", 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		write(t, fmt.Sprintf("same/%d.png", i), read(t, "photos", firstFile(t, "photos")))
	}
	code, out, stderr := partwise(strings.Fields("cluster same -k 3 --method nmf,init=nndsvda,iterations=1 --cluster by=largest --features pixels=4")...)
	const want = "3 groups requested, but only 1 found"
	if code != exitDone || !strings.Contains(out, "in 1 group of 4") || stderr != "partwise: "+want+"\n" || !strings.Contains(read(t, "results", "same-groups", "index.html"), want) {
		t.Errorf("exit code %d, printed %q, said %q", code, out, stderr)
	}
}

// TestConflictingLabels: labelled images of two classes never share a group, each class has its own group, and
// impossible labels are refused before an image is read.
func TestConflictingLabels(t *testing.T) {
	workplace(t)
	entries, err := os.ReadDir("photos")
	if err != nil {
		t.Fatal(err)
	}
	// Two images of one object with different labels, and two of different objects with one label.
	var labels strings.Builder
	for i, class := range map[int]string{0: "left", 1: "right", 2: "right", 20: "left", 40: "right", 60: "third"} {
		fmt.Fprintf(&labels, "%s,%s\n", entries[i].Name(), class)
	}
	write(t, "odd.csv", labels.String())
	for i, line := range []string{"--method cnmf,iterations=5", "--method kmeans", "--method nmf,iterations=5 --cluster by=ncut -k 4", "--method cnmf,iterations=5 --cluster distance=euclidean -k 7"} {
		dir := fmt.Sprint("labelled", i)
		code, out, stderr := partwise(append(strings.Fields("cluster photos --features pixels=8 --labels odd.csv --out "+dir), strings.Fields(line)...)...)
		if code != exitDone || strings.Contains(stderr, "classes with one labelled sample (third) do not constrain") != strings.Contains(line, "cnmf") {
			t.Errorf("%s: exit code %d, said %q", line, code, stderr)
		}
		records, err := csv.NewReader(strings.NewReader(read(t, dir, "assignments.csv"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		group := map[string]string{}
		for _, r := range records[1:] {
			if r[2] == "" {
				continue
			}
			if g, ok := group[r[2]]; ok && g != r[1] {
				t.Errorf("%s: the class %s is in the groups %s and %s", line, r[2], g, r[1])
			}
			group[r[2]] = r[1]
		}
		if len(group) != 3 || group["left"] == group["right"] || group["left"] == group["third"] || group["right"] == group["third"] {
			t.Errorf("%s: the groups of the classes are %v", line, group)
		}
		for class, g := range group {
			if !strings.Contains(out, fmt.Sprintf("%q is group %s", class, g)) {
				t.Errorf("%s: printed %q, and class %s is in group %s", line, out, class, g)
			}
		}
	}
	write(t, "own.csv", "1,x\n100,y\n200,z\n")
	_, out, stderr := partwise("cluster", "generated", "--labels", "own.csv", "-k", "20", "--method", "nmf,iterations=5", "--cluster", "restarts=1", "--features", "pixels=4", "--out", "own")
	if !strings.Contains(out, "agreement with the data's own classes, over the unlabelled samples:\n  AC ") {
		t.Errorf("printed %q, said %q", out, stderr)
	}

	// Refused before an image is read: one is no image.
	write(t, "photos/zz.png", "none")
	write(t, "two.csv", entries[0].Name()+",a\n"+entries[1].Name()+",b\n")
	write(t, "twice.csv", "file,class\n"+entries[0].Name()+",a\n"+entries[1].Name()+",b\n"+entries[0].Name()+",b\n")
	for line, want := range map[string]string{
		"cluster photos --labels odd.csv -k 2":                           "2 groups requested, but the labels name 3 classes (left, right, third), and each needs a group of its own",
		"cluster photos --labels twice.csv":                              `twice.csv: line 4: "` + entries[0].Name() + `" has class "b", but class "a" in line 2`,
		"cluster photos -k 3 --method cnmf":                              "cnmf needs labels of some samples: set labels",
		"cluster photos --batch 10":                                      "set -k",
		"cluster photos --method nmf --cluster by=largest":               "set -k",
		"cluster photos -k 2..40 --labels odd.csv":                       "2 groups requested, but the labels name 3 classes (",
		"cluster photos -k 2..99":                                        "99 groups requested, but the data have 73 samples",
		"cluster photos -k 99":                                           "99 groups requested, but the data have 73 samples",
		"cluster photos -k 3 --rank 99":                                  "rank: 99 is above the number of samples, 73",
		"cluster photos -k 3 --labels wrong.csv":                         "wrong.csv: line 2: no sample is called",
		"cluster photos -k 3 --labels two.csv --method lda":              "lda: each of the 2 classes has one labelled sample",
		"cluster photos -k 3 --method ntf --features sift=dense":         "ntf needs images, but the features are SIFT",
		"cluster photos -k 3 --method pca --rank 5 --cluster by=largest": "rank 5: clustering by largest coefficient needs one basis vector for each of the 3 groups",
		"cluster photos -k 3 --method kmeans --cluster by=ncut":          "the method kmeans already clusters the features; remove the clustering by ncut, or choose a factorisation",
	} {
		write(t, "wrong.csv", "file,class\nnobody.png,a\n")
		if code, _, stderr := partwise(strings.Fields(line)...); code == exitDone || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("partwise %s: exit code %d, said %q, want %q", line, code, stderr, want)
		}
	}
}

// TestBeforeWork: an impossible experiment is refused before an image is read: one is unreadable.
func TestBeforeWork(t *testing.T) {
	workplace(t)
	first := firstFile(t, "photos")
	write(t, filepath.Join("photos", strings.TrimSuffix(first, ".png")+"x.png"), "none")
	write(t, "pairs.csv", "a,b,link\n"+first+",nobody.png,must\n")
	const head = "name: x\ndata: {set: photos, pattern: '{class}-*'}\nmethods: [nmf, l2-snmf]\nrepeats: 1\n"
	for text, want := range map[string]string{
		"labels: 2\nclasses: 9":                                           "classes: 9 requested, but photos has 4",
		"labels: 2\nclasses: 2\nrank: 99":                                 "rank: 99 is above the number of samples, 36",
		"labels: 99":                                                      "labels: 99 samples requested",
		"labels: 2\nlinks: {file: pairs.csv}":                             `pairs.csv: line 2: no sample is called "nobody.png"`,
		"labels: 2\nlinks: {feedback: none.csv}":                          "none.csv",
		"task: classify\ntrain: 18\ntest: 18":                             "18 training and 18 test samples requested, but the class has",
		"labels: 2\nfeatures: {crop: {eyes: e.csv}}":                      "e.csv",
		"labels: 2\nfeatures: {sift: dense, words: {from: w.npz}}":        "w.npz",
		"labels: 2\nfeatures: [hog, {sift: dense, words: {from: w.npz}}]": "w.npz",
		"labels: 2\nfeatures: [hog, {pixels: 8, crop: {eyes: e.csv}}]":    "e.csv",
	} {
		write(t, "early.yaml", head+text+"\n")
		if code, _, stderr := partwise("run", "early.yaml"); code != exitFailed || !strings.Contains(stderr, want) || strings.Contains(stderr, "x.png") {
			t.Errorf("%s: exit code %d, said %q, want %q", text, code, stderr, want)
		}
	}
	write(t, "early.yaml", head+"labels: 1\n")
	for flags, want := range map[string]string{
		"--method mfa":                                        "classes: 4: mfa: each of the 4 classes has one labelled sample",
		"--method ntf --features hog=true":                    "ntf needs images, but the features are histograms",
		"--method parts,basis=rank-one --features sift=dense": "parts needs images, but the features are SIFT",
	} {
		if code, _, stderr := partwise(append([]string{"run", "early.yaml"}, strings.Fields(flags)...)...); code != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, said %q, want %q", flags, code, stderr, want)
		}
	}
}

// TestColour: image files are compared in colour unless features are given; vectors have no colour.
func TestColour(t *testing.T) {
	workplace(t)
	write(t, "colour.yaml", `
name: colour
data: {set: photos, pattern: "{class}-*"}
methods: [nmf]
repeats: 1
`)
	for dir, test := range map[string]struct {
		line   string
		colour bool
	}{
		"said-nothing": {"cluster photos -k 4", true},
		"said-size":    {"cluster photos -k 4 --features pixels=16", false},
		"said-colour":  {"cluster photos -k 4 --features pixels=16,colour=true", true},
		"said-grey":    {"cluster photos -k 4 --features colour=false", false},
		"vectors":      {"cluster generated --cluster restarts=1", false},
		"experiment":   {"run colour.yaml", false},
		"with-colour":  {"run colour.yaml --features pixels=16,colour=true", true},
	} {
		must(t, append(strings.Fields(test.line), "--method", "nmf,iterations=5", "--out", dir)...)
		img, err := png.Decode(strings.NewReader(read(t, dir, "bases", "nmf.png")))
		if err != nil {
			t.Fatal(err)
		}
		if colour := img.ColorModel() != color.GrayModel; colour != test.colour {
			t.Errorf("partwise %s: parts in colour: %v, want %v", test.line, colour, test.colour)
		}
	}
	if page := read(t, "said-nothing", "index.html"); !strings.Contains(page, "32×32 pixels in colour, normalised by l2") {
		t.Error("the page does not say that it is in colour")
	}
}

// TestMistakes: one line that names the error, and the right exit code.
func TestMistakes(t *testing.T) {
	workplace(t)
	write(t, "broken.yaml", "name: x\ndata: generated\nmethods: [nmf]\nclases: 3\n")
	write(t, "many.yaml", "name: x\ndata: generated\nmethods: [nmf]\nclasses: 21\n")
	write(t, "lonely.csv", "a,b,class\n1,2,x\n1,1,x\n2,1,y\n")
	write(t, "nan.csv", "a,b,class\n1,2,x\n1,NaN,x\n2,1,y\n2,3,y\n")
	write(t, "negative.csv", "a,b,class\n1,2,x\n1,-3,x\n2,1,y\n2,3,y\n")
	write(t, "zero.csv", "a,b,class\n1,2,x\n0,0,x\n2,1,y\n2,3,y\n")
	write(t, "missing.csv", "file,class\nnobody.png,x\n")
	write(t, "bad.mat", "MATLAB 5.0 MAT-file, and then nothing")
	write(t, "photos-file", "")
	for _, dir := range []string{"empty", "twice/train/a", "twice/test/a"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	picture := read(t, "photos", firstFile(t, "photos"))
	write(t, "twice/train/a/1.png", picture)
	write(t, "twice/test/a/1.png", picture)
	if err := os.CopyFS("cut", os.DirFS("photos")); err != nil {
		t.Fatal(err)
	}
	write(t, "cut/half.png", picture[:len(picture)/2])
	const flags = "--method nmf --repeats 1 --name n --set "
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"clutser photos":                                  {2, `unknown command "clutser"; did you mean cluster?`},
		"cluster photos --lables x.csv":                   {2, "unknown flag: --lables; did you mean --labels?"},
		"cluster photos -k 2 --method nfm":                {2, `unknown method "nfm"; did you mean nmf?`},
		"cluster photos -k 2 --method nmf,iteratons=3":    {2, `"iteratons"; did you mean iterations?`},
		"frobnicate":                                      {2, `unknown command "frobnicate"`},
		"run --frobnicate":                                {2, "unknown flag: --frobnicate"},
		"run a b":                                         {2, `unexpected argument "b" (usage: partwise run [FILE]; help: partwise run --help)`},
		"run":                                             {2, "the experiment has no data: set data"},
		"run none.yaml":                                   {1, "none.yaml: no such file"},
		"run broken.yaml":                                 {1, `broken.yaml:4:1: unknown key "clases"; did you mean classes?`},
		"run many.yaml":                                   {1, "classes: 21 requested, but generated has 20"},
		"run many.yaml --classes x":                       {2, `--classes: invalid number of classes "x"`},
		"run many.yaml --method nnmf":                     {2, `unknown method "nnmf"`},
		"run many.yaml --method gnmf,lamda=1":             {2, "unknown key \"lamda\"; did you mean lambda?"},
		"run many.yaml --classes 2 --rank 999":            {1, "rank: 999 is above the number of samples, 72"},
		"run " + flags + "nothing":                        {1, "nothing"},
		"run " + flags + "lonely.csv":                     {1, `class "y" has 1 sample;`},
		"run " + flags + "nan.csv":                        {1, "nan.csv"},
		"run " + flags + "negative.csv":                   {1, "negative.csv row 2, column 2: value -3"},
		"run " + flags + "zero.csv":                       {1, "zero.csv row 2"},
		"run " + flags + "bad.mat":                        {1, "bad.mat"},
		"run " + flags + "yale --data empty":              {1, "partwise datasets get yale"},
		"run " + flags + "empty":                          {1, "empty"},
		"run " + flags + "twice":                          {1, "twice"},
		"cluster":                                         {2, "DATA is missing (usage: partwise cluster DATA; help: partwise cluster --help)"},
		"cluster photos -k 1":                             {2, `-k: invalid number of clusters "1"`},
		"cluster photos -k 99":                            {1, "99 groups requested, but the data have 72 samples"},
		"cluster photos -k 3 --out photos/out":            {2, "is inside the data folder"},
		"run many.yaml --workers -1":                      {2, "--workers -1: expected a whole number of 0 or more"},
		"cluster photos -k many":                          {2, `-k: invalid number of clusters "many"`},
		"cluster photos -k 9..":                           {2, `-k: invalid number of clusters "9.."`},
		"cluster photos -k 9..5":                          {2, `-k: invalid number of clusters "9..5"`},
		"cluster photos -k 1..5":                          {2, `-k: invalid number of clusters "1..5"`},
		"cluster photos -k 3 --labels none.csv":           {1, "none.csv"},
		"cluster photos -k 3 --labels missing.csv":        {1, "missing.csv: line 2"},
		"cluster cut -k 3 --strict":                       {1, "the PNG file ends early: unexpected EOF (--strict=false skips unusable files)"},
		"cluster photos -k 3 --out photos-file":           {1, "photos-file"},
		"cluster photos -k 3 --solver newton":             {2, `--solver: unknown solver "newton" (choices: mu, fast`},
		"cluster photos -k 3 --method gnmf --solver fast": {2, "only with unit-norm"},
		"cluster empty -k 3":                              {1, "empty"},
		"report":                                          {2, "DIR is missing (usage: partwise report DIR"},
		"datasets get":                                    {2, "NAME is missing (usage: partwise datasets get NAME"},
		"datasets yale orl":                               {2, `unexpected argument "orl"`},
		"cache x":                                         {2, `unknown command "x" (choices: clear`},
		"version x":                                       {2, `unexpected argument "x" (usage: partwise version`},
		"completion bash x":                               {2, `unexpected argument "x" (usage: partwise completion bash`},
		"cluster photos -k 99999999999999999999":          {2, `-k: invalid number of clusters "99999999999999999999"`},
		"cluster photos --seed -1":                        {2, `--seed: expected a whole number of 0 or more`},
		"cluster photos --strict=maybe":                   {2, "--strict maybe: expected true or false"},
		"cluster photos -k":                               {2, "-k needs a value"},
		"cluster cut -k 3 --from neither":                 {2, "--from: expected raw or mat"},
		"cluster photos --out":                            {2, "--out needs a value"},
		"cluster photos -q":                               {2, "unknown flag: -q"},
		"report photos":                                   {1, "photos has no results"},
		"methods none":                                    {2, `unknown method "none"`},
		"list nothing":                                    {2, `unknown command "nothing" (choices: clusterers, features, methods, penalties, scores, solvers`},
		"list scores none":                                {2, `unknown score "none" (choices: accuracy, AC`},
		"datasets none":                                   {2, `unknown set "none"`},
		"datasets get none":                               {2, `unknown set "none"`},
	} {
		code, _, stderr := partwise(strings.Fields(line)...)
		first, rest, _ := strings.Cut(stderr, "\n")
		if code != want.code || !strings.Contains(first, want.text) || !strings.HasPrefix(first, "partwise: ") {
			t.Errorf("partwise %s: exit code %d and %q, want %d and %q", line, code, stderr, want.code, want.text)
		}
		excerpt := ""
		if line == "run broken.yaml" {
			excerpt = "  > 4 | clases: 3\n        ^\n"
		}
		if rest != excerpt {
			t.Errorf("partwise %s: after the first line:\n%s, want %q", line, stderr, excerpt)
		}
	}
	if code, _, stderr := partwise("cluster", "photos", "-k", "3", "--labels", ""); code != exitUsage || !strings.Contains(stderr, "--labels: expected a name") {
		t.Errorf("without labels: exit code %d and %q", code, stderr)
	}
	for _, method := range []string{"nmf,gnmf", "gnmf,lambda=[1,2]"} {
		code, _, stderr := partwise("cluster", "photos", "-k", "3", "--method", method)
		if code != exitUsage || !strings.Contains(stderr, strconv.Quote(method)+": expected one method and one value of each setting") {
			t.Errorf("--method %q: exit code %d and %q", method, code, stderr)
		}
	}
	if code, _, stderr := partwise("cluster", "", "-k", "3"); code != exitUsage || !strings.Contains(stderr, "an argument is empty (usage: partwise cluster DATA") {
		t.Errorf("without a name: exit code %d and %q", code, stderr)
	}
	code, out, stderr := partwise("cluster", "cut", "-k", "3", "--out", "skipped")
	if code != exitDone || !strings.Contains(stderr, "skipped 1 of 73 files: 1 truncated; see skipped/skipped.csv\n") || !strings.Contains(read(t, "skipped", "skipped.csv"), "\nhalf.png,truncated,") || !strings.Contains(out, "72 images") {
		t.Errorf("with a bad picture skipped: %d, %q, %q", code, out, stderr)
	}
}

// TestLeftOut: files left out of a folder are reported on the terminal and on the page, and no image is left out.
func TestLeftOut(t *testing.T) {
	workplace(t)
	picture := read(t, "photos", firstFile(t, "photos"))
	for _, f := range []string{"BACKGROUND_Google/image_0001.png", "airplanes/image_0001.png", "airplanes/image_0002.png",
		"BACKGROUND_Google/image_0002.png", "bass/image_0001.png", "bass/image_0002.png", ".thumbnails/1.png"} {
		if err := os.MkdirAll(filepath.Join("mine", filepath.Dir(f)), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join("mine", f), picture)
	}
	write(t, "mine/bass/notes.txt", "none")
	write(t, "mine/bass/broken.png", picture[:len(picture)/2])
	const left, skipped = "ignored: 1 hidden file or folder (.thumbnails), 1 file that is not an image (bass/notes.txt)\n", "skipped 1 of 7 files: 1 truncated"
	for _, line := range []string{"cluster mine -k 2 --out found", "features mine --out found.csv"} {
		code, out, stderr := partwise(strings.Fields(line)...)
		if code != exitDone || !strings.Contains(stderr, left) || !strings.Contains(stderr, skipped) {
			t.Errorf("partwise %s: exit code %d, printed %q and said %q", line, code, out, stderr)
		}
		if strings.HasPrefix(line, "cluster") && !strings.Contains(out, "6 images in 2 groups") {
			t.Errorf("partwise %s printed %q", line, out)
		}
	}
	if page := read(t, "found", "index.html"); !strings.Contains(page, strings.TrimSpace(left)) || !strings.Contains(page, skipped+"; see skipped.csv") {
		t.Error("the page does not list the skipped files")
	}
	code, _, stderr := partwise(strings.Fields("run --set mine --method kmeans --repeats 1 --classes 2")...)
	if code != exitFailed || !strings.Contains(stderr, "broken.png: the PNG file ends early: unexpected EOF (experiments skip no files") {
		t.Errorf("run: exit code %d, said %q", code, stderr)
	}
}

// TestNamesake: a local folder and a known set of the same name have a spelling each, on every command and in
// experiment files.
func TestNamesake(t *testing.T) {
	workplace(t)
	if err := os.CopyFS("generated", os.DirFS("photos")); err != nil {
		t.Fatal(err)
	}
	write(t, "ambiguous.yaml", "data: generated\nmethods: [kmeans]\nclasses: 2\nrepeats: 1\n")
	write(t, "set.yaml", "data: set:generated\nmethods: [kmeans]\nclasses: 2\nrepeats: 1\n")
	write(t, "folder.yaml", "data: {set: ./generated, pattern: '{class}-*'}\nmethods: [kmeans]\nclasses: 2\nrepeats: 1\n")
	for _, line := range []string{"cluster generated -k 2", "run ambiguous.yaml", "features generated --out g.npz"} {
		code, _, stderr := partwise(strings.Fields(line)...)
		if code != exitFailed || !strings.Contains(stderr, "./generated for the folder or set:generated for the set") {
			t.Errorf("partwise %s: exit code %d, said %q", line, code, stderr)
		}
	}
	for line, want := range map[string]string{
		"cluster set:generated --features pixels=4 --method nmf,iterations=3 --cluster restarts=1": "results/generated-groups",
		"cluster ./generated --method nmf,iterations=3 -k 2 --out c2":                              "72 images in 2 groups",
		"run set.yaml":    "1 of 1 trials",
		"run folder.yaml": "1 of 1 trials",
		"run --set set:generated,samples=700 --method kmeans --classes 2 --repeats 1": "results/generated/index.html",
		"features set:generated --out g.npz":                                          "720 samples",
		"features ./generated --out h.npz":                                            "72 samples",
		"datasets set:generated":                                                      "Generated objects",
		"datasets get set:generated":                                                  "needs no download: partwise generates it",
	} {
		if out := must(t, strings.Fields(line)...); !strings.Contains(out, want) {
			t.Errorf("partwise %s printed %q, want %q", line, out, want)
		}
	}
}

// firstFile returns the name of the first file in a folder.
func firstFile(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatal(err)
	}
	return entries[0].Name()
}

func TestListings(t *testing.T) {
	workplace(t)
	for line, want := range map[string][]string{
		"methods":               {"ccf", "semi-gnmf", "Constrained concept", "lambda: 100"},
		"methods gnmf":          {"λ·tr(VᵀLV)", "lambda", "default 100", "Cai"},
		"methods kmeans":        {"k-means", "values of any sign"},
		"methods parts":         {strings.Join(factor.CostFrobenius.Values(), ", ") + "; default frobenius", "normalised-cut"},
		"list":                  {"methods", "solvers", "penalties", "clusterers", "features", "scores"},
		"list penalties":        {"links", "labels or links", "cannot: 1", "l1-weight: 0.1", "λ·tr(VᵀLV)", "Smooth"},
		"list penalties graph":  {"default 100", "the coefficients V", "label-edges", "Cai"},
		"list penalties smooth": {"the basis vectors U", "images"},
		"list scores":           {"AC", "NMI", "classify", "from -100 to 100", "lower"},
		"list scores VI":        {"nats", "scores: [VI]"},
		"list clusterers":       {"ncut", "labels or links", "restarts: 20", "largest"},
		"list solvers":          {"mu", "Multiplicative"},
		"list features":         {"pixels", "sift=dense", "step: 8"},
		"datasets":              {"yale", "newsgroups", "generated"},
		"datasets orl":          {"40", "cite", "licence"},
		"version":               {"partwise", "used by the inner loops"},
		"completion bash":       {"partwise"},
		"--help":                {"partwise cluster photos -k 10"},
		"help run":              {"Examples:", "--classes"},
		"run --help":            {"Examples:", "--classes"},
	} {
		out := must(t, strings.Fields(line)...)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("partwise %s does not say %q", line, w)
			}
		}
	}
	for _, k := range choices.Kinds {
		for _, name := range k.Names() {
			if out := must(t, "list", k.Name, name); !strings.HasPrefix(out, name+": ") {
				t.Errorf("partwise list %s %s prints\n%s", k.Name, name, out)
			}
		}
	}
}

// FuzzInline: a flag for a setting is accepted or refused, and sets no other key.
func FuzzInline(f *testing.F) {
	keys := slices.DeleteFunc(settings.Names(spec.Experiment{}), func(key string) bool { return key == "methods" })
	for _, s := range []string{"yale,from=raw", "ccf,init=nmf", "pixels=32,colour=true", "32,colour=true", "sift,power=0.5+colour,weight=2", ",=", "{a: b}", "a,b=c,d", "x=\ny: z", "lambda=[1,2]", "a={b,c=d"} {
		for i := range keys {
			f.Add(i, s)
		}
		f.Add(-1, s)
	}
	f.Fuzz(func(t *testing.T, key int, value string) {
		e := &spec.Experiment{}
		var err error
		flag := ""
		if key < 0 {
			err = setMethods(e, []string{value, "nmf"})
		} else {
			flag = flagOf(keys[key%len(keys)])
			err = setKey(e, flag, value)
		}
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an empty error")
			}
			return
		}
		if flag != "seed" && e.Seed != 0 || flag != "repeats" && e.Repeats != 0 || flag != "set" && e.Data.Set != "" {
			t.Fatalf("--%s %q gives %+v", flag, value, e)
		}
		e.Check()
	})
}

// TestMistakesChangeNothing: a mistake in the user's input is one error with the file, the line or row if there is one,
// and the value. The folder and its content are unchanged.
func TestMistakesChangeNothing(t *testing.T) {
	workplace(t)
	write(t, "good.csv", "a,b,class\n1,2,x\n1,1,x\n2,1,y\n2,3,y\n")
	write(t, "one.csv", "a,b,class\n1,2,x\n1,1,x\n2,1,y\n")
	write(t, "nan.csv", "a,b,class\n1,2,x\n1,NaN,x\n2,1,y\n2,3,y\n")
	write(t, "inf.csv", "a,b,class\n1,2,x\n1,2,x\n2,+Inf,y\n2,3,y\n")
	write(t, "zero.csv", "a,b,class\n1,2,x\n0,0,x\n2,1,y\n2,3,y\n")
	write(t, "word.csv", "a,b,class\n1,2,x\n1,many,x\n2,1,y\n2,3,y\n")
	write(t, "short.csv", "a,b,class\n1,2,x\n1,x\n2,1,y\n2,3,y\n")
	write(t, "key.yaml", "name: n\ndata: good.csv\nmethods: [nmf]\nrepeat: 3\n")
	write(t, "tag.yaml", "name: n\ndata: good.csv\nmethods:\n  !!str nmf\n")
	write(t, "nul.yaml", "name: n\ndata: good.csv\nmethods: [nmf]\x00\nrepeats: 3\n")
	write(t, "deep.yaml", "name: n\nmethods: "+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"\n")
	write(t, "alias.yaml", "name: n\ndata: &d good.csv\nlabels: *d\n")
	write(t, "rank.yaml", "name: n\ndata: good.csv\nmethods: [nmf]\nrank: 5\nrepeats: 1\n")
	write(t, "labels.csv", "file,class\nnobody.png,x\n")
	picture := firstFile(t, "photos")
	write(t, "twice.csv", "file,class\n"+picture+",x\n"+picture+",y\n")
	entries, err := os.ReadDir("photos")
	if err != nil {
		t.Fatal(err)
	}
	two := []string{entries[0].Name(), entries[1].Name()}
	write(t, "one-class.csv", two[0]+",x\n"+two[1]+",x\n")
	write(t, "unlinked.csv", two[0]+","+two[1]+",cannot\n")
	write(t, "both.csv", two[0]+","+two[1]+",cannot\n\n"+two[1]+","+two[0]+",must\n")
	write(t, "perhaps.csv", two[0]+","+two[1]+",perhaps\n")
	write(t, "nobody.csv", two[0]+",nobody.png,must\n")
	if err := os.MkdirAll("out", 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, "out/notes.txt", "mine\n")
	must(t, "cluster", "photos", "-k", "2", "--method", "nmf,iterations=2", "--features", "pixels=4", "--out", "groups")
	const set = "run --method nmf --repeats 1 --name n --out out --set "
	before := contents(t, ".")
	for line, wants := range map[string][]string{
		set + "one.csv":                                        {"one.csv", `"y"`, "1 sample"},
		set + "nan.csv":                                        {"nan.csv", "line 3", "NaN"},
		set + "inf.csv":                                        {"inf.csv", "line 4", "Inf"},
		set + "zero.csv":                                       {"zero.csv", "row 2"},
		set + "word.csv":                                       {"word.csv", "3", `"many"`},
		set + "short.csv":                                      {"short.csv", "3"},
		set + "good.csv --rank 5":                              {"rank", "5", "samples, 4"},
		set + "good.csv --classes 3":                           {"classes", "3", "2"},
		set + "good.csv --labels 9":                            {"9", "2"},
		set + "good.csv --method gnmf,lamda=1":                 {"lamda"},
		set + "good.csv --features pixels=0":                   {"pixels", `"0"`},
		set + "good.csv --cluster restarts=0":                  {"restarts"},
		"run key.yaml --out out":                               {"key.yaml", ":4:1:", `"repeat"`},
		"run tag.yaml --out out":                               {"tag.yaml", ":4:3:", "tags"},
		"run nul.yaml --out out":                               {"nul.yaml", ":3:15:", "U+0000"},
		"run deep.yaml --out out":                              {"deep.yaml", ":2:42:", "32"},
		"run alias.yaml --out out":                             {"alias.yaml", ":2:7:", "anchors"},
		"run rank.yaml --out out":                              {"rank", "5", "samples, 4"},
		"cluster one.csv -k 4 --out groups":                    {"4", "3 samples"},
		"cluster nan.csv -k 2 --out groups":                    {"nan.csv", "line 3", "NaN"},
		"cluster photos -k 2 --labels labels.csv --out groups": {"labels.csv", "line 2", "nobody.png"},
		"cluster photos -k 2 --labels twice.csv --out groups":  {"twice.csv", "line 3", picture},
		"cluster photos -k 2 --links both.csv --out groups":    {"both.csv", "cannot-link (" + two[0], "of line 1 contradicts", "of line 3"},
		"cluster photos -k 2 --links perhaps.csv --out groups": {"perhaps.csv", "line 1", `"perhaps"`},
		"cluster photos -k 2 --links nobody.csv --out groups":  {"nobody.csv", "line 1", "nobody.png"},
		"cluster photos -k 2 --labels one-class.csv --links unlinked.csv --out groups": {"unlinked.csv: cannot-link (" + two[0] + ", " + two[1] + ") of line 1 contradicts the class x"},
		"cluster photos -k 2 --features pixel=4 --out groups":                          {`"pixel"`},
		"cluster photos -k 2 --method nmf,rank=x --out groups":                         {"rank"},
		"cluster photos -k 2 --rank 99 --out groups":                                   {"99", "72"},
		"cluster good.csv -k 2 --batch 2 --out groups":                                 {"good.csv", "only folders of images, IDX files, .npy files and uncompressed .npz files can be read in batches"},
		"cluster photos -k 2 --batch 0 --out groups":                                   {"--batch", "0 samples"},
		"cluster photos -k 2 --batch 9 --method gnmf --out groups":                     {"--batch", "gnmf"},
		"cluster photos -k 2 --batch 9 --solver mu --out groups":                       {"--batch", "mu"},
		"features zero.csv --features normalise=l2 --out f.npz":                        {"zero.csv", "row 2"},
		"features word.csv --out f.npz":                                                {"word.csv", `"many"`},
		"features photos --features sift=dense,words=0 --out f.npz":                    {"words", "1 to"},
	} {
		code, _, stderr := partwise(strings.Fields(line)...)
		if code != exitFailed && code != exitUsage || strings.Count(stderr, "partwise: ") != 1 || !strings.HasPrefix(stderr, "partwise: ") {
			t.Errorf("partwise %s: exit code %d and %q", line, code, stderr)
		}
		for _, want := range wants {
			if !strings.Contains(stderr, want) {
				t.Errorf("partwise %s does not say %q: %q", line, want, stderr)
			}
		}
		compareFolder(t, "partwise "+line, ".", before)
	}
}

// TestByteNames: class folders whose names are not UTF-8 stay distinct, an experiment on them succeeds, and its report
// is made again from the log.
func TestByteNames(t *testing.T) {
	workplace(t)
	for c, class := range []string{"caf\xe9", "caf\xe8", "tea"} {
		dir := filepath.Join("drinks", class)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Skip(err)
		}
		for i := range 6 {
			pixels := make([]byte, 16)
			for j := range pixels {
				pixels[j] = byte(40*((j+5*c)%6) + 3*i)
			}
			write(t, filepath.Join(dir, fmt.Sprintf("%d.pgm", i)), "P5 4 4 255\n"+string(pixels))
		}
	}
	must(t, "run", "--set", "./drinks", "--classes", "2,3", "--method", "nmf", "--repeats", "2", "--name", "drinks")
	must(t, "report", "results/drinks")
	page := read(t, "results", "drinks", "samples.csv")
	for _, class := range []string{`caf\xe9`, `caf\xe8`, "tea"} {
		if !strings.Contains(page, class) {
			t.Errorf("samples.csv lacks the class %s:\n%s", class, page)
		}
	}
	must(t, "cluster", "drinks", "-k", "3", "--out", "groups")
	if rows := read(t, "groups", "assignments.csv"); !strings.Contains(rows, `caf\xe9/0.pgm`) || !strings.Contains(rows, `caf\xe8/0.pgm`) {
		t.Errorf("assignments.csv:\n%s", rows)
	}
	// An experiment that is named after its folder has a name in UTF-8.
	if err := os.Rename("drinks", "dr\xefnks"); err != nil {
		t.Fatal(err)
	}
	t.Chdir("dr\xefnks")
	must(t, "run", "--set", ".", "--method", "kmeans", "--repeats", "1", "--out", "../called")
	if text := read(t, "..", "called", "experiment.json"); !strings.Contains(text, `"dr_nks"`) {
		t.Errorf("experiment.json: %s", text)
	}
}

// setKey sets a key of an experiment as the flag does.
func setKey(e *spec.Experiment, flag string, values ...string) error {
	cmd := &cobra.Command{}
	addSettings(cmd, e)
	for _, v := range values {
		if err := cmd.Flags().Lookup(flag).Value.Set(v); err != nil {
			return err
		}
	}
	return nil
}

func setMethods(e *spec.Experiment, methods []string) error {
	return setKey(e, "method", methods...)
}

// TestRankAuto: cluster and fit choose the rank and report it, and the page shows the curve.
func TestRankAuto(t *testing.T) {
	workplace(t)
	const want = ", chosen from 2 to 6 by stability (held-out misfit "
	said := must(t, "cluster", "photos", "-k", "4", "--method", "nmf", "--features", "pixels=8", "--rank", "among=2..6,by=stability", "--out", "groups")
	if !strings.HasPrefix(said, "rank ") || !strings.Contains(said, want) {
		t.Errorf("cluster said %q", said)
	}
	page, err := os.ReadFile(filepath.Join("groups", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`id="how-many-parts"`, "curves/rank.png", want} {
		if !strings.Contains(string(page), text) {
			t.Errorf("the page has no %q", text)
		}
	}
	said = must(t, "fit", "photos", "--features", "pixels=8", "--rank", "among=2..6,by=stability", "--out", "model.npz")
	rank, _, _ := strings.Cut(said, ",")
	if !strings.Contains(said, want) || !strings.Contains(said, "nmf of "+rank+":") {
		t.Errorf("fit said %q", said)
	}
	for _, c := range []struct{ args, want string }{
		{"fit photos --rank k+1 --out x.npz", "--rank k+1: expected one number (1 or more) or auto"},
		{"fit photos --rank auto --start model.npz --out x.npz", "--start sets the rank; remove --rank"},
		{"cluster photos --rank among=9..3", "expected a rising range such as 5..40"},
		{"cluster photos --rank auto --cluster largest -k 3", "clustering by largest coefficient needs one basis vector for each"},
	} {
		if code, _, stderr := partwise(strings.Fields(c.args)...); code == exitDone || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, said %q", c.args, code, stderr)
		}
	}
}

// TestShortOfTheAnswer: unconverged methods, and a rank at the end of its range, are reported on the terminal and on
// the page; converged methods are not.
func TestShortOfTheAnswer(t *testing.T) {
	workplace(t)
	const few, limit = " did not converge within 30 iterations", "rank: auto chose the largest rank it tried"
	for _, c := range []struct {
		args         string
		page         string
		want, unsaid []string
	}{
		{"run --set generated --features pixels=8 --classes 2,3 --repeats 2 --method ccf,iterations=30 --method ccf,as=quick,solver=fast --labels 30% --rank among=2..3,by=stability --name run", "results/run",
			[]string{"ccf" + few + " in ", " of 4 trials: the objective still decreased by up to ", limit + " in ", " of 4 draws, 3; a larger one"}, []string{"quick did"}},
		{"report results/run", "results/run", []string{"ccf" + few}, []string{"quick did"}},
		{"cluster generated -k 3 --method cf,solver=mu,iterations=30 --rank among=2..3,by=stability --out slow", "slow", []string{"cf" + few + ": the", limit + ", 3;"}, nil},
		{"cluster generated -k 3 --method cf --out quick", "quick", nil, []string{"did not converge", limit}},
		{"fit generated --method cf --solver mu --iterations 30 --rank 3 --out m.npz", "", []string{"cf" + few + ": the"}, []string{limit}},
	} {
		var stdout, stderr shared
		if code := run(strings.Fields(c.args), &stdout, &stderr); code != exitDone {
			t.Fatalf("%s: exit code %d, said %q", c.args, code, stderr.String())
		}
		said := []string{stderr.String()}
		if c.page != "" {
			page, err := os.ReadFile(filepath.Join(c.page, "index.html"))
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, string(page))
		}
		for _, text := range said {
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s: not said: %q\n%s", c.args, want, stderr.String())
				}
			}
			for _, unsaid := range c.unsaid {
				if strings.Contains(text, unsaid) {
					t.Errorf("%s: said: %q", c.args, unsaid)
				}
			}
		}
	}
}

// TestEmbeddings: a user's vectors of any sign are grouped without a method, and their pictures are shown, explored and
// named.
func TestEmbeddings(t *testing.T) {
	workplace(t)
	text := "file,a,b,c\n"
	for i, file := range listed(t, "photos") {
		text += fmt.Sprintf("%s,%d,%d,%d\n", file, 3-i%3*3, -1-i%2, i%5)
	}
	write(t, "vectors.csv", text)
	must(t, "cluster", "vectors.csv", "-k", "3", "--out", "groups")
	names := listed(t, "groups")
	if all := strings.Join(names, " "); !strings.Contains(all, "groups/pictures/000.png") {
		t.Errorf("no pictures in %s", all)
	}
	if data := read(t, "groups", "page", "data.js"); !strings.Contains(data, `"thing":"image"`) || !strings.Contains(data, `../photos`) {
		t.Errorf("the page has no links: %.300s", data)
	}
	address, finish := exploring(t, "groups")
	if state := getState(t, address); len(state.Groups) != strings.Count(text, "\n")-1 {
		t.Errorf("explored: %d", len(state.Groups))
	}
	finish()
}
