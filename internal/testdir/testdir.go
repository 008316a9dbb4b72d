// Package testdir finds the folders that tests are told of by environment
// variables.
package testdir

import (
	"os"
	"path/filepath"
	"testing"
)

// The variables.
const (
	// Data names the folder of the real image sets.
	Data = "PARTWISE_DATA"
	// Fixtures names a folder of exact answers.
	Fixtures = "PARTWISE_FIXTURES"
)

// Get returns the folder that the variable names, or "" where it is not set. A
// relative path is taken from the module's folder, since that is where whoever
// set it stands, while a test stands in its package's.
func Get(t testing.TB, variable string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return filepath.Join(root, dir)
		}
		up := filepath.Dir(root)
		if up == root {
			t.Fatalf("%s is %s, and no module's folder is found to take it from", variable, dir)
		}
		root = up
	}
}

// Need is Get for a test that is skipped without the folder.
func Need(t testing.TB, variable string) string {
	t.Helper()
	dir := Get(t, variable)
	if dir == "" {
		t.Skipf("%s is not set", variable)
	}
	return dir
}
