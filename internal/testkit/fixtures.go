package testkit

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// methodField finds a fixture's method.
var methodField = regexp.MustCompile(`"method"\s*:\s*"([^"]+)"`)

// Fixtures runs a subtest of each file of exact answers in testdata/fixtures, or in the
// folder that PARTWISE_FIXTURES names, by the checker of its method: that with the longest
// name that the method's is, or begins with before an underscore, so that "gnmf" checks
// "gnmf_heat". That folder may hold files of other packages' methods, which are left out.
// Python writes numbers that JSON does not have: infinities are null in text.
func Fixtures[C any](t *testing.T, checkers map[string]C, check func(t *testing.T, checker C, text []byte)) {
	dir := Folder(t, FixturesFolder)
	own := dir == ""
	if own {
		dir = filepath.Join("testdata", "fixtures")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s: %v", dir, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		method := methodField.FindSubmatch(text)
		if method == nil {
			t.Errorf("%s names no method", file)
			continue
		}
		best := ""
		for name := range checkers {
			if m := string(method[1]); (m == name || strings.HasPrefix(m, name+"_")) && len(name) > len(best) {
				best = name
			}
		}
		if best == "" {
			if own {
				t.Errorf("%s: nothing checks the method %q", file, method[1])
			}
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			check(t, checkers[best], bytes.ReplaceAll(text, []byte("Infinity"), []byte("null")))
		})
	}
}
