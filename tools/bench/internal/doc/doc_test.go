package doc

import "testing"

// TestReplace: a table takes the place of the one before, and nothing else changes.
func TestReplace(t *testing.T) {
	const doc = "# Title\n<!-- bench a -->\nold\n<!-- end -->\ntext\n<!-- bench b -->\nother\n<!-- end -->\n"
	const want = "# Title\n<!-- bench a -->\nnew\n<!-- end -->\ntext\n<!-- bench b -->\nother\n<!-- end -->\n"
	if got, err := Replace([]byte(doc), "a", "new\n"); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Replace([]byte(doc), "c", "new\n"); err == nil {
		t.Errorf("a table that is not there makes %q", got)
	}
}
