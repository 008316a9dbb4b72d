package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestByteNames: class folders whose names are no text in UTF-8 are told from each
// other, an experiment on them ends well, and its report is made again from the log.
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
	// An experiment that is called after its folder has a name in UTF-8.
	if err := os.Rename("drinks", "dr\xefnks"); err != nil {
		t.Fatal(err)
	}
	t.Chdir("dr\xefnks")
	must(t, "run", "--set", ".", "--method", "kmeans", "--repeats", "1", "--out", "../called")
	if text := read(t, "..", "called", "experiment.json"); !strings.Contains(text, `"dr_nks"`) {
		t.Errorf("experiment.json: %s", text)
	}
}
