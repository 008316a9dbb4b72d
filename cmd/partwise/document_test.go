package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// documentFrom runs a command with --json and returns its exit code and document, which is all of the standard output.
func documentFrom(t *testing.T, args ...string) (code int, doc map[string]any) {
	t.Helper()
	code, stdout, stderr := partwise(append(args, "--json")...)
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || doc["version"] != 1. {
		t.Fatalf("partwise %s prints %q (%v)", strings.Join(args, " "), stdout, err)
	}
	if failure, _ := doc["error"].(string); (failure != "") != (code != exitDone) || !strings.Contains(stderr, failure) {
		t.Errorf("partwise %s: exit code %d, error %q, standard error %q", strings.Join(args, " "), code, failure, stderr)
	}
	return code, doc
}

// TestDocuments checks that each command with results has the expected fields.
func TestDocuments(t *testing.T) {
	workplace(t)
	write(t, "holes.csv", "a,b,c\n1,2,3\n2,4,\n3,6,9\n4,8,12\n")
	for _, test := range []struct{ command, fields string }{
		{"cluster photos -k 3 --out groups", "out files samples method groups assignments"},
		{"assign groups new", "samples groups assignments"},
		{"sort groups --to sorted --copy", "out sorted"},
		{"clean groups", "cleaning"},
		{"tag groups --csv tags.csv", "files tags"},
		{"run --set generated --classes 2 --repeats 2 --method kmeans --name one --seed 1", "out files trials planned"},
		{"report results/one", "out files trials planned"},
		{"compare results/one results/one", "comparison"},
		{"draws docs/experiments/demo.yaml --classes 2 --repeats 2 --out draws", "out files draws"},
		{"features photos --features pixels=4 --out f.csv", "out files samples features"},
		{"fit f.csv --rank 2 --out m.npz", "out files method rank n_iter objective relative_error"},
		{"apply m.npz f.csv --out v.npz", "out files samples features relative_error"},
		{"impute holes.csv --rank 1 --out filled.csv", "out files missing rank n_iter objective"},
		{"reproduce", "recipes"},
		{"reproduce --show ccf-yale", "recipes"},
		{"datasets orl", "datasets"},
		{"cache --cache cached", "cache"},
	} {
		_, doc := documentFrom(t, strings.Fields(test.command)...)
		for _, field := range strings.Fields(test.fields) {
			if doc[field] == nil {
				t.Errorf("partwise %s: no %s in %v", test.command, field, doc)
			}
		}
		if name, _, _ := strings.Cut(test.command, " "); doc["command"] != name {
			t.Errorf("partwise %s: the command is %q", test.command, doc["command"])
		}
	}
	for command, want := range map[string]int{
		"fit f.csv --rank 2 --out m.npz": exitFailed, "fit f.csv --rank x --out n.npz": exitUsage, "fit --nope": exitUsage, "cluster": exitUsage, "nope": exitUsage,
	} {
		if code, _ := documentFrom(t, strings.Fields(command)...); code != want {
			t.Errorf("partwise %s: exit code %d", command, code)
		}
	}
}
