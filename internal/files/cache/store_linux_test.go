package cache

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe in the place of an entry is not waited for.
func TestPipe(t *testing.T) {
	s := open(t, t.TempDir())
	key := NewKey("pipe")
	if err := os.Mkdir(filepath.Dir(s.path(key)), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(s.path(key), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Get(key); ok {
		t.Error("a pipe passes for an entry")
	}
	put(t, s, key, []byte("new"))
	if blob, ok := s.Get(key); !ok || string(blob) != "new" {
		t.Errorf("put in its place: %q, %v", blob, ok)
	}
}
