package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/report"
)

// inEnvironment runs the command in a process of its own with more variables.
func inEnvironment(t *testing.T, environment []string, args ...string) (stdout, stderr string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(append(os.Environ(), asProgram+"=1"), environment...)
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		t.Fatalf("partwise %s in %v: %v\n%s", strings.Join(args, " "), environment, err, told.String())
	}
	return out.String(), told.String()
}

// files returns the files below a folder and what they hold.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found[strings.TrimPrefix(path, dir)] = read(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestLocales: all files and all that is printed into a file hold the same bytes
// in every locale.
func TestLocales(t *testing.T) {
	workplace(t)
	commands := [][]string{
		{"run", "--set", "generated", "--classes", "2,3", "--repeats", "6", "--features", "pixels=4", "--method", "kmeans", "--method", "gnmf,lambda=[1,10],iterations=3", "--name", "λ ± 猫 …", "--out", "out/run"},
		{"cluster", "photos", "-k", "3", "--features", "pixels=4", "--out", "out/groups"},
		{"features", "photos", "--features", "pixels=2", "--out", "out/photos.csv"},
		{"methods"},
		{"list", "features"},
		{"datasets"},
	}
	locales := [][]string{
		{"LC_ALL=C", "LANG=C"},
		{"LC_ALL=en_US.UTF-8", "LANG=en_US.UTF-8"},
		{"LC_ALL=ja_JP.UTF-8", "LANG=ja_JP.UTF-8"},
		{"LC_ALL=zh_CN.GB18030", "RUNEWIDTH_EASTASIAN=1"},
	}
	var want map[string]string
	for _, locale := range locales {
		if err := os.RemoveAll("out"); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir("out", 0o777); err != nil {
			t.Fatal(err)
		}
		printed := ""
		for _, args := range commands {
			out, _ := inEnvironment(t, locale, args...)
			printed += out
		}
		got := files(t, "out")
		got["what was printed"] = printed
		if want == nil {
			want = got
			continue
		}
		if len(got) != len(want) {
			t.Errorf("%v: %d files, and %d in %v", locale, len(got), len(want), locales[0])
		}
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%v: %s is not as in %v", locale, name, locales[0])
			}
		}
	}
	if len(want) < 20 || !strings.Contains(want["/run/tables/ac.txt"], "±") {
		t.Errorf("%d files", len(want))
	}
}

// TestInertNames: nothing in the names of files, classes, methods and experiments
// reaches the terminal as anything but text, and names come back from tables as
// they were.
func TestInertNames(t *testing.T) {
	workplace(t)
	picture := read(t, "photos", firstFile(t, "photos"))
	classes := []string{"=cmd|calc", "a\x1b[2J\x1b]0;x\x07", "one\npartwise: two"}
	for i, class := range classes {
		for _, file := range []string{"@1.png", "\x1b[31m2.png", "-3\n.png"} {
			if err := os.MkdirAll(filepath.Join("mine", class), 0o777); err != nil {
				t.Fatal(err)
			}
			place(t, filepath.Join("whole", class, file), picture)
			write(t, filepath.Join("mine", class, file), picture[:len(picture)-i])
		}
	}
	write(t, "mine/"+classes[1]+"/\x1b[5m.png", "no picture")
	write(t, "\x1b[2J.yaml", "name: \"x\\e[2J\"\nmethods: [nmf, {name: kmeans, as: \"\\e[1mk\"}]\ndata: whole\nclasses: 2\nrepeats: 2\nfeatures: {pixels: 4}\n")
	write(t, "bad.yaml", "name: x\n\x1b[2J: y\n")
	write(t, "told.csv", "=cmd|calc/@1.png,x\x1b[2J\n")
	for _, args := range [][]string{
		{"cluster", "mine", "-k", "2", "--features", "pixels=4", "--out", "found\x1b[2J"},
		{"cluster", "mine", "-k", "2", "--features", "pixels=4", "--labels", "told.csv", "--out", "told"},
		{"cluster", "mine", "-k", "2"},
		{"cluster", "\x1b[2J\npartwise: done"},
		{"run", "\x1b[2J.yaml", "--out", "run\x1b[2J"},
		{"report", "run\x1b[2J"},
		{"report", "none\x1b[2J"},
		{"run", "bad.yaml"},
		{"run", "--set", "mine", "--method", "\x1b[2J"},
		{"features", "mine", "--features", "pixels=2", "--out", "x\x1b[2J.csv"},
		{"cache", "--cache", "c\x1b[2J"},
		{"datasets", "get", "\x1b[2J"},
		{"\x1b[2J"},
		{"cluster", "--\x1b[2J"},
	} {
		code, stdout, stderr := partwise(args...)
		for _, text := range []string{stdout, stderr} {
			if at := strings.IndexFunc(strings.ReplaceAll(text, "\n", ""), unicode.IsControl); at >= 0 || strings.Contains(text, "\npartwise: done") {
				t.Errorf("partwise %q: exit code %d, printed %q and said %q", args, code, stdout, stderr)
				break
			}
		}
	}
	if table := read(t, "found\x1b[2J", report.AssignmentsFile); strings.Contains(table, ",=cmd") || !strings.Contains(table, "'=cmd|calc/@1.png") {
		t.Errorf("%s holds formulas:\n%s", report.AssignmentsFile, table)
	}
	if err := os.Mkdir("flat", 0o777); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"=1.png", "'@2.png", "+3.png", "4.png"} {
		write(t, filepath.Join("flat", name), read(t, "photos", photos(t)[i]))
	}
	must(t, "cluster", "flat", "-k", "2", "--method", "kmeans", "--features", "pixels=4", "--out", "found-flat")
	table := read(t, "found-flat", report.AssignmentsFile)
	set, err := datasets.Open(t.Context(), "flat", datasets.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.ReadLabels(filepath.Join("found-flat", report.AssignmentsFile)); err != nil {
		t.Errorf("%v in\n%s", err, table)
	}
}

func photos(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("photos")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
