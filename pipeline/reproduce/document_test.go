package reproduce

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocument: the repository's document follows from its JSON, and a document without JSON is not replaced.
func TestDocument(t *testing.T) {
	const shipped = "../../docs/reproduction.md"
	d, err := OpenDocument(shipped)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	d.file = filepath.Join(t.TempDir(), "d.md")
	if err := d.Write([]string{"ccf-yale"}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(d.file); err != nil || string(got) != string(want) {
		t.Errorf("the document differs from %s (%v)", shipped, err)
	}
	again, err := OpenDocument(d.file)
	if err != nil || len(again.Outcomes) != len(d.Outcomes) {
		t.Errorf("read %d outcomes, want %d: %v", len(again.Outcomes), len(d.Outcomes), err)
	}
	if err := os.Remove(DocumentJSON(d.file)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDocument(d.file); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("without its JSON: %v", err)
	}
}
