// Package testkit helps the tests of several packages: folders of environment variables, exact answers,
// sets of samples, and measures of memory.
package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// The variables that name folders.
const (
	// DataFolder names the folder of the real image sets.
	DataFolder = "PARTWISE_DATA"
	// FixturesFolder names a folder of exact answers.
	FixturesFolder = "PARTWISE_FIXTURES"
)

// Folder returns the folder that the variable names, or "" where it is not set. A
// relative path is taken from the module's folder, since that is where whoever
// set it stands, while a test stands in its package's.
func Folder(t testing.TB, variable string) string {
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

// NeedFolder is Folder for a test that is skipped without the folder.
func NeedFolder(t testing.TB, variable string) string {
	t.Helper()
	dir := Folder(t, variable)
	if dir == "" {
		t.Skipf("%s is not set", variable)
	}
	return dir
}
