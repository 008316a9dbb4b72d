package main

import (
	"encoding/json"
	"os"
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

// TestPipes sends features, factors and coefficients from one command to the next.
func TestPipes(t *testing.T) {
	workplace(t)
	piped := func(text string, args ...string) (stdout, stderr string) {
		t.Helper()
		write(t, "piped", text)
		file, err := os.Open("piped")
		if err != nil {
			t.Fatal(err)
		}
		before := os.Stdin
		defer func() { os.Stdin = before; file.Close() }()
		os.Stdin = file
		_, stdout, stderr = partwise(args...)
		return stdout, stderr
	}
	features, said := piped("", "features", "photos", "--features", "pixels=4", "--out", "-")
	if said != "72 samples of 16 features are in standard output: 4×4 pixels, normalised by l2.\n" {
		t.Errorf("features says %q", said)
	}
	model, _ := piped(features, "fit", "-", "--rank", "2", "--out", "-")
	write(t, "model.npz", model)
	if table, _ := piped(features, "apply", "model.npz", "-", "--out", "-.csv"); !strings.HasPrefix(table, "name,class,x1,x2\naeroplane-010.png,,") {
		t.Errorf("apply writes %.80q", table)
	}
	if list, _ := piped(features, "cluster", "-", "-k", "3", "--json"); !strings.Contains(list, `{"file":"aeroplane-010.png","group":`) {
		t.Errorf("cluster prints %.80q", list)
	}
	if again, said := piped(features, "assign", "results/stdin-groups", "-", "--out", "-"); !strings.HasPrefix(again, "file,group,name,confidence\n") {
		t.Errorf("assign prints %.80q and says %q", again, said)
	}
	for args, want := range map[string]string{
		"fit - --rank 1 --out m.npz":                         "standard input: line 2: column 1 (a): \"x\" is not a finite number",
		"run -":                                              "-: only DATA and PICTURES can be the standard input",
		"sort - --to sorted --copy":                          "-: only DATA and PICTURES can be the standard input",
		"fit - --rank 1 --out m.npz --trace -":               "--trace -: expected a name",
		"cluster - --out -":                                  "--out -: expected a name",
		"fit - --rank 1 --out - --json":                      "use one of them",
		"features - --out -.txt":                             "-.txt: the name must end in .npz, .mat or .csv",
		"explore results/stdin-groups --no-browser --port 0": "set --pictures to a file with the same samples",
	} {
		if _, said := piped("a,b\nx,2\n", strings.Fields(args)...); !strings.Contains(said, want) {
			t.Errorf("partwise %s says %q, not %q", args, said, want)
		}
	}
}
