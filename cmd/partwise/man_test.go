package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestManual: there is a page for each command, which names its flags and is the same
// at any time; what is there is not replaced.
func TestManual(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	must(t, "man", "--dir", "first/man1")
	must(t, "man", "--dir", "second")
	pages, err := filepath.Glob("first/man1/*.1")
	if err != nil {
		t.Fatal(err)
	}
	for i, page := range pages {
		text := read(t, page)
		pages[i] = filepath.Base(page)
		if text != read(t, "second", pages[i]) {
			t.Errorf("%s differs from one time to the next", page)
		}
		if !strings.Contains(text, `"Nov 2023"`) || strings.Contains(text, "Auto generated") {
			t.Errorf("%s begins with %.200s", page, text)
		}
	}
	var check func(cmd *cobra.Command, name string)
	check = func(cmd *cobra.Command, name string) {
		if !slices.Contains(pages, name+".1") {
			t.Errorf("there is no page of %s, only %v", name, pages)
		}
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && c.Name() != "help" {
				check(c, name+"-"+c.Name())
			}
		}
	}
	check(rootCommand(), "partwise")
	cluster := read(t, "second", "partwise-cluster.1")
	for _, want := range []string{`\fB--labels\fP`, ".EX\n  partwise cluster photos -k 10\n"} {
		if !strings.Contains(cluster, want) {
			t.Errorf("the page of cluster is without %q", want)
		}
	}
	if root := read(t, "second", "partwise.1"); !strings.Contains(root, ".EX\n  partwise cluster photos -k 10\n") {
		t.Errorf("the example of partwise is no example:\n%s", root)
	}

	if err := os.WriteFile("second/partwise.1", []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := partwise("man", "--dir", "second"); code != exitFailed || !strings.Contains(stderr, "--force replaces it") || read(t, "second", "partwise.1") != "mine" {
		t.Errorf("a page that is there: exit code %d, said %q", code, stderr)
	}
	must(t, "man", "--dir", "second", "--force")
	if code, _, stderr := partwise("man"); code != exitUsage || !strings.Contains(stderr, "--dir is missing") {
		t.Errorf("no folder: exit code %d, said %q", code, stderr)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "")
	must(t, "man", "--dir", "undated")
	if text := read(t, "undated", "partwise.1"); !strings.Contains(text, `.TH "PARTWISE" "1" ""`) {
		t.Errorf("without a date it begins with %.100s", text)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "today")
	if code, _, stderr := partwise("man", "--dir", "third"); code != exitFailed || !strings.Contains(stderr, `"today"`) {
		t.Errorf("a date that is none: exit code %d, said %q", code, stderr)
	}
}
