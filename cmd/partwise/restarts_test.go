package main

import (
	"os"
	"strings"
	"testing"
)

// TestClusterRestarts: cluster prints the stability of restarts, and the page shows it.
func TestClusterRestarts(t *testing.T) {
	t.Chdir(t.TempDir())
	const method = "nmf,iterations=5,restarts=3"
	if err := os.WriteFile("v.csv", []byte("1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, with := range []string{method, method + ",consensus=true"} {
		code, out, stderr := partwise("cluster", "generated", "-k", "3", "--method", with, "--cluster", "restarts=1", "--features", "pixels=4", "--out", "groups")
		page, err := os.ReadFile("groups/index.html")
		if code != 0 || err != nil || !strings.Contains(out, "stability: cophenetic correlation 0.") || !strings.Contains(out, " over 3 restarts; mean consensus of the groups 0.") {
			t.Errorf("%s: exit code %d, printed %q, said %q", with, code, out, stderr)
		}
		if !strings.Contains(string(page), "Stability: cophenetic correlation 0.") {
			t.Errorf("%s: the page lacks the stability", with)
		}
	}
	for line, want := range map[string]string{
		"fit generated --rank auto --method nmf,fixed-basis=v.csv --out f.npz":               "rank auto ignores fixed basis vectors",
		"fit generated --rank 3 --method nmf,restarts=3 --trace t.csv --out f.npz":           "--trace follows a single fit; remove restarts",
		"fit generated --rank 3 --method nmf,restarts=3,consensus=true --out f.npz":          "consensus needs clusters; use partwise cluster",
		"cluster generated -k 3 --method nmf,restarts=3,consensus=true --memory 1MB --out m": "MB",
	} {
		if code, _, stderr := partwise(strings.Fields(line)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, said %q, want %q", line, code, stderr, want)
		}
	}
}
