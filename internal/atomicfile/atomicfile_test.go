package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/atomicfile"
)

func TestWriteReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	for _, content := range []string{"first", "", strings.Repeat("long ", 1<<16)} {
		if err := atomicfile.Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Fatalf("the file holds %d bytes and not %d (%v)", len(got), len(content), err)
		}
	}
}

// TestRemoveStale: what a killed process left goes, what a process is writing and
// what is not ours stays.
func TestRemoveStale(t *testing.T) {
	dir := t.TempDir()
	const stale, user = ".partwise-0123456789abcdef.tmp", ".partwise-notes.tmp"
	for _, name := range []string{stale, user} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "a.txt")
	err := atomicfile.WriteFunc(path, func(w io.Writer) error {
		if _, err := w.Write([]byte("whole")); err != nil {
			return err
		}
		return atomicfile.RemoveStale(dir)
	})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != user || entries[1].Name() != "a.txt" {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	if got, _ := os.ReadFile(path); string(got) != "whole" {
		t.Errorf("the file holds %q", got)
	}
}

// An error half way keeps the old content and leaves no temporary file.
func TestFailureKeepsOld(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := atomicfile.Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := atomicfile.WriteFunc(path, func(w io.Writer) error {
		w.Write(make([]byte, 1<<20))
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the file holds %q", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}

// TestCreateFunc: a new file appears whole, and one that somebody makes meanwhile stays.
func TestCreateFunc(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	write := func(w io.Writer) error { _, err := w.Write([]byte("ours")); return err }
	if err := atomicfile.CreateFunc(path, write); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "ours" {
		t.Errorf("the file holds %q", got)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	err := atomicfile.CreateFunc(path, write)
	var at *fs.PathError
	if !errors.Is(err, fs.ErrExist) || !errors.As(err, &at) || at.Path != path {
		t.Errorf("over a file: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "mine" {
		t.Errorf("the file holds %q now", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}

func TestErrorNamesPath(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "none", "a.txt"), dir} {
		err := atomicfile.Write(path, []byte("x"))
		var at *fs.PathError
		if !errors.As(err, &at) || at.Path != path || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: got error %v", path, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("the folder holds %v", entries)
	}
}

func TestIsTemporary(t *testing.T) {
	dir := t.TempDir()
	_ = atomicfile.WriteFunc(filepath.Join(dir, "a.txt"), func(io.Writer) error {
		entries, _ := os.ReadDir(dir)
		if len(entries) != 1 || !atomicfile.IsTemporary(entries[0].Name()) {
			t.Errorf("%v is no temporary file", entries)
		}
		return nil
	})
	for _, name := range []string{"a.txt", ".partwise-.tmp", ".partwise-0123.tmp", ".partwise-0123456789abcdeg.tmp", "0123456789abcdef.tmp"} {
		if atomicfile.IsTemporary(name) {
			t.Errorf("%s passes for a temporary file", name)
		}
	}
}
