package cache

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPipe checks that Get does not wait for a pipe that has the name of an entry.
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
