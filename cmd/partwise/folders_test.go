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
