package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
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

// TestRemoveStale checks that temporary files of killed processes are removed, and that files in use and foreign files
// stay.
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

// TestCreateFunc checks that a new file appears complete, and that a file that another program creates meanwhile
// stays.
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

// TestWriter checks that a copy has the permissions and the time of its original, and its owner if the process may
// set it, already under its temporary name.
func TestWriter(t *testing.T) {
	dir := t.TempDir()
	from, to, at := filepath.Join(dir, "a"), filepath.Join(dir, "b"), time.Date(2001, 2, 3, 4, 5, 6, 0, time.Local)
	if err := errors.Join(os.WriteFile(from, []byte("a"), 0o600), os.Chmod(from, 0o440), os.Chtimes(from, at, at)); err != nil {
		t.Fatal(err)
	}
	_ = os.Chown(from, 12345, 12346) // as root
	like, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := (atomicfile.Writer{New: true, Like: like, Time: like.ModTime()}).Write(to, func(w io.Writer) error { _, err := io.WriteString(w, "a"); return err }); err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(to)
	if err != nil || got.Mode() != like.Mode() || !got.ModTime().Equal(at) || owner(got) != owner(like) {
		t.Errorf("%v of %v, owner %s, want the same as %s (%v)", got.Mode(), got.ModTime(), owner(got), owner(like), err)
	}
	// A read-only temporary file is removed too.
	if err := os.Rename(to, filepath.Join(dir, ".partwise-0123456789abcdef.tmp")); err != nil {
		t.Fatal(err)
	}
	if stale, err := atomicfile.Stale(dir); len(stale) != 1 || err != nil {
		t.Errorf("%v, %v", stale, err)
	}
	if err := atomicfile.RemoveStale(dir); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}

// owner returns the owner and the group of a file, where the system has them.
func owner(info fs.FileInfo) string {
	v := reflect.Indirect(reflect.ValueOf(info.Sys()))
	if v.Kind() != reflect.Struct || !v.FieldByName("Uid").IsValid() {
		return ""
	}
	return fmt.Sprint(v.FieldByName("Uid"), v.FieldByName("Gid"))
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
