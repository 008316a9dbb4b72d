package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
)

// checkProfile fails the test where a file is no profile of the processor's time in
// pprof's format, or not all of one.
func checkProfile(t *testing.T, file string) {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(read(t, file)))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, name := range []string{"samples", "cpu", "nanoseconds"} { // of the values of a sample
		if !bytes.Contains(text, []byte(name)) {
			t.Errorf("%s has no %q", file, name)
		}
	}
}

// TestProfile: what computes writes a profile, also where it fails, and no results differ
// by it.
func TestProfile(t *testing.T) {
	workplace(t)
	for i, c := range []struct {
		line string
		code int
	}{
		{"cluster photos -k 2 --features pixels=4 --out groups", exitDone},
		{"features photos --features pixels=2 --out f.npz", exitDone},
		{"run --set generated --classes 2 --repeats 1 --features pixels=4 --method kmeans --name x", exitDone},
		{"report results/x", exitDone},
		{"cluster photos -k 99 --features pixels=4 --out more", exitFailed},
	} {
		file := string(rune('a' + i))
		if code, _, stderr := partwise(append(strings.Fields(c.line), "--profile", file)...); code != c.code {
			t.Errorf("partwise %s: exit code %d, said %q", c.line, code, stderr)
		}
		checkProfile(t, file)
	}
	if strings.Contains(read(t, "groups/index.html"), "--profile") {
		t.Error("the page holds --profile")
	}
}

// TestProfileReplacesNothing: a file that is there already, or cannot be written, ends the
// command before it does anything.
func TestProfileReplacesNothing(t *testing.T) {
	workplace(t)
	write(t, "mine", "mine\n")
	before := contents(t, ".")
	if err := os.Symlink("nowhere", "link"); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	for file, want := range map[string]string{
		"mine": "mine is there already", "link": "link is there already", "photos": "photos cannot be written",
		"none/p": "none/p cannot be written", "mine/p": "mine/p cannot be written",
	} {
		code, stdout, stderr := partwise("cluster", "photos", "-k", "2", "--features", "pixels=4", "--profile", file)
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("--profile %s: exit code %d, printed %q and said %q", file, code, stdout, stderr)
		}
	}
	if code, _, _ := partwise("cluster", "photos", "-k", "1", "--profile", "p"); code != exitUsage {
		t.Errorf("exit code %d of a mistake", code)
	}
	if at, err := os.Readlink("link"); err != nil || at != "nowhere" {
		t.Errorf("the link was changed: %q, %v", at, err)
	}
	if err := os.Remove("link"); err != nil {
		t.Fatal(err)
	}
	after := contents(t, ".")
	if len(after) != len(before) {
		t.Errorf("%d files, and %d before", len(after), len(before))
	}
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s was changed", name)
		}
	}
}
