package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mixed makes the folder mixed: the pictures of photos, of each class but one in a folder of
// its own, and those of the last beside the folders. It returns how many these are, and a
// file of the classes of all.
func mixed(t *testing.T) (beside, all int, truth string) {
	t.Helper()
	entries, err := os.ReadDir("photos")
	if err != nil {
		t.Fatal(err)
	}
	last, _, _ := strings.Cut(entries[len(entries)-1].Name(), "-")
	text := "file,class\n"
	for _, e := range entries {
		class, _, _ := strings.Cut(e.Name(), "-")
		name := class + "/" + e.Name()
		if class == last {
			name = e.Name()
			beside++
		}
		file := filepath.Join("mixed", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, file, read(t, "photos", e.Name()))
		text += name + "," + class + "\n"
	}
	write(t, "truth.csv", text)
	return beside, len(entries), "truth.csv"
}

// TestMixedFolder: pictures beside class folders have no class, which is said. They are
// grouped and described with the others, and left out of an experiment. The classes can come
// from a file or from names in their place, or be none at all.
func TestMixedFolder(t *testing.T) {
	workplace(t)
	beside, all, truth := mixed(t)
	note := fmt.Sprintf("partwise: %d pictures beside the class folders, of no class: ", beside)
	fast := []string{"--features", "pixels=8", "--method", "nmf,iterations=3"}
	experiment := []string{"run", "--features", "pixels=8", "--method", "kmeans", "--classes", "2", "--repeats", "1"}
	for _, c := range []struct {
		args            []string
		printed, stderr string
	}{
		{append([]string{"cluster", "mixed", "-k", "3"}, fast...), fmt.Sprintf("compared with the classes, over the %d samples whose class is known: AC ", all-beside), note},
		{append([]string{"cluster", "mixed", "-k", "3", "--no-classes"}, fast...), fmt.Sprintf("%d samples in 3 groups", all), ""},
		{append([]string{"cluster", "mixed", "--truth", truth}, fast...), "in 4 groups: ", ""},
		{append([]string{"cluster", "mixed", "--truth", truth}, fast...), "compared with the classes of truth.csv: AC ", ""},
		{append([]string{"cluster", "mixed", "--pattern", "{class}-*"}, fast...), "compared with the classes: AC ", ""},
		{[]string{"features", "mixed", "--features", "pixels=2", "--out", "mixed.csv"}, fmt.Sprintf("%d samples of ", all), note},
		{append(experiment, "--set", "mixed"), "open results/mixed/index.html", fmt.Sprintf("partwise: left out: %d samples of no known class\n", beside)},
		{append(experiment, "--set", "mixed,truth=truth.csv", "--name", "t"), "open results/t/index.html", ""},
		{append(experiment, "--set", "mixed,pattern={class}-*", "--name", "p"), "open results/p/index.html", ""},
	} {
		code, stdout, stderr := partwise(c.args...)
		if code != exitDone || !strings.Contains(filepath.ToSlash(stdout), c.printed) {
			t.Errorf("%v: exit code %d, printed %q", c.args, code, stdout)
		}
		if !strings.HasPrefix(stderr, c.stderr) || c.stderr == "" && stderr != "" {
			t.Errorf("%v: said %q, want %q", c.args, stderr, c.stderr)
		}
	}
	if out := must(t, append([]string{"cluster", "mixed", "-k", "3", "--no-classes", "--out", "none"}, fast...)...); strings.Contains(out, "compared") {
		t.Errorf("printed %q", out)
	}

	// Found before the first picture is read, of which one cannot be.
	write(t, "mixed/bad.png", "\x89PNG\r\n\x1a\nnot a picture")
	write(t, "nobody.csv", "nobody.png,x\n")
	before := contents(t, ".")
	for line, want := range map[string]string{
		"cluster mixed --no-classes --truth truth.csv":                          "both no-classes and truth",
		"cluster mixed --no-classes --pattern {class}-*":                        "both no-classes and pattern",
		"cluster mixed --no-classes --pool":                                     "both no-classes and pool",
		"cluster mixed --truth truth.csv --pattern {class}-*":                   "both truth and pattern",
		"cluster mixed --truth nobody.csv":                                      `truth nobody.csv: line 1: no sample is called "nobody.png"`,
		"cluster mixed --truth none.csv":                                        "truth: open none.csv",
		"cluster mixed --pattern nothing{class}.*":                              `the pattern "nothing{class}.*" fits none of the names of the`,
		"cluster mixed --pattern nothing":                                       `pattern "nothing": it has no {class}`,
		"run --set mixed,no-classes=true --method nmf --name n":                 "mixed has no classes",
		"run --set mixed,truth=truth.csv,labels=labels.csv --method nmf":        "labels and truth both",
		"features mixed --labels labels.csv --truth truth.csv --out f.csv":      "--labels and --truth both",
		"run --set mixed,truth=truth.csv,no-classes=true --name n --method nmf": "both no-classes and truth",
		"features mixed --no-classes --truth truth.csv --out f.csv":             "both no-classes and truth",
		"cluster mixed -k 3 --labels truth.csv --pattern {class}-* --out away":  "both labels and pattern",
	} {
		code, _, stderr := partwise(strings.Fields(line)...)
		if code == exitDone || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("partwise %s: exit code %d and %q, want %q", line, code, stderr, want)
		}
		same(t, "partwise "+line, ".", before)
	}
}

// TestSubfolders: the first line says how subfolders were read and how to say otherwise. Those of dates and cameras give
// no classes, and so no number of groups, without --pool.
func TestSubfolders(t *testing.T) {
	workplace(t)
	files := photos(t)
	for i, file := range files {
		place(t, filepath.Join("classes", []string{"cat", "dog", "owl"}[i%3], file), read(t, "photos", file))
		place(t, filepath.Join("dated", []string{"2019", "2020-05 Trip", "100CANON", "Family"}[i%4], file), read(t, "photos", file))
	}
	must(t, "fit", "photos", "--rank", "2", "--iterations", "1", "--features", "pixels=4", "--out", "m.npz")
	must(t, groupPhotos("groups")...)
	const (
		classes = "subfolders read as classes: 3 (cat, dog, owl); --no-classes ignores them"
		dated   = "subfolders not read as classes, because 3 of 4 look like dates or camera folders (100CANON, 2019, 2020-05 Trip); --pool reads them as classes"
		pooled  = "subfolders read as classes: 4 (100CANON, 2019, 2020-05 Trip, Family); --no-classes ignores them"
		chosen  = " groups, chosen from "
	)
	for line, want := range map[string]struct{ first, later, never string }{
		"cluster classes --features pixels=4 --out a":                   {classes, "in 3 groups", chosen},
		"cluster dated --features pixels=4 --out b":                     {dated, chosen, "compared with"},
		"cluster dated --features pixels=4 --pool --out c":              {pooled, "in 4 groups", chosen},
		"cluster dated --features pixels=4 --no-classes --out d":        {"", chosen, "subfolders"},
		"cluster dated --features pixels=4 --pattern {class}/* --out e": {"", "in 4 groups", "subfolders"},
		"features classes --features pixels=4 --out a.csv":              {classes, "samples of", ""},
		"features dated --features pixels=4 --out b.csv":                {dated, "samples of", ""},
		"apply m.npz dated --out c.csv":                                 {dated, "coefficients", ""},
		"assign groups dated":                                           {"file,group,name,confidence", "", "subfolders"},
	} {
		code, out, stderr := partwise(strings.Fields(line)...)
		first, _, _ := strings.Cut(out, "\n")
		if code != exitDone || want.first != "" && first != want.first || !strings.Contains(out, want.later) || want.never != "" && strings.Contains(out+stderr, want.never) {
			t.Errorf("partwise %s: exit code %d, printed\n%s\nsaid %q\nwant %q", line, code, out, stderr, want)
		}
	}
	if text := read(t, "b.csv"); strings.Contains(text, ",Family,") {
		t.Errorf("there are classes:\n%.200s", text)
	}
	if page := read(t, "b", "index.html"); !strings.Contains(page, "subfolders not read as classes") {
		t.Error("the page does not say how subfolders were read")
	}
	refused(t, "dated has no classes, and an experiment draws and scores classes; pool: true reads its subfolders as classes", strings.Fields("run --set dated --features pixels=4 --method kmeans --repeats 1")...)
	must(t, strings.Fields("run --set dated,pool=true --features pixels=4 --method kmeans --repeats 1 --classes 2")...)
}
